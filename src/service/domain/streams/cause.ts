/** Names the cause of a transition as clients see it. Pure: no I/O, no clock. */
import { findStreamCode } from '../../../core/lib/codes/streams.ts';
import { getReasonCode } from '../../../core/resources/stream/readiness.ts';
import type { Transition } from '../../../core/resources/stream/transitions.ts';

export interface Cause {
  code: string | null;
  message: string | null;
  fix: string | null;
}

/** A stop that was wanted, and a reconnection, have a reason that is no code of a problem. */
export function describeCause({ kind, reason, message }: Transition): Cause {
  if (reason === undefined || kind === 'Stopped') return { code: null, message: message ?? null, fix: null };
  return { code: getReasonCode(reason), message: message ?? null, fix: findStreamCode(reason)?.fix ?? null };
}

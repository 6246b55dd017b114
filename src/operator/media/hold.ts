/**
 * Tells whether the media of a stream is prepared. Preparing costs more than anything else that an account can ask for, so it is
 * done only for streams that may go on air: all their readiness gates are open. Pure: no I/O, no clock.
 */

import { findCondition } from '../../resources/common/conditions.ts';
import { CREDIT_CONDITION, SUSPENDED_ANNOTATION } from '../../resources/common/names.ts';
import { gatesOf } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { ReadinessReason } from '../../resources/stream/spec.ts';

/** Why nothing is prepared for a stream. */
export interface Hold {
  reason: ReadinessReason;
  /** Completes "The media is prepared …". */
  once: string;
  /** Nobody has said yet whether the gate is open. */
  isUnknown: boolean;
  /** Since when the gate is closed (RFC 3339), where it was open before or somebody has said so. */
  since?: string;
}

/** Undefined for a stream that may go on air. Without billing streams have no gates. */
export function holdOf({ metadata, spec, status }: Pick<LoopStream, 'metadata' | 'spec' | 'status'>): Hold | undefined {
  if (metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined)
    return { reason: 'MediaAwaitsGate', once: 'once the account is no longer suspended', isUnknown: false };
  const gate = gatesOf(spec, status?.conditions).find((one) => one.status !== 'True');
  if (!gate) return undefined;
  const since = findCondition(status?.conditions, gate.type)?.lastTransitionTime;
  const isCredit = gate.type === CREDIT_CONDITION;
  return {
    reason: isCredit ? 'MediaAwaitsCredit' : 'MediaAwaitsGate',
    once: isCredit ? 'once the account has credit' : `once "${gate.type}" is true`,
    isUnknown: gate.status === 'Unknown',
    ...(since !== undefined && { since }),
  };
}

/** A Job that runs goes on for so long after a gate has closed: credit that is topped up at once loses no work. */
const GRACE_MS = 120_000;

/** Until when Jobs for a stream may go on although nothing new is prepared for it; undefined where they may not. */
export function graceEnd(stream: LoopStream): Date | undefined {
  const hold = holdOf(stream);
  const since = Date.parse(hold?.since ?? '');
  return Number.isNaN(since) ? undefined : new Date(since + GRACE_MS);
}

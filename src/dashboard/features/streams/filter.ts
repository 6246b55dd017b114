/** Reads the filter of the list of streams from its address. Pure: no I/O, no clock. */
import type { Phase } from '../../../core/resources/stream/spec.ts';
import { PHASE_LOOKS } from './phase.ts';

export interface StreamSearch {
  q?: string | undefined;
  status?: Phase | undefined;
}

const MAX_NAME = 200;
/** No name holds these, and no request may: all of C0, DEL and C1. */
const CONTROL = /\p{Cc}/gu;

/** Anything else in an address is left out: people type there. */
export function parseSearch(given: Record<string, unknown>): StreamSearch {
  const q =
    typeof given.q === 'string' || typeof given.q === 'number'
      ? String(given.q).replace(CONTROL, '').slice(0, MAX_NAME).toWellFormed()
      : '';
  const { status } = given;
  const known = typeof status === 'string' && Object.hasOwn(PHASE_LOOKS, status);
  return { ...(q.trim() !== '' && { q: q.trim() }), ...(known && { status: status as Phase }) };
}

/** What the list of streams shows, as its address says it. Pure: no I/O, no clock. */
import type { Phase } from '../../streams/spec.ts';
import { PHASE_LOOKS } from './phase.ts';

export interface StreamSearch {
  q?: string | undefined;
  status?: Phase | undefined;
}

const MAX_NAME = 200;

/** Whatever else stands in an address is left out: people type there. */
export function searchOf(given: Record<string, unknown>): StreamSearch {
  const q = typeof given.q === 'string' || typeof given.q === 'number' ? String(given.q).slice(0, MAX_NAME) : '';
  const { status } = given;
  const known = typeof status === 'string' && Object.hasOwn(PHASE_LOOKS, status);
  return { ...(q.trim() !== '' && { q: q.trim() }), ...(known && { status: status as Phase }) };
}

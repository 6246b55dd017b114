/** Reads the filter of the list of streams from its address. Pure: no I/O, no clock. */
import type { Phase } from '../../../core/resources/stream/spec.ts';
import { parseSearchText } from '../../ui/searchText.ts';
import { SORTS, STANDARD_SORT, type StreamSort } from './listOrder.ts';
import { PHASE_LOOKS } from './phase.ts';

export interface StreamSearch {
  q?: string | undefined;
  status?: Phase | undefined;
  sort?: StreamSort | undefined;
}

/** Anything else in an address is left out: people type there. */
export function parseSearch({ q, status, sort }: Record<string, unknown>): StreamSearch {
  const text = parseSearchText(q);
  const isPhase = typeof status === 'string' && Object.hasOwn(PHASE_LOOKS, status);
  const isSort = typeof sort === 'string' && sort !== STANDARD_SORT && Object.hasOwn(SORTS, sort);
  return {
    ...(text !== undefined && { q: text }),
    ...(isPhase && { status: status as Phase }),
    ...(isSort && { sort: sort as StreamSort }),
  };
}

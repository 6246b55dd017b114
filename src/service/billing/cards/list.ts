/** Declares what lists of top-ups are filtered and sorted by. Pure: no I/O, no clock. */
import type { NounList } from '../../lib/paging/noun-list.ts';
import { numberKey } from '../../lib/paging/ordered.ts';
import type { TopUp } from './record.ts';
import { STATES } from './settle.ts';

export const TOP_UP_LIST: NounList<TopUp> = {
  nouns: 'top-ups',
  getId: ({ id }) => id,
  getCreatedAt: ({ createdAt }) => createdAt,
  state: { title: 'TopUpState', values: STATES, get: ({ state }) => state },
  sorts: { state: { key: ({ state }) => state }, amountMinor: { key: ({ amountMinor }) => numberKey(amountMinor) } },
};

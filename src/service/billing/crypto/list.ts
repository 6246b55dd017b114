/** Declares what lists of crypto deposits are filtered and sorted by. Pure: no I/O, no clock. */
import type { NounList } from '../../lib/paging/noun-list.ts';
import type { CryptoDeposit } from './record.ts';
import { DEPOSIT_STATES } from './spec.ts';

export const DEPOSIT_LIST: NounList<CryptoDeposit> = {
  nouns: 'deposits',
  getId: ({ id }) => id,
  getCreatedAt: ({ createdAt }) => createdAt,
  state: { title: 'CryptoDepositState', values: DEPOSIT_STATES, get: ({ state }) => state },
  sorts: { state: { key: ({ state }) => state }, expiresAt: { key: ({ expiresAt }) => expiresAt } },
};

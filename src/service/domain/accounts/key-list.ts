/** Declares what lists of API keys are filtered and sorted by. Pure: no I/O, no clock. */
import { kubeTime } from '../../../core/lib/clock.ts';
import type { NounList } from '../../lib/paging/noun-list.ts';
import type { KeyRow } from './store.ts';

const KEY_STATES = ['valid', 'expired'] as const;

const readState = ({ expiresAt }: KeyRow, now: Date): (typeof KEY_STATES)[number] =>
  expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';

/** Times of the year 9999 at most compare like their texts. A key without one comes last. */
const timeKey = (time: Date | null): string => time?.toISOString() ?? '~';

export const KEY_LIST: NounList<KeyRow> = {
  nouns: 'keys',
  getId: ({ id }) => id,
  getCreatedAt: ({ createdAt }) => kubeTime(createdAt),
  getName: ({ name }) => name ?? '',
  getLabel: ({ labels }, name) => labels[name],
  state: { title: 'ApiKeyState', values: KEY_STATES, get: readState },
  sorts: {
    expiresAt: { meaning: 'the key that expires first comes first', key: ({ expiresAt }) => timeKey(expiresAt) },
    lastUsedAt: { key: ({ lastRequest }) => lastRequest?.toISOString() ?? '' },
  },
};

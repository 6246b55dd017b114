/** Provides limits for tests about something else. */
import type { Quotas } from '../../../src/service/domain/limits/quotas.ts';

/** Quotas with room for everything. */
export const ROOM: Pick<Quotas, 'make' | 'grow' | 'allowed' | 'check'> = {
  make: (_account, _noun, _draft, make) => make(() => Number.POSITIVE_INFINITY),
  grow: (_account, _bytes, change) => change(),
  allowed: async () => Number.MAX_SAFE_INTEGER,
  check: async () => undefined,
};

/** Opens the limits of accounts for the role `api`. */

import { createLeases } from '../../db/leases.ts';
import type { Db } from '../../db/pool.ts';
import { createLimitsReader } from '../../domain/accounts/limits.ts';
import { createQuotas, type QuotasDeps } from '../../domain/limits/quotas.ts';
import { computeRecordCapacity } from '../../domain/limits/record-room.ts';
import { createUsage, type UsageDeps } from '../../domain/limits/usage.ts';
import type { Limits } from '../../settings/limits.ts';

interface Given {
  db: Db;
  config: { limits: Limits };
  findClass: QuotasDeps['findClass'];
  resources: UsageDeps & { loaders: QuotasDeps['kinds']; countCachedBytes: () => number };
}

export function openQuotas({ db, config, findClass, resources }: Given) {
  const leases = createLeases(db);
  const usage = createUsage(resources);
  const capacity = computeRecordCapacity();
  const getRoom = () => capacity - resources.countCachedBytes();
  const quotas = createQuotas({ limits: config.limits, leases, usage, kinds: resources.loaders, getRoom, findClass });
  return { leases, usage, quotas, readLimits: createLimitsReader({ db, quotas, usage }) };
}

/** Opens the limits of accounts for the role `api`. */

import { createAccountClasses } from '../../billing/ledger/account-class.ts';
import { createLeases } from '../../db/leases.ts';
import type { Db } from '../../db/pool.ts';
import { createLimitsReader } from '../../domain/accounts/limits.ts';
import { createQuotas, type QuotasDeps } from '../../domain/limits/quotas.ts';
import { createUsage, type UsageDeps } from '../../domain/limits/usage.ts';
import type { Limits } from '../../settings/limits.ts';

interface Given {
  db: Db;
  config: { limits: Limits; billing: boolean };
  resources: UsageDeps & { loaders: QuotasDeps['kinds'] };
}

export function openQuotas({ db, config, resources }: Given) {
  const leases = createLeases(db);
  const usage = createUsage(resources);
  const findClass = createAccountClasses({ db, enabled: config.billing });
  const quotas = createQuotas({ limits: config.limits, leases, usage, kinds: resources.loaders, findClass });
  return { leases, usage, quotas, readLimits: createLimitsReader({ db, quotas, usage }) };
}

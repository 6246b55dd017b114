/** Reports the limits of an account, and its usage of each. */
import type { Db } from '../../db/pool.ts';
import { LIMIT_NAMES, LIMIT_ROWS, type LimitName } from '../../settings/limits.ts';
import { countKeyUse } from '../idempotency/store.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { LimitUsage } from '../limits/usage.ts';
import type { AccountLimits } from './record.ts';
import { countKeys } from './store.ts';

const HOW_TO_LIFT = 'Buy credit once. The larger limits apply permanently as soon as the payment is booked.';

export interface LimitsDeps {
  db: Db;
  quotas: Pick<Quotas, 'limits' | 'findClass'>;
  usage: Pick<LimitUsage, 'all'>;
}

export type ReadLimits = (accountId: string) => Promise<AccountLimits>;

export function createLimitsReader({ db, quotas: { limits, findClass }, usage }: LimitsDeps): ReadLimits {
  return async (accountId) => {
    const [column, apiKeys, { count, bytes }] = await Promise.all([
      findClass(accountId),
      countKeys(db, accountId),
      countKeyUse(db, accountId),
    ]);
    const used: Partial<Record<LimitName, number>> = {
      ...usage.all(accountId),
      apiKeys,
      idempotencyKeys: count,
      keptAnswerBytes: bytes,
    };
    return {
      class: column,
      howToLift: column === 'trial' ? HOW_TO_LIFT : null,
      limits: LIMIT_NAMES.map((name) => ({
        name,
        description: LIMIT_ROWS[name].title,
        unit: LIMIT_ROWS[name].unit,
        used: used[name] ?? null,
        allowed: limits[column][name],
        full: limits.full[name],
      })),
    };
  };
}

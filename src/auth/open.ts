/** Opens the service of people and keys on the database; the caller closes it. */
import type { DatabaseConfig } from '../config.ts';
import { createDb, createPool, type Db } from '../db/pool.ts';
import { createAuth } from './better-auth.ts';
import { type AuthService, createAuthService } from './service.ts';

export interface OpenAuth {
  service: AuthService;
  db: Db;
  /** By their search path, for metrics. */
  pools: Record<'auth' | 'loopstream', ReturnType<typeof createPool>>;
  close(): Promise<void>;
}

/** Nothing is sent before the first call, so a database that is away does not keep a process from starting. */
export function openAuth(config: Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'>): OpenAuth {
  const authPool = createPool(config.databaseUrl, { searchPath: 'auth', max: 4 });
  const pool = createPool(config.databaseUrl, { searchPath: 'loopstream' });
  const db = createDb(pool);
  return {
    service: createAuthService({ auth: createAuth(authPool, config.authSecret), db }),
    db,
    pools: { auth: authPool, loopstream: pool },
    close: async () => {
      await Promise.all([db.destroy(), authPool.end()]);
    },
  };
}

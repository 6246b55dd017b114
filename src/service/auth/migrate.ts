/** Migrates the tables of the auth library to the schema that this version needs. */
import { createPool } from '../db/pool.ts';
import type { DatabaseConfig } from '../db/settings.ts';
import { createAuth } from './better-auth.ts';

/** Makes or changes the tables of the schema `auth`. Rejects with the database's error. */
export async function migrateAuth(config: Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'>): Promise<void> {
  const pool = createPool(config.databaseUrl, { searchPath: 'auth', max: 1 });
  try {
    const { getMigrations } = await import('better-auth/db/migration');
    const { runMigrations } = await getMigrations(createAuth(pool, config.authSecret).options);
    await runMigrations();
  } finally {
    await pool.end();
  }
}

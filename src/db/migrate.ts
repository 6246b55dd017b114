/** Brings the database to what this version needs. Safe to run at every start, and by many processes at once. */
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { createAuth } from '../auth/better-auth.ts';
import type { DatabaseConfig } from '../config.ts';
import { MIGRATIONS } from './migrations.ts';
import { createDb, createPool } from './pool.ts';

/** Any number that nothing else locks: the letters "loop". */
const LOCK = 0x6c6f6f70;

/** Makes the schemas `auth` and `loopstream` and their tables. Rejects with the database's error, changing nothing by half. */
export async function migrate(config: Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'>): Promise<void> {
  const lock = new pg.Client({ connectionString: config.databaseUrl });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    await lock.query('create schema if not exists auth');
    await lock.query('create schema if not exists loopstream');
    await migrateAuth(config);
    await migrateOwn(config.databaseUrl);
  } finally {
    // Ending the session gives the advisory lock back too.
    await lock.end();
  }
}

async function migrateAuth(config: Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'>): Promise<void> {
  const pool = createPool(config.databaseUrl, { searchPath: 'auth', max: 1 });
  try {
    const { getMigrations } = await import('better-auth/db/migration');
    const { runMigrations } = await getMigrations(createAuth(pool, config.authSecret).options);
    await runMigrations();
  } finally {
    await pool.end();
  }
}

async function migrateOwn(databaseUrl: string): Promise<void> {
  const pool = createPool(databaseUrl, { searchPath: 'loopstream', max: 2 });
  const db = createDb(pool);
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => MIGRATIONS },
      migrationTableSchema: 'loopstream',
      migrationTableName: 'migrations',
      migrationLockTableName: 'migrations_lock',
    });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
  } finally {
    await db.destroy();
  }
}

/** Migrates loopstream's own tables to the schema that this version needs. */
import { Migrator } from 'kysely/migration';
import { MIGRATIONS } from './migrations.ts';
import { createDb, createPool } from './pool.ts';

/** Makes or changes the tables of the schema `loopstream`. Rejects with the database's error, changing nothing by half. */
export async function migrateTables(databaseUrl: string): Promise<void> {
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

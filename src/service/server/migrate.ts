/** Migrates the database to this version: the role `migrate`. It is safe at every start, and in several processes at once. */

import { environment } from '../../core/settings/environment.ts';
import { migrateAuth } from '../auth/migrate.ts';
import { withMigrationLock } from '../db/lock.ts';
import { migrateTables } from '../db/migrate.ts';
import { type DatabaseConfig, databaseConfig } from '../db/settings.ts';

/** Creates the schemas `auth` and `loopstream` and their tables. Rejects with the database's error, without a partial change. */
export const migrate = (config: Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'>): Promise<void> =>
  withMigrationLock(config.databaseUrl, async () => {
    await migrateAuth(config);
    await migrateTables(config.databaseUrl);
  });

export async function migrateCommand(): Promise<number> {
  await migrate(databaseConfig(environment()));
  process.stdout.write('The database schema is up to date.\n');
  return 0;
}

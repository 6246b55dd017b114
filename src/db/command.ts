/** `loopstream migrate`: brings the database up to date; safe to run at every start and by several at once. */
import { databaseConfig, environment } from '../config.ts';
import { migrate } from './migrate.ts';

export async function migrateCommand(): Promise<number> {
  await migrate(databaseConfig(environment()));
  process.stdout.write('The database is up to date.\n');
  return 0;
}

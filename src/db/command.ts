/** `loopstream migrate`: brings the database up to date, and ends. */
import { databaseConfig, environment } from '../config.ts';
import { createLogger } from '../log.ts';
import { migrate } from './migrate.ts';

/** Exit status 0, or 1 when the database cannot be reached or changed; the log says why. */
export async function migrateCommand(): Promise<number> {
  const config = databaseConfig(environment());
  const log = createLogger('migrate', config.logLevel);
  try {
    await migrate(config);
    log.info('the database is up to date');
    return 0;
  } catch (error) {
    log.fatal({ err: error }, 'the database could not be brought up to date');
    return 1;
  }
}

/** Lets one process at a time migrate a database. */
import pg from 'pg';

/** Any number that nothing else locks: the letters "loop". */
const LOCK = 0x6c6f6f70;

/**
 * Runs `work` while this process alone has the lock, once both schemas exist. Rejects with the database's error, also when the session that
 * has the lock ended meanwhile: another process may have worked at the same time.
 */
export async function withMigrationLock(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const lock = new pg.Client({ connectionString: databaseUrl });
  let lost: Error | undefined;
  lock.on('error', (error) => {
    lost ??= error;
  });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    await lock.query('create schema if not exists auth');
    await lock.query('create schema if not exists loopstream');
    await work();
    if (lost) throw lost;
  } finally {
    // Ending the session gives the advisory lock back too.
    await lock.end();
  }
}

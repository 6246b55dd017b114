/** Tests the lock of migrations on a real Postgres whose sessions end. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withMigrationLock } from '../../../src/service/db/lock.ts';
import { shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';

let postgres: TestPostgres;
const client = () => new pg.Client({ connectionString: postgres.url });

beforeAll(async () => {
  postgres = await shareTestPostgres();
});

afterAll(() => postgres?.stop());

test('a migration whose lock was lost says so, and the next one gets the lock', async () => {
  const killer = client();
  await killer.connect();
  const endOthers = () =>
    killer.query(
      'select pg_terminate_backend(pid, 10000) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
  try {
    await expect(withMigrationLock(postgres.url, async () => void (await endOthers()))).rejects.toMatchObject({
      code: '57P01',
    });
    let hasWorked = false;
    await withMigrationLock(postgres.url, async () => {
      hasWorked = true;
    });
    expect(hasWorked).toBe(true);
  } finally {
    await killer.end();
  }
});

/** Tests on a real Postgres that what an earlier release counted has its times and its costs in the history of a stream. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLatest } from '../../../src/service/billing/metering/store.ts';
import { MIGRATIONS } from '../../../src/service/db/migrations.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
});
afterAll(() => it?.stop());

test('sessions that were counted before have a beginning, and cost what was paid for them', async () => {
  const { db, ledger } = it;
  for (const column of ['started_at', 'ended_at', 'end_reason', 'written_off'])
    await sql`alter table loopstream.meter_sessions drop column ${sql.ref(column)}`.execute(db);
  const insert = (session: number) =>
    sql`insert into loopstream.meter_sessions (stream_uid, session, seconds, cost, credits, charged_seconds, charges, until)
      values ('uid', ${session}, 100, 3600000, 100, 100, 2, '2026-03-01T01:00:00Z')`.execute(db);
  await sql`insert into loopstream.meter_streams (stream_uid, stream_id, account_id) values ('uid', 'one', 'ann')`.execute(
    db,
  );
  for (const session of [1, 2]) await insert(session);
  await it.give('ann', 70n);
  const charge = (key: string, from: string) =>
    ledger.charge({ key, accountId: 'ann', credits: 50n, at: new Date('2026-03-01T00:59:59Z'), details: { from } });
  await charge('charge:uid:1:1', '2026-03-01T00:00:00.000Z');
  await charge('charge:uid:1:2', '2026-03-01T00:30:00.000Z');
  // Those of others who book, whose keys say nothing of sessions.
  await charge('charge:of-old-times', 'yesterday');

  await MIGRATIONS['0022-meter-session-ends']?.up(db);
  expect(await readLatest(db, 'uid', 10)).toMatchObject([
    { number: 2, startedAt: new Date('2026-03-01T00:58:20Z'), endedAt: undefined, writtenOff: 0n },
    { number: 1, startedAt: new Date('2026-03-01T00:00:00Z'), endedAt: undefined, writtenOff: 30n, credits: 100n },
  ]);
  // An older meter runs until it is replaced, and its rows can be read.
  await insert(3);
  expect((await readLatest(db, 'uid', 1))[0]).toMatchObject({ number: 3, startedAt: new Date('2026-03-01T00:58:20Z') });
});

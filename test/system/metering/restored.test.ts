/** Tests what is charged for a stream that was restored from a backup with its status, on a real Postgres. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../../src/core/resources/stream/spec.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { parsePrices } from '../../../src/service/billing/ledger/prices.ts';
import { createMeter } from '../../../src/service/billing/metering/meter.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { stream as makeStream } from '../../kit/make/operator.ts';
import { query } from '../../kit/real/postgres.ts';

/** A credit for each tenth of a second. */
const PRICES = parsePrices(
  JSON.stringify(
    ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
      [24, 25, 30, 60].map((framerate) => ({ quality, framerate, creditsPerHour: 36_000 })),
    ),
  ),
);

let test: TestLedger;
beforeAll(async () => {
  test = await startTestLedger();
});
afterAll(() => test?.stop());

function build(uid: string, status: LoopStreamStatus): LoopStream {
  const { metadata, ...rest } = makeStream({}, { status });
  return { ...rest, metadata: { ...metadata, uid, labels: { [ACCOUNT_LABEL]: 'ann' } } };
}

const createSession = (number: number, onAirSeconds: number) => ({
  number,
  podUID: `pod-${number}`,
  startedAt: '2026-06-01T12:00:00Z',
  endedAt: '2026-06-01T13:00:00Z',
  onAirSeconds,
});

it('sessions of another UID are not charged once more, and the first of the new UID is', async () => {
  const pool = createPool(test.url, { searchPath: 'loopstream', max: 2 });
  const db = createDb(pool);
  try {
    const countAnew = (stream: LoopStream) =>
      createMeter({ db, ledger: createLedger(db), prices: PRICES }).count([stream], AbortSignal.timeout(30_000));
    const readSeconds = () =>
      query(
        test.url,
        'select stream_uid as uid, sum(seconds)::float as seconds from loopstream.meter_sessions group by 1 order by 1',
      );
    const backup = {
      observedUID: 'uid-1',
      sessions: [createSession(1, 600), createSession(2, 60)],
      acknowledgedSession: 1,
    };
    await countAnew(build('uid-1', backup));
    const before = await readSeconds();
    expect(before).toEqual([{ uid: 'uid-1', seconds: 660 }]);

    await countAnew(build('uid-2', backup));
    expect(await readSeconds()).toEqual(before);

    await countAnew(build('uid-2', { observedUID: 'uid-2', sessions: [createSession(1, 30)] }));
    expect(await readSeconds()).toEqual([...before, { uid: 'uid-2', seconds: 30 }]);
  } finally {
    await db.destroy();
  }
});

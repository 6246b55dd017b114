/**
 * Measures money at scale (`make bench-money`): the meter's interval when every stream has been on air for another hour, and the ledger's
 * charges a second. Postgres commits durably. The table is printed and appended to RESULTS.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/core/lib/clock.ts';
import { createLogger } from '../../src/core/lib/log.ts';
import { ACCOUNT_LABEL } from '../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../src/core/resources/stream/resource.ts';
import { createLedger } from '../../src/service/billing/ledger/ledger.ts';
import { parsePrices } from '../../src/service/billing/ledger/prices.ts';
import { createEstimates } from '../../src/service/billing/metering/estimate.ts';
import { createMeter } from '../../src/service/billing/metering/meter.ts';
import { byAccount } from '../../src/service/billing/metering/stream-jobs.ts';
import { createDb, createPool, type Db } from '../../src/service/db/pool.ts';
import { migrate } from '../../src/service/server/migrate.ts';
import { startPostgres } from '../../tools/local/postgres.ts';
import { adjustCredit } from '../kit/make/grant.ts';
import { spendRows } from './money/spend.ts';
import { circumstances, collect, median, type Row, report, whole } from './report.ts';

const PARTS = ['meter', 'spend'];
const SPEND_MS = 1_000;
const HELP = `Usage: node test/bench/money.ts [options]

  --streams N    live streams (10000), ten of each account
  --rounds R     intervals in which each of them has another hour, and turns of each row of charges (5)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Takes about two minutes.
`;
const BAR_SECONDS = 5;
const START = Date.parse('2026-03-01T00:00:00Z');
const STREAMS_OF_ACCOUNT = 10;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const at = (hours: number): string => new Date(START + hours * 3_600_000).toISOString();

/** Builds a live stream after so many hours on air without a break, as billing's cache has it. */
const buildStream = (i: number, hours: number): LoopStream => ({
  metadata: {
    name: `str-${i}`,
    namespace: 'loopstream',
    uid: `uid-${i}`,
    resourceVersion: String(hours),
    creationTimestamp: at(0),
    labels: { [ACCOUNT_LABEL]: `account-${Math.floor(i / STREAMS_OF_ACCOUNT)}` },
  },
  spec: { replicas: 1, quality: '1080p', framerate: 30, uploadName: 'film', destinationNames: ['tv'] },
  status: {
    phase: 'live',
    liveSince: at(0),
    podUID: `pod-${i}`,
    sessions: [{ number: 1, podUID: `pod-${i}`, startedAt: at(0), onAirSeconds: hours * 3600 }],
  },
});

async function open(): Promise<{ url: string; close(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-money-'));
  const postgres = await startPostgres({ dataDir: join(dir, 'postgres'), log: createLogger('bench', 'warn') });
  await migrate({ databaseUrl: postgres.url, authSecret: 'secret-of-a-benchmark-that-is-long' });
  const close = async () => {
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { url: postgres.url, close };
}

async function meterRows(db: Db, streams: number, rounds: number): Promise<Row[]> {
  const ledger = createLedger(db);
  for (let i = 0; i < streams / STREAMS_OF_ACCOUNT; i++) await adjustCredit(ledger, `account-${i}`, 1_000_000_000n);
  const prices = parsePrices();
  let counted = 0;
  const onCounted = (what: { seconds: number }) => {
    counted += what.seconds;
  };
  let passed = 0;
  // A meter with an interval of ten seconds has then seen the hour.
  const clock = { ...systemClock, now: () => new Date(START + passed * 3_600_000 + 5_000) };
  const meter = createMeter({ db, ledger, prices, onCounted, clock });
  const estimates = createEstimates({ db, prices, clock });
  const never = new AbortController().signal;
  const times = { hour: [] as number[], idle: [] as number[], credit: [] as number[] };
  const timed = async (into: number[], work: () => Promise<unknown>) => {
    const since = performance.now();
    await work();
    into.push(performance.now() - since);
  };
  for (let hours = 1; hours <= rounds; hours++) {
    passed = hours;
    const all = Array.from({ length: streams }, (_, i) => buildStream(i, hours));
    await timed(times.hour, () => meter.count(all, never));
    await timed(times.idle, () => meter.count(all, never));
    await timed(times.credit, () => estimates.estimates(byAccount(all)));
  }
  if (counted !== streams * rounds * 3600) throw new Error(`${counted} s were counted of ${streams * rounds * 3600}`);
  const row = (what: string, values: readonly number[]): Row => {
    const longest = Math.max(...values);
    return {
      what: `${streams} live streams, ${what}`,
      ours: `median ${seconds(median(values))}, longest ${seconds(longest)}`,
      peer: '–',
      beside: '–',
      result: longest <= BAR_SECONDS * 1000 ? 'holds' : 'fails',
      bar: `≤ ${BAR_SECONDS} s`,
    };
  };
  return [
    row('an interval in which each has had another hour', times.hour),
    row('an interval in which nothing is written', times.idle),
    row('how long the credit of each account lasts', times.credit),
  ];
}

async function main(): Promise<void> {
  const about = circumstances(['PostgreSQL with fsync']);
  const { url, close } = await open();
  const db = createDb(createPool(url, { searchPath: 'loopstream' }));
  const { rows, take } = collect(values.only.split(','), say);
  try {
    await take('meter', () => meterRows(db, whole(values.streams), whole(values.rounds)));
    await take('spend', () => spendRows(url, { rounds: whole(values.rounds), ms: SPEND_MS }));
  } finally {
    await db.destroy();
    await close();
  }
  report(about, rows, !values['no-record']);
}

if (values.help) process.stdout.write(HELP);
else await main();

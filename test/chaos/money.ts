/**
 * Money under fire (`make chaos-money`): the whole local system with live streams, while its API server, billing and Postgres are
 * killed again and again and streams stop and start. At the end what the receiver has recorded of each stream stands beside what
 * was charged for it, and all of the ledger is computed anew. Ends with 1 where something differs.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../../src/clock.ts';
import { environment } from '../../src/config.ts';
import { createKube } from '../../src/kube/client.ts';
import { LOOPSTREAMS } from '../../src/kube/resources.ts';
import type { Kube } from '../../src/kube/types.ts';
import { MAIN } from '../../src/local/context.ts';
import { NAMESPACE } from '../../src/local/rights.ts';
import { run } from '../../src/local/run.ts';
import { query } from '../support/postgres.ts';
import { until } from '../support/rtmp.ts';
import { type System, startSystem } from '../support/system.ts';

const HELP = `Usage: node test/chaos/money.ts [options]

  --seconds N   for how long it is shot at (180)
  --streams N   live streams (3)
  --help        this text

Takes a little more than that: it begins with nothing, and waits until all is counted. Beside other work make it longer.
`;
/**
 * A streamer tells of its time on air twice a second, so it falls short by as much at each end of a session, and by what it was
 * held up (streamer/airtime.ts); a charge is in whole seconds. For a machine with nothing else to do 2 would be enough.
 */
const SHORT_OF_RECORDED_SECONDS = 3;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    streams: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const pick = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T;

/** The number of a child of the system, by its name. */
async function pidOf({ stateDir }: System, name: string): Promise<number | undefined> {
  for (const file of await readdir(join(stateDir, 'pids'))) {
    const text = await readFile(join(stateDir, 'pids', file), 'utf8').catch(() => '{}');
    const record = JSON.parse(text || '{}') as { name?: string; pid?: number };
    if (record.name === name) return record.pid;
  }
  return undefined;
}

/** Where the database is: the API server has been told. */
async function databaseOf(system: System): Promise<string> {
  const text = await readFile(`/proc/${await pidOf(system, 'api')}/environ`, 'utf8');
  const found = text.split('\0').find((line) => line.startsWith('LOOPSTREAM_DATABASE_URL='));
  if (!found) throw new Error('the API server was told of no database');
  return found.slice(found.indexOf('=') + 1);
}

const shots = { api: 0, billing: 0, postgres: 0, streams: 0 };

async function kill(system: System, name: 'api' | 'billing'): Promise<void> {
  const pid = await pidOf(system, name);
  if (pid === undefined) return;
  process.kill(pid, 'SIGKILL');
  shots[name]++;
}

/** One of its processes is killed, upon which Postgres ends all others and recovers from its log. */
async function killPostgres(database: string): Promise<void> {
  const [row] = await query(
    database,
    'select pg_backend_pid() as own, min(pid) as pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  if (typeof row?.pid !== 'number') return;
  process.kill(row.pid, 'SIGKILL');
  shots.postgres++;
}

interface Channel {
  id: string;
  key: string;
}

async function makeChannels(system: System, count: number): Promise<Channel[]> {
  const { client, facts } = system;
  const demo = await client.streams.get(facts.demoStreamId ?? '');
  const channels: Channel[] = [{ id: demo.id, key: 'demo' }];
  for (let i = 1; i < count; i++) {
    const key = `channel-${i}`;
    const destination = await client.destinations.create({ name: key, rtmpUrl: facts.rtmpUrl, rtmpKey: key });
    const stream = await client.streams.create({
      ...{ name: key, quality: 'q_720p', framerate: 'f_30', destinationID: destination.id },
      videoUploadObjectID: demo.videoUploadObjectID ?? '',
    });
    await until(`${key} is ready`, async () => (await client.streams.readiness(stream.id)).ready, 60_000);
    await client.streams.start(stream.id, { wait: 60 });
    channels.push({ id: stream.id, key });
  }
  return channels;
}

/** Whatever is down at the moment, it is asked again: nobody who wants to stop a stream gives up. */
const insist = (what: string, work: () => Promise<unknown>) =>
  until(
    what,
    () =>
      work().then(
        () => true,
        () => false,
      ),
    120_000,
  );

async function shoot(system: System, channels: readonly Channel[], database: string): Promise<void> {
  const end = performance.now() + Number(values.seconds) * 1000;
  while (performance.now() < end) {
    await sleep(3_000 + Math.random() * 6_000);
    const shot = pick(['api', 'billing', 'billing', 'postgres', 'streams'] as const);
    say(`  ${Math.max(0, Math.round((end - performance.now()) / 1000))} s left: ${shot}`);
    if (shot === 'postgres') await killPostgres(database).catch(() => undefined);
    else if (shot !== 'streams') await kill(system, shot);
    else {
      const { id } = pick(channels);
      shots.streams++;
      await insist('the stream is stopped', () => system.client.streams.stop(id, { wait: 20 }));
      await insist('the stream is on air', () => system.client.streams.start(id, { wait: 60, whenReady: true }));
    }
  }
}

/** For how long the receiver took a stream, in seconds: from the beginning of each recording to its last bytes. */
async function recordedSeconds({ stateDir }: System, key: string): Promise<number> {
  const dir = join(stateDir, 'recordings');
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.includes(key) && file.endsWith('.flv'));
  let ms = 0;
  for (const file of files) {
    const { birthtimeMs, mtimeMs } = await stat(join(dir, file));
    ms += mtimeMs - birthtimeMs;
  }
  return ms / 1000;
}

/** What its pods have told of it, in seconds: the book that is charged from. */
async function toldSeconds(kube: Kube, id: string): Promise<number> {
  const { status } = await kube.get(LOOPSTREAMS, NAMESPACE, id);
  return (status?.sessions ?? []).reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0);
}

interface Charged {
  seconds: number;
  sessions: number;
  entries: number;
}

async function chargedOf(database: string, streamID: string): Promise<Charged> {
  const [row] = await query(
    database,
    `select coalesce(sum(m.seconds), 0)::int as seconds, count(m.*)::int as sessions,
      (select count(*)::int from loopstream.ledger_entries e join loopstream.ledger_transactions t on t.id = e.transaction_id
        where t.details->>'streamID' = '${streamID}') as entries
      from loopstream.meter_streams s left join loopstream.meter_sessions m using (stream_uid) where s.stream_id = '${streamID}'`,
  );
  return row as unknown as Charged;
}

async function count(sql: string, database: string): Promise<number> {
  const [row] = await query(database, sql);
  return Number(row?.n ?? Number.NaN);
}

async function reconcile(database: string): Promise<{ ok: boolean; text: string }> {
  const env = { ...environment(), LOOPSTREAM_DATABASE_URL: database };
  const { ok, stdout, stderr } = await run(process.execPath, [MAIN, 'admin', 'reconcile'], { env, timeoutMs: 120_000 });
  return { ok, text: (stdout + stderr).trim() };
}

async function judge(system: System, channels: readonly Channel[], database: string): Promise<boolean> {
  const kube = createKube({ kubeconfig: system.facts.kubeconfig });
  let differences = 0;
  const lines = [
    '| stream | recorded at the receiver | told | charged | sessions | entries |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  for (const { id, key } of channels) {
    const [recorded, told] = [await recordedSeconds(system, key), await toldSeconds(kube, id)];
    const { seconds, sessions, entries } = await chargedOf(database, id);
    const isRight =
      seconds <= told &&
      told - seconds < sessions &&
      seconds <= recorded &&
      recorded - seconds <= sessions * SHORT_OF_RECORDED_SECONDS;
    if (!isRight) differences++;
    const shown = [`${recorded.toFixed(1)} s`, `${told.toFixed(1)} s`, `${seconds} s`, sessions, entries].join(' | ');
    lines.push(`| ${key} | ${shown} |${isRight ? '' : ' ← differs'}`);
  }
  await kube.close();
  const duplicates = await count(
    `select count(*) as n from (select 1 from loopstream.ledger_transactions where kind = 'charge'
      group by details->>'streamID', details->>'session', details->>'from' having count(*) > 1) twice`,
    database,
  );
  const { ok, text } = await reconcile(database);
  say(
    `\nKilled: API ${shots.api}, billing ${shots.billing}, Postgres ${shots.postgres}; streams stopped and started ${shots.streams}.\n`,
  );
  say(lines.join('\n'));
  say(
    `\nDuplicates: ${duplicates}. Differences of the streams: ${differences}. Reconciled: ${text || (ok ? 'nothing differs' : 'failed')}`,
  );
  return differences === 0 && duplicates === 0 && ok;
}

async function main(): Promise<number> {
  say('starting the local system');
  const system = await startSystem(['--record']);
  try {
    const database = await databaseOf(system);
    const channels = await makeChannels(system, Number(values.streams));
    say(`${channels.length} streams are live; shooting for ${values.seconds} s`);
    await shoot(system, channels, database);
    for (const { id } of channels)
      await insist('the stream is stopped', () => system.client.streams.stop(id, { wait: 20 }));
    for (const { id } of channels)
      await until(
        'it is off air',
        async () => (await system.client.streams.get(id).catch(() => undefined))?.status === 'stopped',
        120_000,
      );
    let before = -1;
    await until(
      'all is counted',
      async () => {
        const now = await count('select coalesce(sum(seconds), 0) as n from loopstream.meter_sessions', database).catch(
          () => -2,
        );
        const isStill = now === before && now > 0;
        before = now;
        if (!isStill) await sleep(15_000);
        return isStill;
      },
      120_000,
    );
    return (await judge(system, channels, database)) ? 0 : 1;
  } finally {
    await system.close();
  }
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await main();

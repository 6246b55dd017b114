/**
 * Measures events (`make bench-events`): from the commit of an event to the webhook at its receiver, and what reads of the API lose by
 * the server that records events. The table is printed and appended to RESULTS.md.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import type { Transition } from '../../src/core/resources/stream/transitions.ts';
import { createDb, createPool, type Db } from '../../src/service/db/pool.ts';
import { NO_DATA } from '../../src/service/domain/events/record.ts';
import { tell } from '../../src/service/domain/events/store.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { startWebhookSink } from '../kit/fake/webhook-sink.ts';
import { call } from '../kit/system/api.ts';
import { until } from '../kit/wait.ts';
import { type Load, rateRow } from './api/compare.ts';
import type { LoadJobs } from './api/load.ts';
import { makeMedia, makeStreams } from './api/objects.ts';
import { type Account, type BenchSystem, startSystem } from './api/system.ts';
import { startWorker } from './api/worker.ts';
import { circumstances, collect, type Row, report, selectParts, whole } from './report.ts';

const PARTS = ['webhooks', 'reads'];
const PER_SECOND = 100;
const STREAMS = 100;
const CHANGES_PER_SECOND = 10;
/** Any of the servers may deliver. */
const SETTINGS = { LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true' };
const HELP = `Usage: node test/bench/events.ts [options]

  --seconds S    for how long events are recorded, ${PER_SECOND} a second (30)
  --rounds R     rounds of reads, which take turns with the peer's (20)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Builds the control plane when it is not there. Takes about three minutes.
`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '20' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs `work` so often a second, until `seconds` are over. */
async function atRate(perSecond: number, seconds: number, work: (n: number) => Promise<void>): Promise<void> {
  const since = performance.now();
  const running: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const waitMs = since + (n * 1000) / perSecond - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(work(n));
  }
  await Promise.all(running);
}

/** Records events of one of fifty objects each, and returns when each was committed, by its id. */
async function recordEvents(db: Db, accountId: string, seconds: number): Promise<Map<string, number>> {
  const committed = new Map<string, number>();
  await atRate(PER_SECOND, seconds, async (n) => {
    const objectId = `str-${n % 50}`;
    const id = `evt_bench_${accountId.replaceAll(/\W/g, '')}_${n}`;
    const news = { id, type: 'stream.live', at: new Date(), data: { ...NO_DATA, name: 'Bench' } } as const;
    await tell(db, { accountId, object: 'stream', objectId, uid: objectId }, () => ({ news: [news], mark: String(n) }));
    committed.set(id, Date.now());
  });
  return committed;
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function measureWebhooks(system: BenchSystem, db: Db, seconds: number): Promise<Row[]> {
  const { url } = await system.startApi([], SETTINGS);
  const rows: Row[] = [];
  for (const endpoints of [1, 5]) {
    const account = await system.account(`told-${endpoints}`);
    const sink = await startWebhookSink();
    for (let n = 0; n < endpoints; n++)
      await call(
        `${url}/v1/endpoints`,
        'POST',
        { kind: 'webhook', url: `${sink.url}/${n}` },
        { 'x-api-key': account.key },
      );
    const committed = await recordEvents(db, account.accountId, seconds);
    const isThere = () => sink.received.filter(({ id }) => committed.has(id)).length >= committed.size * endpoints;
    await until('all webhooks have arrived', isThere, 60_000);
    const took = sink.received
      .flatMap(({ id, at }) => (committed.has(id) ? [at - (committed.get(id) ?? 0)] : []))
      .sort((a, b) => a - b);
    await sink.close();
    const p99 = percentile(took, 0.99);
    rows.push({
      what: `event committed → webhook, p99 at ${PER_SECOND}/s, ${endpoints} endpoint${endpoints > 1 ? 's' : ''} each`,
      ours: `${p99} ms (median ${percentile(took, 0.5)} ms, longest ${took.at(-1)} ms)`,
      peer: '–',
      beside: '–',
      result: p99 <= 1000 ? 'holds' : 'missed',
      bar: '≤ 1 s',
    });
  }
  return rows;
}

/** Writes transitions of streams as the operator does, until it is told to end. */
async function changeStreams(system: BenchSystem, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const kinds: Transition['kind'][] = ['Live', 'Stopped'];
  for (let n = 0; !signal.aborted; n++) {
    const number = Math.floor(n / ids.length) + 1;
    const transitions = [{ number, kind: kinds[number % 2], at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') }];
    const patch = { status: { transitions } };
    await system.kube.mergePatch(LOOPSTREAMS, NAMESPACE, ids[n % ids.length] ?? '', patch, { subresource: 'status' });
    await new Promise((resolve) => setTimeout(resolve, 1000 / CHANGES_PER_SECOND));
  }
}

async function measureReads(system: BenchSystem, load: Load, rounds: number): Promise<Row[]> {
  const account: Account = await system.account('reader');
  const ids = await makeStreams(
    system.kube,
    account.accountId,
    await makeMedia(system.kube, account.accountId),
    STREAMS,
  );
  // The first server records events for all; the second waits for the first's lease.
  const [ours, peer] = [await system.startApi([], SETTINGS), await system.startApi([], SETTINGS)];
  const stop = new AbortController();
  const changing = changeStreams(system, ids, stop.signal);
  const target = ({ url }: { url: string }) => ({
    url: `${url}/v1/streams?limit=20`,
    headers: { 'x-api-key': account.key },
  });
  const row = await rateRow(
    load,
    {
      what: `GET /v1/streams?limit=20 while ${CHANGES_PER_SECOND} events a second are recorded`,
      ours: target(ours),
      peer: target(peer),
      beside: 'ours, a server that records none',
    },
    { rounds, seconds: 1 },
  );
  stop.abort();
  await changing;
  return [{ ...row, bar: '≥ 0.98×' }];
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, PARTS);
  const about = circumstances(['Kubernetes 1.36.3']);
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'ignore' });
  await using started = new AsyncDisposableStack();
  const system = await startSystem();
  started.defer(() => system.stop());
  // An early end leaves no cluster behind either.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  const db = createDb(createPool(system.databaseUrl, { searchPath: 'loopstream' }));
  started.defer(() => db.destroy());
  const load = started.use(startWorker<LoadJobs>(join(import.meta.dirname, 'api/load.ts')));
  const { rows, take } = collect(parts, say);
  await take('reads', () => measureReads(system, load, whole(values.rounds)));
  await take('webhooks', () => measureWebhooks(system, db, whole(values.seconds)));
  report(about, rows, !values['no-record']);
}

await main();

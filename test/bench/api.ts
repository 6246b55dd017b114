/**
 * Measures the API server at scale (`make bench-api`): accounts with ten and with thousands of streams on a real kube-apiserver, with load
 * from another process. The peers are a bare Fastify with the same JSON, graphql-http with constants, and kube-apiserver itself. The table
 * is printed and appended to RESULTS.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { collectionPath } from '../../src/core/kube/paths.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import { newId } from '../../src/service/domain/limits/owned-resources.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { call } from '../kit/system/api.ts';
import { flatRows, type Load, latencyRows, type Rounds, rateRow } from './api/compare.ts';
import type { LoadJobs, Target } from './api/load.ts';
import { memoryRows } from './api/memory.ts';
import { nowRows } from './api/now.ts';
import { buildObject, type Media, makeMedia, makeStreams, observe, streamSpec } from './api/objects.ts';
import type { PeerJobs } from './api/peers.ts';
import { type Account, type BenchSystem, startSystem } from './api/system.ts';
import { startWorker } from './api/worker.ts';
import { circumstances, collect, type Row, report, selectParts, whole } from './report.ts';

const PARTS = ['reads', 'flat', 'filters', 'graphql', 'creates', 'memory', 'now'];
const HELP = `Usage: node test/bench/api.ts [options]

  --streams N    streams of the larger account (10000); the smaller one has 10
  --rounds R     rounds of each row, which take turns with the peer's (20)
  --seconds S    for how long each side of a round is asked (1)
  --creates N    streams that each side of a round creates (75)
  --memory S     for how many seconds memory is watched under load (60; the issue's bar is for 600)
  --polled S     for how many seconds pages poll what a stream plays (90)
  --only PARTS   some of ${PARTS.join(',')}
  --prof DIR     write a CPU profile of the API server into DIR, and record nothing
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Builds the control plane when it is not there. Takes about six minutes.
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    creates: { type: 'string', default: '75' },
    memory: { type: 'string', default: '60' },
    polled: { type: 'string', default: '90' },
    only: { type: 'string', default: PARTS.join(',') },
    prof: { type: 'string' },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const QUERY = '{ streams(first: 20) { edges { node { id name state } } } }';
const BARE = 'bare Fastify, the same JSON';

interface Scene {
  system: BenchSystem;
  api: { url: string; opsUrl: string; pid: number };
  load: Load;
  few: Account;
  many: Account;
  media: Media;
  /** The stream ids of the larger account, oldest first. */
  ids: string[];
  /** The cursor of the last but one page of twenty of the larger account's list. */
  deep: string;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const get = ({ api }: Pick<Scene, 'api'>, { key }: Account, path: string): Target => ({
  url: `${api.url}${path}`,
  method: 'GET',
  headers: { 'x-api-key': key },
});

const read = async <T>({ url, headers }: Target): Promise<T> => (await call<T>(url, 'GET', undefined, headers)).body;

/** Returns the cursor before the last 30 of a list of `count`: the page of twenty from there has a successor. */
async function deepCursor(scene: Pick<Scene, 'api'>, account: Account, count: number): Promise<string> {
  let cursor = '';
  for (let left = count - 30; left > 0; left -= 100) {
    const after = cursor && `&cursor=${cursor}`;
    const path = `/v1/streams?limit=${Math.min(100, left)}${after}`;
    const { page } = await read<{ page: { nextCursor: string } }>(get(scene, account, path));
    cursor = page.nextCursor;
  }
  return cursor;
}

async function setScene(load: Load, system: BenchSystem, count: number): Promise<Scene> {
  const [few, many] = [await system.account('few'), await system.account('many')];
  say(`making ${count} streams`);
  const [fewMedia, media] = [await makeMedia(system.kube, few.accountId), await makeMedia(system.kube, many.accountId)];
  await makeStreams(system.kube, few.accountId, fewMedia, 10);
  const ids = await makeStreams(system.kube, many.accountId, media, count);
  await observe(system.kube, ids.at(-1) ?? '', new Date());
  const api = await system.startApi(values.prof ? ['--cpu-prof', `--cpu-prof-dir=${values.prof}`] : []);
  say(`the API server has read them in ${(api.readyMs / 1000).toFixed(1)} s`);
  return { system, api, load, few, many, media, ids, deep: await deepCursor({ api }, many, count) };
}

/** Measures reads beside a bare Fastify. */
async function measureReads(scene: Scene, peer: (answers: Record<string, unknown>) => Promise<string>, rounds: Rounds) {
  const id = scene.ids.at(-1);
  const asked: [what: string, account: Account, path: string][] = [
    ['GET /v1/streams?limit=20 of 10 streams', scene.few, '/v1/streams?limit=20'],
    [`… of ${scene.ids.length} streams`, scene.many, '/v1/streams?limit=20'],
    ['… their last but one page', scene.many, `/v1/streams?limit=20&cursor=${scene.deep}`],
    ['GET /v1/streams/{id}', scene.many, `/v1/streams/${id}`],
    ['GET /v1/streams/{id}/readiness', scene.many, `/v1/streams/${id}/readiness`],
  ];
  const rows: Row[] = [];
  for (const [n, [what, account, path]] of asked.entries()) {
    const ours = get(scene, account, path);
    const at = `/v1/${n}`;
    const url = `${await peer({ [at]: await read(ours) })}${at}`;
    rows.push(await rateRow(scene.load, { what, ours, peer: { url }, beside: BARE }, rounds));
  }
  return rows;
}

/** Measures a first page of nine, which the smaller account has too, and that has a successor; and any page of twenty. */
async function measureFlatness({ load, few, many, ...scene }: Scene, rounds: Rounds) {
  const { length } = scene.ids;
  const page = (account: Account, query: string) => get(scene, account, `/v1/streams?limit=${query}`);
  const nine = { what: `a page of 9 of ${length} streams`, target: page(many, '9') };
  const deep = { what: `… their last but one of 20`, target: page(many, `20&cursor=${scene.deep}`) };
  return [
    ...(await flatRows(load, page(few, '9'), [nine], 'ours, a page of 9 of 10 streams', rounds)),
    ...(await flatRows(load, page(many, '20'), [deep], 'ours, their first page', rounds)),
  ];
}

/** Measures a page with three filters, and one in another order, beside a page without; and a read with a key that may only read. */
async function measureFilters({ load, many, system, ...scene }: Scene, rounds: Rounds) {
  const { length } = scene.ids;
  const page = (query: string) => get(scene, many, `/v1/streams?limit=20${query}`);
  const asked = [
    {
      what: `a page of 20 of ${length} streams with three filters`,
      target: page('&label=team%3Dnews&state=idle&q=channel'),
    },
    { what: '… and by name', target: page('&label=team%3Dnews&state=idle&q=channel&sort=name') },
  ];
  const path = `/v1/streams/${scene.ids.at(-1)}`;
  const reader = await system.account('many', { scopes: ['read'] });
  const [ours, peer] = [get(scene, reader, path), get(scene, many, path)];
  const scoped = {
    what: 'GET /v1/streams/{id} with a key of the scope read',
    ours,
    peer,
    beside: 'ours, with a full key',
  };
  return [
    ...(await flatRows(load, page(''), asked, 'ours, a page without a filter', rounds, '≤ 1.2× the time')),
    await rateRow(load, scoped, rounds, '≥ 0.97×'),
  ];
}

async function measureGraphql(scene: Scene, peer: (nodes: never) => Promise<string>, rounds: Rounds) {
  const body = JSON.stringify({ query: QUERY });
  const json = { 'content-type': 'application/json' };
  const url = `${scene.api.url}/graphql`;
  const headers = { ...json, 'x-api-key': scene.many.key };
  const ours: Target = { url, method: 'POST', headers, body };
  type Answer = { data: { streams: { edges: { node: unknown }[] } } };
  const { data } = (await call<Answer>(url, 'POST', body, headers)).body;
  const nodes = data.streams.edges.map(({ node }) => node);
  const theirs: Target = { url: await peer(nodes as never), method: 'POST', headers: json, body };
  const what = 'GraphQL streams(first: 20) { id name state }';
  return [await rateRow(scene.load, { what, ours, peer: theirs, beside: 'graphql-http with constants' }, rounds)];
}

function measureCreates({ system, api, load, many, media }: Scene, count: number, rounds: number) {
  const json = { 'content-type': 'application/json' };
  const wish = { name: 'New channel', quality: 'q_1080p', framerate: 'f_30', ...media };
  const resource = buildObject(LOOPSTREAMS, many.accountId, 'NAME', streamSpec(media, 'New channel'));
  const { ca, admin } = system.plane.certificates;
  const [cert, key] = [admin.cert, admin.key].map(String);
  const targets = [
    { url: `${api.url}/v1/streams`, headers: { ...json, 'x-api-key': many.key }, body: JSON.stringify(wish) },
    {
      url: `${system.plane.apiserverUrl}${collectionPath(LOOPSTREAMS, NAMESPACE)}`,
      headers: json,
      body: JSON.stringify(resource),
      tls: { ca: String(ca), cert: cert ?? '', key: key ?? '' },
    },
  ];
  const names = Array.from({ length: rounds + 1 }, () => Array.from({ length: count }, () => newId('str')));
  return latencyRows(load, 'POST /v1/streams', targets, names, 'the same object straight at kube-apiserver');
}

const measureMemory = (scene: Scene, seconds: number) => {
  const { load, system, api, many, ids, deep } = scene;
  const paths = ['?limit=20', `?limit=20&cursor=${deep}`, '?limit=20&q=9', `/${ids[0]}`, `/${ids.at(-1)}/readiness`];
  const targets = paths.map((path) => get(scene, many, `/v1/streams${path}`));
  return memoryRows({ load, kube: system.kube, api }, targets, ids, seconds);
};

const measureNow = ({ load, system, api, many, media, ids }: Scene, seconds: number) => {
  const stream = ids.at(-1) ?? '';
  return nowRows({ load, kube: system.kube, api, key: many.key, stream, upload: media.videoUploadObjectID }, seconds);
};

async function measure(parts: readonly string[]): Promise<Row[]> {
  await using started = new AsyncDisposableStack();
  const system = await startSystem();
  started.defer(() => system.stop());
  // An early end leaves no cluster behind either.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void system.stop().finally(() => process.exit(1)));
  const worker = (name: string) => join(import.meta.dirname, 'api', name);
  const load = started.use(startWorker<LoadJobs>(worker('load.ts')));
  const peers = started.use(startWorker<PeerJobs>(worker('peers.ts')));
  const scene = await setScene(load, system, whole(values.streams));
  const rounds = { rounds: whole(values.rounds), seconds: whole(values.seconds) };
  const { rows, take } = collect(parts, say);
  await take('reads', () => measureReads(scene, peers.fastify, rounds));
  await take('flat', () => measureFlatness(scene, rounds));
  await take('filters', () => measureFilters(scene, rounds));
  await take('graphql', () => measureGraphql(scene, peers.graphql, rounds));
  await take('memory', () => measureMemory(scene, whole(values.memory)));
  await take('now', () => measureNow(scene, whole(values.polled)));
  await take('creates', () => measureCreates(scene, whole(values.creates), rounds.rounds));
  return rows;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, PARTS);
  const { version } = JSON.parse(readFileSync('node_modules/fastify/package.json', 'utf8')) as { version: string };
  const about = circumstances(['Kubernetes 1.36.3', `Fastify ${version}`]);
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'ignore' });
  const rows = await measure(parts);
  report(about, rows, !values['no-record'] && values.prof === undefined);
}

await main();

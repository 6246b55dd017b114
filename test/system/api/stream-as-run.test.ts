/** Tests what a stream has played through each API, for the facts and the program that an operator writes. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PODS } from '../../../src/core/kube/core.ts';
import { identifyTrack } from '../../../src/core/programme/identity.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../src/core/resources/common/names.ts';
import type { Fact } from '../../../src/core/resources/stream/facts.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { Transition } from '../../../src/core/resources/stream/transitions.ts';
import { createClient, type StreamAsRun, type StreamAsRunTotals } from '../../../src/service/client/index.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { deleteOldFacts } from '../../../src/service/domain/as-run/store.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;
let eve: Client;
let db: Db;
let create: StreamsApi['create'];
let makeMedia: () => Promise<string>;

beforeAll(async () => {
  ({ api, ada, eve, create } = await startStreamsApi());
  db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  makeMedia = async () => {
    const body = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
    const id = String((await ada.call('POST', '/v1/uploads/from-link', body)).body.objectID);
    const key = `r/${id}`;
    await api.observeUpload(id, {
      phase: 'ready',
      renditions: [{ profile: '1080p30', state: 'ready', key, durationSeconds: 600 }],
    });
    return id;
  };
});
afterAll(async () => {
  await db?.destroy();
  await api?.stop();
});

/** Two hours ago an item of ten minutes began. */
const BEGIN_MS = Math.floor(Date.now() / 1000) * 1000 - 7_200_000;
const at = (seconds: number) => new Date(BEGIN_MS + seconds * 1000).toISOString();

const buildProgram = (ids: readonly string[], version = 1): Program => ({
  version,
  epoch: at(0),
  seed: 1,
  profile: '1080p30',
  destinations: ['dst'],
  video: { mode: 'sequential', items: ids.map((id) => ({ id, name: `Name of ${id}`, rendition: `r/${id}` })) },
});

const buildFact = (program: Program, number: number, seconds: number, more: Partial<Fact> = {}): Fact => ({
  ...{ number, track: 'video', move: number === 1 ? 'Start' : 'Edit', version: program.version },
  programme: identifyTrack(program.video, program.seed),
  ...{ epoch: at(0), round: 0, turn: 0, startedAt: at(seconds), from: at(seconds), ...more },
});

const live = (number: number, seconds: number): Transition => ({ number, kind: 'Live', at: at(seconds) });
const stopped = (number: number, seconds: number): Transition => ({ number, kind: 'Stopped', at: at(seconds) });

/** Puts a stream on air as the operator does, with the pod that plays a program. */
async function putOnAir(program: Program, facts: Fact[], transitions: Transition[] = [live(1, 0)]) {
  const { id } = await create();
  await api.kube.create(PODS, NAMESPACE, buildPod(id, program) as never);
  await api.observe(id, { phase: 'live', epoch: program.epoch, facts, transitions });
  await until('the facts are recorded', async () => (await countFacts(id)) === facts.length);
  return id;
}
const buildPod = (id: string, program: Program) => ({
  metadata: {
    name: `${id}-onair`,
    namespace: NAMESPACE,
    labels: { [STREAM_LABEL]: id },
    annotations: { [PROGRAM_ANNOTATION]: JSON.stringify(program) },
  },
  spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
});
async function countFacts(id: string): Promise<number> {
  const { metadata } = await api.kube.get(LOOPSTREAMS, NAMESPACE, id);
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from loopstream.air_facts
    where stream_uid = ${metadata.uid}`.execute(db);
  return rows[0]?.n ?? 0;
}

const ask = async <T = StreamAsRun>(id: string, path: string): Promise<T> => {
  const { status, body } = await ada.call<T>('GET', `/v1/streams/${id}/${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const span = (from: number, to: number) => new URLSearchParams({ from: at(from), to: at(to) });
const seconds = (time: string) => (Date.parse(time) - BEGIN_MS) / 1000;
const short = ({ items }: Pick<StreamAsRun, 'items'>) =>
  items.map(({ id, startAt, endAt, cut }) => [id, seconds(startAt), seconds(endAt), cut]);

test('the past is the same in REST, for the typed client, in GraphQL and as CSV, in parts too, and totals add it up', async () => {
  const [a, b] = [await makeMedia(), await makeMedia()];
  const tags = { title: 'Rain', artist: 'Ada', isrc: 'USRC17607839', label: 'Wet', license: 'CC0' };
  await ada.call('PATCH', `/v1/uploads/${a}`, tags);
  await until('it is known', async () => (await ada.call('GET', `/v1/uploads/${a}`)).body.title === 'Rain');
  const program = buildProgram([a, b]);
  const id = await putOnAir(program, [buildFact(program, 1, 0)]);
  const asked = span(300, 2000);
  const wanted = [
    [a, 0, 600, false],
    [b, 600, 1200, false],
    [a, 1200, 1800, false],
    [b, 1800, 2400, false],
  ];
  const asRun = await ask(id, `as-run?${asked}`);
  expect(short(asRun)).toEqual(wanted);
  expect(asRun).toMatchObject({ from: at(300), to: at(2000), track: 'video', gaps: [], nextFrom: null });
  const words = { ...tags, licenseUrl: null };
  const place = { playlistID: null, index: 0, rule: null, exact: true };
  expect(asRun.items[0]).toEqual({
    ...{ startAt: at(0), endAt: at(600), seconds: 600, cut: false, id: a, name: `Name of ${a}` },
    ...words,
    ...place,
  });
  const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
  const parts: StreamAsRun['items'] = [];
  for (let from: string | null = at(300); from !== null; ) {
    const part: StreamAsRun = await client.streams.asRun(id, { from, to: at(2000), limit: 1 });
    parts.push(...part.items);
    from = part.nextFrom;
  }
  expect(parts).toEqual(asRun.items);
  const query = `query($id: ID!) { streamAsRun(id: $id, from: "${at(300)}", to: "${at(2000)}") { items { id startAt } gaps { reason } }
    streamAsRunTotals(id: $id, from: "${at(0)}", to: "${at(2000)}") { exact items { id plays seconds } } }`;
  const { body } = await ada.call<{ data: object }>('POST', '/graphql', { query, variables: { id } });
  const totals = [
    { id: a, plays: 2, seconds: 1200 },
    { id: b, plays: 2, seconds: 1200 },
  ];
  expect(body.data).toEqual({
    streamAsRun: { items: asRun.items.map((item) => ({ id: item.id, startAt: item.startAt })), gaps: [] },
    streamAsRunTotals: { exact: true, items: totals },
  });
  expect(await client.streams.asRunTotals(id, { from: at(0), to: at(2000) })).toMatchObject({
    items: [{ ...words, ...totals[0] }, totals[1]],
  });
  const [first, second] = [
    await ask<StreamAsRunTotals>(id, `as-run/totals?${span(0, 900)}`),
    await ask<StreamAsRunTotals>(id, `as-run/totals?${span(900, 2000)}`),
  ];
  const sum = [...first.items, ...second.items].reduce((total, { plays }) => total + plays, 0);
  expect(sum).toBe(4);
  const headers = { 'x-api-key': ada.key };
  const csv = await fetch(`${api.url}/v1/streams/${id}/as-run.csv?${asked}`, { headers });
  expect(csv.headers.get('content-disposition')).toContain(`as-run-${id}.csv`);
  const lines = (await csv.text()).split('\r\n');
  expect(lines[0]).toBe('title,artist,isrc,label,license,licenseUrl,started,ended,seconds,rule,cut,id,name,exact');
  expect(lines[1]).toBe(
    `"Rain","Ada","USRC17607839","Wet","CC0",,${at(0)},${at(600)},600,,false,${a},"Name of ${a}",true`,
  );
  expect(lines).toHaveLength(6);
  const sums = await fetch(`${api.url}/v1/streams/${id}/as-run/totals?format=csv&${span(0, 2000)}`, { headers });
  expect((await sums.text()).split('\r\n')[1]).toBe(
    `"Rain","Ada","USRC17607839","Wet","CC0",,2,1200,${a},"Name of ${a}"`,
  );
});

test('an edit, new words and the deletion of an upload leave what was on air as it was', async () => {
  const [a, b] = [await makeMedia(), await makeMedia()];
  await ada.call('PATCH', `/v1/uploads/${a}`, { title: 'Before' });
  await until('it is known', async () => (await ada.call('GET', `/v1/uploads/${a}`)).body.title === 'Before');
  const program = buildProgram([a]);
  const first = buildFact(program, 1, 0);
  const id = await putOnAir(program, [first]);
  const before = await ask(id, `as-run?${span(0, 1500)}`);
  expect(before.items.map(({ title }) => title)).toEqual(['Before', 'Before', 'Before']);
  const edited = buildProgram([b], 2);
  await api.kube.mergePatch(PODS, NAMESPACE, `${id}-onair`, { metadata: buildPod(id, edited).metadata });
  const facts = [first, buildFact(edited, 2, 1800)];
  await api.observe(id, { phase: 'live', epoch: at(0), facts, transitions: [live(1, 0)] });
  await until('the edit is recorded', async () => (await countFacts(id)) === 2);
  await ada.call('PATCH', `/v1/uploads/${a}`, { title: 'After' });
  expect((await ada.call('DELETE', `/v1/uploads/${a}`)).status).toBeLessThan(300);
  await until('it is gone', async () => (await ada.call('GET', `/v1/uploads/${a}`)).status === 404);
  expect(await ask(id, `as-run?${span(0, 1500)}`)).toEqual(before);
  expect(short(await ask(id, `as-run?${span(1200, 2400)}`))).toEqual([
    [a, 1200, 1800, false],
    [b, 1800, 2400, false],
  ]);
});

describe('what was not on air', () => {
  test('is named: an outage is a gap, and an item partly aired says for how long', async () => {
    const a = await makeMedia();
    const program = buildProgram([a]);
    const id = await putOnAir(
      program,
      [buildFact(program, 1, 0)],
      [
        live(1, 0),
        { number: 2, kind: 'Reconnecting', at: at(700) },
        { number: 3, kind: 'OffAir', at: at(710) },
        { number: 4, kind: 'Recovered', at: at(900), offAirSeconds: 200 },
        stopped(5, 1300),
      ],
    );
    const asRun = await ask(id, `as-run?${span(-60, 1800)}`);
    expect(short(asRun)).toEqual([
      [a, 0, 600, false],
      [a, 600, 1200, true],
      [a, 1200, 1300, true],
    ]);
    expect(asRun.items.map((item) => item.seconds)).toEqual([600, 400, 100]);
    expect(asRun.gaps.map(({ startAt, endAt, reason }) => [seconds(startAt), seconds(endAt), reason])).toEqual([
      [-60, 0, 'stopped'],
      [700, 900, 'off_air'],
      [1300, 1800, 'stopped'],
    ]);
  });

  test('is unknown where a list was not recorded, and an item is no more than an estimate where a move is missing', async () => {
    const a = await makeMedia();
    const program = buildProgram([a]);
    const lost = { ...buildFact(program, 2, 1200), programme: 'ffff' };
    const facts = [buildFact(program, 1, 0), lost, buildFact(program, 4, 1800)];
    const id = await putOnAir(program, facts);
    const asRun = await ask(id, `as-run?${span(0, 2400)}`);
    expect(short(asRun).map(([, from]) => from)).toEqual([0, 600, 1800]);
    expect(asRun.gaps).toEqual([{ startAt: at(1200), endAt: at(1800), reason: 'unknown' }]);
    expect(await ask(id, `as-run/totals?${span(0, 2400)}`)).toMatchObject({ exact: false });
  });
});

test('what is older than 400 days is deleted, but for what says how it went on', async () => {
  const a = await makeMedia();
  const program = buildProgram([a]);
  const edited = buildProgram([a, a], 2);
  const day = -86_400;
  const facts = [buildFact(program, 1, 500 * day), buildFact(program, 2, 450 * day), buildFact(edited, 3, 0)];
  const id = await putOnAir(edited, facts);
  await deleteOldFacts(db);
  expect(await countFacts(id)).toBe(2);
  expect(short(await ask(id, `as-run?${span(0, 1000)}`))).toHaveLength(2);
});

test('needs a key, is of the own account alone, and has a span of 31 days at most', async () => {
  const { id } = await create();
  for (const path of ['as-run', 'as-run.csv', 'as-run/totals']) {
    expect((await fetch(`${api.url}/v1/streams/${id}/${path}`)).status).toBe(401);
    const { status, body } = await eve.call('GET', `/v1/streams/${id}/${path}`);
    expect([status, body.code]).toEqual([404, 'stream_not_found']);
    const refused = await ada.call('GET', `/v1/streams/${id}/${path}?from=2026-01-01&to=2026-02-02`);
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_failed']);
  }
  expect(await ask(id, 'as-run')).toMatchObject({ items: [], gaps: [{ reason: 'stopped' }], nextFrom: null });
});

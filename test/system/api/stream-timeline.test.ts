/** Tests what a stream plays when through each API, for a program as a pod has it and lengths as uploads have them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PODS } from '../../../src/core/kube/core.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import {
  createClient,
  type StreamExplanation,
  type StreamNow,
  type StreamPublicNow,
  type StreamTimeline,
} from '../../../src/service/client/index.ts';
import type { PublicNow } from '../../../src/service/domain/timeline/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { HOSTILE_TEXTS } from '../../kit/make/hostile-texts.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { run } from '../../kit/run.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const dir = tempDir();
let api: TestApi;
let ada: Client;
let eve: Client;
let create: StreamsApi['create'];
let upload: string;

beforeAll(async () => {
  ({ api, ada, eve, create, videoUploadObjectID: upload } = await startStreamsApi());
  await api.observeUpload(upload, {
    phase: 'ready',
    renditions: [{ profile: '1080p30', state: 'ready', key: 'r/a', durationSeconds: 600 }],
  });
});
afterAll(() => api?.stop());

/** Ten minutes ago an item of ten minutes began. */
const BEGIN_MS = Math.floor(Date.now() / 1000) * 1000 - 300_000;
const at = (seconds: number) => new Date(BEGIN_MS + seconds * 1000).toISOString();

const buildProgram = (names: readonly string[], version = 1): Program => ({
  version,
  epoch: at(-600_000),
  seed: 1,
  profile: '1080p30',
  destinations: ['dst'],
  video: { mode: 'sequential', items: names.map((name) => ({ id: upload, name, rendition: 'r/a' })) },
});

/** Puts a stream on air as the operator and its pod do. */
async function putOnAir(program: Program, more: Record<string, unknown> = {}): Promise<string> {
  const { id } = await create(more);
  await api.kube.create(PODS, NAMESPACE, {
    metadata: {
      name: `${id}-onair`,
      namespace: NAMESPACE,
      labels: { [STREAM_LABEL]: id },
      annotations: { [PROGRAM_ANNOTATION]: JSON.stringify(program) },
    },
    spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
  } as never);
  const anchor = { version: 1, epoch: program.epoch, round: 500, turn: 0, startedAt: at(0), since: at(-1200) };
  await api.observe(id, { phase: 'live', epoch: program.epoch, anchors: { video: anchor } });
  await until('it is on air', async () => (await ask<StreamNow>(id, 'now')).onAir);
  return id;
}

const ask = async <T>(id: string, path: string): Promise<T> =>
  (await ada.call<T>('GET', `/v1/streams/${id}/${path}`)).body;
const short = (items: StreamTimeline['items']) => items.map(({ name, startAt }) => `${name} ${startAt}`);

test('the timeline is the same in REST, for the typed client, in GraphQL and as CSV, in parts too', async () => {
  const id = await putOnAir(buildProgram(['A', 'B', 'C']));
  const span = { from: at(300), to: at(3000) };
  const wanted = [`A ${at(0)}`, `B ${at(600)}`, `C ${at(1200)}`, `A ${at(1800)}`, `B ${at(2400)}`];
  const timeline = await ask<StreamTimeline>(id, `timeline?${new URLSearchParams(span)}`);
  expect({ ...timeline, items: short(timeline.items) }).toEqual({
    ...span,
    onAir: true,
    track: 'video',
    exactUntil: null,
    items: wanted,
    nextFrom: null,
  });
  expect(timeline.items[0]).toEqual({
    startAt: at(0),
    endAt: at(600),
    durationSeconds: 600,
    id: upload,
    name: 'A',
    playlistID: null,
    index: 0,
    rule: null,
    exact: true,
  });
  const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
  const parts: StreamTimeline['items'] = [];
  for (let from: string | null = span.from; from !== null; ) {
    const part: StreamTimeline = await client.streams.timeline(id, { ...span, from, limit: 2 });
    parts.push(...part.items);
    from = part.nextFrom;
  }
  expect(short(parts)).toEqual(wanted);
  const query = `query($id: ID!) { streamTimeline(id: $id, from: "${span.from}", to: "${span.to}") { track items { name startAt } } streamNow(id: $id) { current { name } } }`;
  const { body } = await ada.call<{ data: Record<string, unknown> }>('POST', '/graphql', { query, variables: { id } });
  expect(body.data).toMatchObject({
    streamTimeline: { track: 'video', items: timeline.items.map(({ name, startAt }) => ({ name, startAt })) },
  });
  const csv = await fetch(`${api.url}/v1/streams/${id}/timeline.csv?${new URLSearchParams(span)}`, {
    headers: { 'x-api-key': ada.key },
  });
  expect(csv.headers.get('content-type')).toContain('text/csv');
  expect(csv.headers.get('content-disposition')).toContain(`timeline-${id}.csv`);
  expect(
    (await csv.text())
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]),
  ).toEqual(timeline.items.map(({ startAt }) => startAt));
});

test('XMLTV of two weeks is valid against its DTD, whatever the names of items are', async () => {
  const id = await putOnAir(buildProgram(HOSTILE_TEXTS), { name: 'Rain & <wind>' });
  const to = new Date(BEGIN_MS + 14 * 86_400_000).toISOString();
  const answer = await fetch(`${api.url}/v1/streams/${id}/timeline.xmltv?from=${at(0)}&to=${to}`, {
    headers: { 'x-api-key': ada.key },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
  const text = await answer.text();
  expect(text.match(/<programme /g)).toHaveLength(14 * 144);
  const file = join(dir, 'guide.xml');
  await writeFile(file, text);
  const dtd = join(import.meta.dirname, '../../kit/xmltv.dtd');
  await run('xmllint', ['--nonet', '--noout', '--dtdvalid', dtd, file]);
  await writeFile(file, text.replace('<title>', '<film>').replace('</title>', '</film>'));
  await expect(run('xmllint', ['--nonet', '--noout', '--dtdvalid', dtd, file])).rejects.toThrow('film');
});

describe('what plays now', () => {
  test('has an ETag that lasts as long as the item, and changes with a skip', async () => {
    const id = await putOnAir(buildProgram(['A', 'B', 'C']));
    const path = `${api.url}/v1/streams/${id}/now`;
    const first = await fetch(path, { headers: { 'x-api-key': ada.key } });
    const tag = first.headers.get('etag') ?? '';
    const now = (await first.json()) as StreamNow;
    expect(now).toMatchObject({ onAir: true, current: { name: 'A', startAt: at(0), endAt: at(600) } });
    expect([now.next.map(({ name }) => name), now.last.map(({ name }) => name)]).toEqual([
      ['B', 'C', 'A'],
      ['C', 'B'],
    ]);
    expect((now.elapsedSeconds ?? 0) + (now.remainingSeconds ?? 0)).toBeCloseTo(600, 3);
    expect(now.elapsedSeconds).toBeGreaterThanOrEqual(300);
    const again = () => fetch(path, { headers: { 'x-api-key': ada.key, 'if-none-match': tag } });
    const same = await again();
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, tag, '']);
    const skipped = { version: 1, epoch: at(-600_500), round: 500, turn: 1, startedAt: at(290), since: at(290) };
    await api.observe(id, { phase: 'live', epoch: skipped.epoch, anchors: { video: skipped } });
    await until('another item plays', async () => (await again()).status === 200);
    expect(await ask<StreamNow>(id, 'now')).toMatchObject({ current: { name: 'B', startAt: at(290) }, last: [] });
  });

  test('needs a key, and is of the own account alone', async () => {
    const id = await putOnAir(buildProgram(['A']));
    for (const path of ['now', 'timeline', 'timeline.csv']) {
      expect((await fetch(`${api.url}/v1/streams/${id}/${path}`)).status).toBe(401);
      expect(await eve.call('GET', `/v1/streams/${id}/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'stream_not_found' },
      });
    }
  });
});

describe('an explanation', () => {
  /** News at each full hour, which cuts nothing: films of ten minutes are on air then. */
  const buildRuled = (): Program => {
    const program = buildProgram(['A', 'B']);
    const rule = { start: 'Border', lateSeconds: 30, after: 'Resume', count: 1, pick: 'Next' } as const;
    const items = [{ id: upload, name: 'News', rendition: 'r/a' }];
    const cron = `${new Date(BEGIN_MS + 660_000).getUTCMinutes()} * * * *`;
    const rules = [{ ...rule, name: 'news', when: { at: { cron, timeZone: 'UTC' } }, items }];
    const places = rules.map(({ name }) => ({ name, round: 0, turn: 0, items: 0, since: at(0) }));
    const standings = { video: { round: 0, turn: 0, items: 0, rules: places } };
    return { ...program, epoch: at(0), standings, video: { ...program.video, rules } };
  };

  test('says what kept a rule off air, the same in REST, for the typed client and in GraphQL', async () => {
    const id = await putOnAir(buildRuled());
    const dueAt = `${at(660).slice(0, 16)}:00.000Z`;
    const asked = { at: dueAt, rule: 'news' };
    const explained = await ask<StreamExplanation>(id, `explain?${new URLSearchParams(asked)}`);
    expect(explained).toMatchObject({
      ...asked,
      track: 'video',
      uploadObjectID: null,
      code: 'rule_late',
      exact: true,
      dueAt,
      turn: null,
      by: { rule: null, endAt: expect.stringMatching(/Z$/) },
      windowStartAt: null,
      windowEndAt: null,
    });
    expect(explained.message).toMatch(
      /was left out: "[AB]" played until .*Raise `lateSeconds` of the rule to at least \d+/,
    );
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    expect(await client.streams.explain(id, asked)).toEqual(explained);
    const query = `query($id: ID!) { streamExplanation(id: $id, at: "${dueAt}", rule: "news") { code message by { name } } }`;
    const { body } = await ada.call<{ data: Record<string, unknown> }>('POST', '/graphql', {
      query,
      variables: { id },
    });
    const { code, message, by } = explained;
    expect(body.data).toEqual({ streamExplanation: { code, message, by: { name: by?.name } } });
    const ofUpload = await ask<StreamExplanation>(id, `explain?uploadObjectID=${upload}`);
    expect(ofUpload).toMatchObject({ code: 'played', rule: null, uploadObjectID: upload, turn: { id: upload } });
    expect(await ask(id, 'explain?rule=weather')).toMatchObject({ code: 'not_listed' });
    expect(await ask(id, `explain?rule=news&at=${at(-3600)}`)).toMatchObject({ code: 'not_known' });
  });

  test('needs a key, and is of the own account alone; of a stream off air it says why that is', async () => {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' });
    expect((await fetch(`${api.url}/v1/streams/${id}/explain?rule=news`)).status).toBe(401);
    expect((await eve.call('GET', `/v1/streams/${id}/explain?rule=news`)).status).toBe(404);
    expect(await ask(id, 'explain?rule=news')).toMatchObject({ code: 'stream_stopped', turn: null, by: null });
  });
});

test('a stream off air plays nothing: its answers are empty', async () => {
  const { id } = await create();
  await api.observe(id, { phase: 'idle' });
  expect(await ask(id, 'timeline')).toMatchObject({ onAir: false, exactUntil: null, items: [], nextFrom: null });
  expect(await ask(id, 'now')).toEqual({
    onAir: false,
    track: 'video',
    exactUntil: null,
    current: null,
    elapsedSeconds: null,
    remainingSeconds: null,
    next: [],
    last: [],
  });
  const answer = await fetch(`${api.url}/v1/streams/${id}/timeline.csv`, { headers: { 'x-api-key': ada.key } });
  expect((await answer.text()).split('\r\n')).toHaveLength(2);
});

test.each([
  ['timeline?from=soon', '/from', 'must be a time'],
  ['timeline?to=2026-02-30', '/to', 'must be a time'],
  ['timeline?from=2026-03-02&to=2026-03-01', '/from', 'must be before `to`'],
  ['timeline?from=2026-03-01&to=2026-03-16', '/to', 'at most 14 days'],
  ['timeline?from=9999-01-01', '/from', 'at most 366 days from now'],
  ['timeline?limit=0', '/limit', ''],
  ['timeline?track=cards', '/track', ''],
  ['timeline.pdf', '/format', ''],
  ['timeline.csv?from=2026-03-02&to=2026-03-01', '/from', 'must be before `to`'],
  ['now?track=cards', '/track', ''],
  ['explain', '/rule', 'or `uploadObjectID` must be given'],
  ['explain?rule=news&uploadObjectID=upl-1', '/rule', 'cannot be given together'],
  ['explain?rule=news&at=soon', '/at', 'must be a time'],
  ['explain?rule=news&at=9999-01-01', '/at', 'at most 14 days from now'],
])('%s is refused, and the answer names the field', async (path, field, message) => {
  const { id } = await create();
  const { status, body } = await ada.call<{ code: string; errors: { path: string; message: string }[] }>(
    'GET',
    `/v1/streams/${id}/${path}`,
  );
  expect([status, body.code, body.errors?.[0]?.path]).toEqual([422, 'validation_failed', field]);
  expect(body.errors[0]?.message).toContain(message);
});

describe('what a stream plays now, for anyone', () => {
  const turn = (id: string, enabled: boolean, client = ada) =>
    client.call<StreamPublicNow>('PATCH', `/v1/streams/${id}/public-now`, { enabled });
  /** The public address of the server is another one than that of the tests. */
  const reach = (url: string | null) => `${api.url}${new URL(String(url)).pathname}`;
  const read = (url: string | null, headers: Record<string, string> = {}) => fetch(reach(url), { headers });

  test('is public once it is turned on, with titles alone, for pages of all origins, and 304 until it changes', async () => {
    const id = await putOnAir(buildProgram(['file-name.mp4', 'B']));
    await ada.call('PATCH', `/v1/uploads/${upload}`, { title: 'Fireplace', artist: 'Ada', isrc: 'USRC17607839' });
    expect(await ask(id, 'public-now')).toEqual({ enabled: false, url: null, since: null });
    const { status, body } = await turn(id, true);
    expect(status).toBe(200);
    expect(body).toMatchObject({ enabled: true, since: expect.stringMatching(/Z$/) });
    const url = body.url ?? '';
    expect(new URL(url).pathname).toMatch(/^\/v1\/public\/now\/lsn_[0-9A-Za-z]{46}$/);
    // The address stays, and the resource has no more of it than a hash.
    expect((await turn(id, true)).body.url).toBe(url);
    expect(await ask(id, 'public-now')).toEqual(body);
    const { metadata } = await api.kube.get(LOOPSTREAMS, NAMESPACE, id);
    expect(JSON.stringify(metadata)).not.toContain(url.split('/').at(-1));

    const shown = await until('it is known', async () => {
      const answer = await read(url, { origin: 'https://pages.example' });
      return answer.status === 200 && answer;
    });
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('ETag'),
      'cache-control': 'public, no-cache',
    });
    const text = await shown.text();
    const now = JSON.parse(text) as PublicNow;
    const item = { durationSeconds: 600, title: 'Fireplace', artist: 'Ada', exact: true };
    expect(now).toMatchObject({ onAir: true, current: { startAt: at(0), endAt: at(600), ...item } });
    expect(now.next).toHaveLength(3);
    expect(now.next[0]).toEqual({ startAt: at(600), endAt: at(1200), ...item });
    for (const secret of [id, upload, ada.accountId, 'file-name', 'USRC17607839', 'playlistID'])
      expect(text).not.toContain(secret);
    const etag = shown.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"/);
    expect((await read(url, { 'if-none-match': etag })).status).toBe(304);
    const preflight = await fetch(reach(url), {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('If-None-Match');
  });

  test('is gone once it is turned off, and turned on again it has another address', async () => {
    const id = await putOnAir(buildProgram(['A']));
    const { url } = (await turn(id, true)).body;
    await until('it is known', async () => (await read(url)).status === 200);
    expect((await turn(id, false)).body).toEqual({ enabled: false, url: null, since: null });
    await until('it is gone', async () => (await read(url)).status === 404);
    const other = (await turn(id, true)).body.url;
    expect(other).not.toBe(url);
    await until('the other one works', async () => (await read(other)).status === 200);
    expect(await (await read(url)).json()).toMatchObject({ code: 'stream_not_found' });
    await ada.call('DELETE', `/v1/streams/${id}`);
    await until('it goes with the stream', async () => (await read(other)).status === 404);
  });

  test('does not follow from a wrong token, nor from the stream of somebody else; GraphQL and the client turn it on as well', async () => {
    const { id } = await create();
    for (const wrong of ['x', `lsn_${'0'.repeat(46)}`, id])
      expect((await read(`${api.url}/v1/public/now/${wrong}`)).status).toBe(404);
    expect((await turn(id, true, eve)).status).toBe(404);
    expect((await eve.call('GET', `/v1/streams/${id}/public-now`)).status).toBe(404);
    const query = `mutation ($id: ID!) { updateStreamPublicNow(id: $id, input: { enabled: true }) { streamPublicNow { enabled url } } }`;
    const { body } = await ada.call<{ data: Record<string, { streamPublicNow: StreamPublicNow }> }>(
      'POST',
      '/graphql',
      {
        query,
        variables: { id },
      },
    );
    const url = body.data.updateStreamPublicNow?.streamPublicNow.url ?? '';
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    expect(await client.streams.publicNow(id)).toMatchObject({ enabled: true, url });
    const offAir = await until('it is known', async () => {
      const answer = await read(url);
      return answer.status === 200 && answer;
    });
    expect(await offAir.json()).toMatchObject({ onAir: false, current: null, next: [], last: [] });
    expect(await client.streams.updatePublicNow(id, { enabled: false })).toEqual({
      enabled: false,
      url: null,
      since: null,
    });
  });
});

/** Tests that every list of named things is searched and ordered the same way, through each API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { SCENES } from '../../../src/core/resources/scene/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { createClient } from '../../../src/service/client/index.ts';
import { readRoute } from '../../../src/service/lib/operation.ts';
import { PERSON } from '../../../src/service/lib/scopes.ts';
import { OPERATIONS } from '../../../src/service/server/operations/list.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

type Item = { name: string; id?: string; objectID?: string };
type List = { data: Item[]; page: { hasMore: boolean; nextCursor: string | null } };

let api: TestApi;
let ada: Client;
/** Made in this order. */
const NAMES = ['Evening \u{1f319}', 'café', 'morning', 'Brunch', 'Café noir', '\u05e2\u05e8\u05d1'];
const BY_NAME = ['Brunch', 'café', 'Café noir', 'Evening \u{1f319}', 'morning', '\u05e2\u05e8\u05d1'];

const BODIES: Record<string, { path: string; body: object }> = {
  uploads: { path: '/v1/uploads/from-link', body: { type: 'VIDEO', url: 'https://example.com/film.mkv' } },
  destinations: { path: '/v1/destinations', body: { rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'k-1234' } },
  playlists: { path: '/v1/playlists', body: { kind: 'video', mode: 'sequential', items: [] } },
  scenes: { path: '/v1/scenes', body: { layers: [{ text: 'On air' }] } },
};
const NOUNS = ['streams', ...Object.keys(BODIES)];
const RESOURCES: Record<string, unknown> = {
  streams: LOOPSTREAMS,
  uploads: UPLOADS,
  destinations: DESTINATIONS,
  playlists: PLAYLISTS,
  scenes: SCENES,
};

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  const make = async (path: string, body: object) => {
    const made = await ada.call<Item>('POST', path, body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body;
  };
  const makeAll = async ({ path, body }: { path: string; body: object }) => {
    let last: Item | undefined;
    for (const name of NAMES) last = await make(path, { ...body, name });
    return last;
  };
  const made = new Map<string, Item | undefined>();
  for (const [noun, kind] of Object.entries(BODIES)) made.set(noun, await makeAll(kind));
  const [destinationID, videoUploadObjectID] = [made.get('destinations')?.id, made.get('uploads')?.objectID];
  const body = { quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID };
  await makeAll({ path: '/v1/streams', body });
});
afterAll(() => api?.stop());

/** Returns the names of a list, read page by page. */
async function readNames(noun: string, query: Record<string, string>, limit = 2): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | null = null;
  do {
    const search: URLSearchParams = new URLSearchParams({ ...query, limit: String(limit), ...(cursor && { cursor }) });
    const { status, body } = await ada.call<List>('GET', `/v1/${noun}?${search}`);
    expect(status, JSON.stringify(body)).toBe(200);
    names.push(...body.data.map(({ name }) => name));
    cursor = body.page.nextCursor;
  } while (cursor !== null);
  return names;
}

describe.each(NOUNS)('a list of %s', (noun) => {
  test('has the things whose name contains a text, in any case and either normal form', async () => {
    expect(await readNames(noun, { q: 'CAFE\u0301', sort: 'name' })).toEqual(['café', 'Café noir']);
    expect(await readNames(noun, { q: '\u{1f319}' })).toEqual([NAMES[0]]);
    expect(await readNames(noun, { q: 'nothing has this' })).toEqual([]);
  });

  test('is in the order that was asked for, over all its pages', async () => {
    expect(await readNames(noun, { sort: 'name' })).toEqual(BY_NAME);
    expect(await readNames(noun, { sort: '-name' })).toEqual(BY_NAME.toReversed());
    const oldestFirst = await readNames(noun, { sort: 'createdAt' });
    expect(oldestFirst).toEqual((await readNames(noun, {})).toReversed());
    expect(oldestFirst.toSorted()).toEqual(NAMES.toSorted());
  });

  test('refuses an unknown order, value, filter and selector with the known ones, and a cursor of another order', async () => {
    const wrong = {
      'sort=size': /^must be one of .*-createdAt, createdAt, name, -name/,
      'orderBy=name': /^is not known; this list knows createdAfter.* label, .* sort/,
      'label=a%2Fb%3Dc': /without a slash/,
      [`label=${'a'.repeat(64)}`]: /at most 63 characters/,
      'label=loopstream.dev%2Faccount': /without a slash/,
      'label=team%20in%20(news': /label selector such as/,
      'createdAfter=yesterday': /must be a time/,
      ...(noun === 'streams' || noun === 'uploads' ? { 'state=asleep': /^must be one of / } : {}),
    };
    for (const [query, message] of Object.entries(wrong)) {
      const refused = await ada.call('GET', `/v1/${noun}?${query}`);
      expect([refused.status, refused.body.code], query).toEqual([422, 'validation_failed']);
      expect(refused.body.errors, query).toEqual([
        { path: `/${query.split('=')[0]}`, message: expect.stringMatching(message) },
      ]);
    }
    const { body } = await ada.call<List>('GET', `/v1/${noun}?sort=name&limit=1`);
    const mixed = await ada.call('GET', `/v1/${noun}?sort=createdAt&limit=1&cursor=${body.page.nextCursor}`);
    expect([mixed.status, mixed.body.code]).toEqual([422, 'validation_failed']);
  });

  test('has the things whose labels in Kubernetes a selector names, until they change', async () => {
    const [one, two] = (await ada.call<List>('GET', `/v1/${noun}?sort=name`)).body.data;
    const mark = (item: Item | undefined, team: string | null) =>
      api.kube.mergePatch(RESOURCES[noun] as Resource<KubeObject>, NAMESPACE, item?.id ?? '', {
        metadata: { labels: { 'label.loopstream.dev/team': team } },
      });
    const select = (label: string) => readNames(noun, { label, sort: 'name' });
    await mark(one, 'news');
    await mark(two, 'sport');
    await until('both are seen', async () => (await select('team')).length === 2);
    expect(await select('team=news')).toEqual([one?.name]);
    expect(await select('team in (news,sport),team!=news')).toEqual([two?.name]);
    expect(await select('!team')).toEqual(BY_NAME.slice(2));
    await mark(one, null);
    await until('it is seen', async () => (await select('team=news')).length === 0);
    expect(await select('team')).toEqual([two?.name]);
    await mark(two, null);
    await until('it is seen', async () => (await select('team')).length === 0);
  });

  test('has the things of a time, and the same over GraphQL in the same words', async () => {
    const { body } = await ada.call<{ data: { createdAt: string }[] }>('GET', `/v1/${noun}`);
    const createdAt = body.data[0]?.createdAt ?? '';
    expect(await readNames(noun, { createdAfter: createdAt })).toEqual([]);
    const before = new Date(Date.parse(createdAt) + 1000).toISOString();
    expect(await readNames(noun, { createdBefore: before, q: 'caf', sort: '-name' })).toEqual(['Café noir', 'café']);
    const query = `{ ${noun}(createdBefore: "${before}", q: "caf", sort: "-name", label: ["!team"]) { edges { node { name } } } }`;
    const { data } = (
      await ada.call<{ data: Record<string, { edges: { node: Item }[] }> }>('POST', '/graphql', { query })
    ).body;
    expect(data[noun]?.edges.map(({ node }) => node.name)).toEqual(['Café noir', 'café']);
  });

  test('is searched and ordered so by the client for programs, too', async () => {
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    const list = client[noun as 'uploads'].list({ q: 'caf', sort: '-name' });
    const found: string[] = [];
    for await (const { name } of list) found.push(name);
    expect(found).toEqual(['Café noir', 'café']);
  });
});

test('streams of a state and uploads of a type are told from the others, and a list of another noun has no such filter', async () => {
  expect(await readNames('streams', { state: 'live' })).toEqual([]);
  expect(await readNames('streams', { status: 'idle', sort: 'name' })).toEqual(BY_NAME);
  expect(await readNames('uploads', { type: 'AUDIO' })).toEqual([]);
  expect(await readNames('uploads', { type: 'VIDEO', state: 'importing', sort: 'sizeBytes' })).toHaveLength(
    NAMES.length,
  );
  expect(await readNames('playlists', { type: 'video', sort: '-version' })).toHaveLength(NAMES.length);
  expect(await readNames('destinations', { type: 'srt' })).toEqual([]);
  expect(await readNames('destinations', { type: 'rtmp', sort: 'name' })).toEqual(BY_NAME);
  const { status, body } = await ada.call('GET', '/v1/destinations?state=live');
  expect([status, body.errors]).toEqual([
    422,
    [{ path: '/state', message: expect.stringContaining('this list knows') }],
  ]);
});

test('streams on air come first, each part by name, and a page goes on where the last one ended', async () => {
  const { body } = await ada.call<List>('GET', '/v1/streams?q=morning');
  const id = body.data[0]?.id ?? '';
  await api.observe(id, { phase: 'live' });
  await until('it is live', async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status === 'live');
  const expected = ['morning', ...BY_NAME.filter((name) => name !== 'morning')];
  for (const limit of [1, 4, 100]) expect(await readNames('streams', { sort: 'onAir' }, limit)).toEqual(expected);
  expect(await readNames('streams', { sort: 'onAir', q: 'n' }, 1)).toEqual([
    'morning',
    ...BY_NAME.filter((name) => name.includes('n') && name !== 'morning'),
  ]);
  const query = '{ streams(orderBy: { field: ON_AIR, direction: DESC }) { totalCount edges { node { name } } } }';
  const { streams } = (
    await ada.call<{ data: Record<string, { edges: { node: Item }[] }> }>('POST', '/graphql', { query })
  ).body.data;
  expect(streams?.edges.map(({ node }) => node.name)).toEqual(expected.toReversed());
});

test('an upload is renamed without another choice of tracks, and a choice leaves its name', async () => {
  const { body } = await ada.call<List>('GET', '/v1/uploads?q=Brunch');
  const path = `/v1/uploads/${body.data[0]?.objectID}`;
  await ada.call('PATCH', path, { tracks: { audio: 1 } });
  const renamed = await ada.call('PATCH', path, { name: 'Lunch' });
  expect(renamed.body).toMatchObject({ name: 'Lunch', tracks: { audio: 1 } });
  expect((await ada.call('PATCH', path, { tracks: {} })).body).toMatchObject({ name: 'Lunch', tracks: null });
  for (const name of ['', 'a'.repeat(201), 'two\nlines'])
    expect(await ada.call('PATCH', path, { name })).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  expect((await ada.call('PATCH', path, { name: 'Brunch' })).body.name).toBe('Brunch');
});

test('every list of the API refuses a filter that it does not have, with what it knows', async () => {
  const lists = OPERATIONS.filter(({ output, scope }) => output.kind === 'page' && scope !== PERSON);
  expect(lists.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['listTopUps', 'listInvoices', 'listLedgerEntries']),
  );
  for (const operation of lists) {
    const path = readRoute(operation).path.replaceAll(/{\w+}/g, 'none');
    const { status, body } = await ada.call('GET', `/v1${path}?sortBy=name`);
    expect([status, body.errors], operation.id).toEqual([
      422,
      [{ path: '/sortBy', message: expect.stringMatching(/^is not known; this list knows .*cursor.* limit/) }],
    ]);
  }
});

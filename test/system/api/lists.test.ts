/** Tests that every list of named things is searched and ordered the same way, through each API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/service/client/index.ts';
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
};
const NOUNS = ['streams', ...Object.keys(BODIES)];

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
    expect(await readNames(noun, { q: 'CAFE\u0301', orderBy: 'name' })).toEqual(['café', 'Café noir']);
    expect(await readNames(noun, { q: '\u{1f319}' })).toEqual([NAMES[0]]);
    expect(await readNames(noun, { q: 'nothing has this' })).toEqual([]);
  });

  test('is in the order that was asked for, over all its pages', async () => {
    expect(await readNames(noun, { orderBy: 'name' })).toEqual(BY_NAME);
    expect(await readNames(noun, { orderBy: '-name' })).toEqual(BY_NAME.toReversed());
    const oldestFirst = await readNames(noun, { orderBy: 'createdAt' });
    expect(oldestFirst).toEqual((await readNames(noun, {})).toReversed());
    expect(oldestFirst.toSorted()).toEqual(NAMES.toSorted());
  });

  test('refuses another order, and a cursor of another order', async () => {
    const refused = await ada.call('GET', `/v1/${noun}?orderBy=size`);
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_failed']);
    const { body } = await ada.call<List>('GET', `/v1/${noun}?orderBy=name&limit=1`);
    const mixed = await ada.call('GET', `/v1/${noun}?orderBy=createdAt&limit=1&cursor=${body.page.nextCursor}`);
    expect([mixed.status, mixed.body.code]).toEqual([422, 'validation_failed']);
  });

  test('is searched and ordered so by the client for programs, too', async () => {
    const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
    const list = client[noun as 'uploads'].list({ q: 'caf', orderBy: '-name' });
    const found: string[] = [];
    for await (const { name } of list) found.push(name);
    expect(found).toEqual(['Café noir', 'café']);
  });
});

test('streams on air come first, each part by name, and a page goes on where the last one ended', async () => {
  const { body } = await ada.call<List>('GET', '/v1/streams?q=morning');
  const id = body.data[0]?.id ?? '';
  await api.observe(id, { phase: 'live' });
  await until('it is live', async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status === 'live');
  const expected = ['morning', ...BY_NAME.filter((name) => name !== 'morning')];
  for (const limit of [1, 4, 100]) expect(await readNames('streams', { orderBy: 'onAir' }, limit)).toEqual(expected);
  expect(await readNames('streams', { orderBy: 'onAir', q: 'n' }, 1)).toEqual([
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

/**
 * Tests API keys that are limited by a label selector: through every door, such a key sees the objects that it selects and no others, and
 * what it makes and changes stays among them. matrix.test.ts tests which operations it may call at all.
 */
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../../src/service/server/openapi/describe.ts';
import type { Operation } from '../../../src/service/server/operations/list.ts';
import { isOpenToLimitedKeys, OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { ownPage, type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { makeStreamHelpers, type Streams } from '../../kit/make/streams.ts';
import { call } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

type Body = Record<string, unknown> & { id: string };
type Page = { data: Body[] };

const storage = tempDir();
const NEWS = { team: 'news' };
let site: TestSite;
let ada: Person;
let streams: Streams;
/** Of the key that is limited to team=news. */
let limited: Record<string, string>;

const makeKey = async (labelSelector: string) => ({
  'x-api-key': (await site.auth.createApiKey(ada.accountId, labelSelector, { labelSelector })).key,
});
const ask = <T = Body>(method: string, path: string, body?: unknown, headers = limited) =>
  call<T>(`${site.url}${path}`, method, body, headers);
const make = async (path: string, body: object, headers?: Record<string, string>): Promise<Body> => {
  const answer = await ask('POST', path, body, headers ?? { 'x-api-key': ada.key });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const callTool = async (name: string, args: object, headers = limited) => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const accept = 'application/json';
  const answer = await call<{ result: { isError?: boolean; structuredContent: Record<string, unknown> } }>(
    ...([`${site.url}/mcp`, 'POST', body, { accept, ...headers }] as const),
  );
  return answer.body.result;
};
const graph = (query: string, headers = limited) =>
  ask<{ data: Record<string, unknown>; errors?: { extensions: { code: string } }[] }>(
    ...(['POST', '/graphql', { query }, headers] as const),
  );

const BODIES: Record<string, (labels: object) => object> = {
  streams: (labels) => {
    const [destinationID, videoUploadObjectID] = [within.destinations, within.uploads];
    return streams.wish({ labels, destinationID, videoUploadObjectID });
  },
  destinations: (labels) => ({ name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456', labels }),
  playlists: (labels) => ({
    ...{ kind: 'video', mode: 'sequential', labels },
    items: [{ uploadObjectID: within.uploads }],
  }),
  scenes: (labels) => ({ name: 'Evening', layers: [{ text: 'On air' }], labels }),
  uploads: (labels) => ({ type: 'VIDEO', url: 'https://example.com/film.mp4', labels }),
};
/** In the order in which one names the other. */
const NOUNS = ['uploads', 'destinations', 'playlists', 'scenes', 'streams'];
const pathOf = (noun: string) => `/v1/${noun}${noun === 'uploads' ? '/from-link' : ''}`;
const makeOne = (noun: string, labels: object, headers?: Record<string, string>) =>
  make(pathOf(noun), BODIES[noun]?.(labels) ?? {}, headers);
/** Changes an object; some nouns want its version. */
const change = async (noun: string, id: string, changes: object, headers = limited) => {
  const { body } = await ask('GET', `/v1/${noun}/${id}`, undefined, { 'x-api-key': ada.key });
  const version = noun === 'playlists' || noun === 'scenes' ? { version: body.version } : {};
  return ask('PATCH', `/v1/${noun}/${id}`, { ...version, ...changes }, headers);
};
const idOf = ({ objectID, id }: Body): string => String(objectID ?? id);

/** Within the key's reach and beyond it, by noun. */
const within: Record<string, string> = {};
const beyond: Record<string, string> = {};

beforeAll(async () => {
  site = await startTestSite({ storageUrl: pathToFileURL(storage).href });
  ada = await site.person('ada');
  streams = await makeStreamHelpers(site, ada);
  limited = await makeKey('team=news');
  for (const noun of NOUNS) {
    within[noun] = idOf(await makeOne(noun, NEWS));
    beyond[noun] = idOf(await makeOne(noun, { team: 'sport' }));
  }
});
afterAll(() => site?.stop());

describe.each(NOUNS)('of %s, a limited key', (noun) => {
  const capital = noun.charAt(0).toUpperCase() + noun.slice(1);

  test('sees those that it selects, and lists no others', async () => {
    expect((await ask('GET', `/v1/${noun}/${within[noun]}`)).status).toBe(200);
    const { data } = (await ask<Page>('GET', `/v1/${noun}`)).body;
    expect(data.map(idOf)).toContain(within[noun]);
    expect(new Set(data.map(({ labels }) => (labels as typeof NEWS).team))).toEqual(new Set(['news']));
    expect((await ask<Page>('GET', `/v1/${noun}?label=team%3Dsport`)).body.data).toEqual([]);
    const { body } = await graph(`{ ${noun} { totalCount edges { node { id } } } }`);
    expect(body.data[noun]).toMatchObject({ totalCount: data.length });
    const listed = await callTool(`list_${noun}`, {});
    expect(JSON.stringify(listed)).toContain(within[noun]);
    expect(JSON.stringify(listed)).not.toContain(beyond[noun]);
  });

  test('does not find the others by their ids', async () => {
    const answer = await ask('GET', `/v1/${noun}/${beyond[noun]}`);
    expect([answer.status, answer.body.code]).toEqual([404, `${noun.slice(0, -1)}_not_found`]);
    const { body } = await graph(`{ node(id: "${beyond[noun]}") { id } }`);
    expect(body.data).toEqual({ node: null });
  });

  test('makes one with its label, whether it names it or not, and none without', async () => {
    for (const labels of [{}, NEWS, { ...NEWS, show: 'late' }])
      expect((await makeOne(noun, labels, limited)).labels).toEqual({ ...labels, ...NEWS });
    const other = await ask('POST', pathOf(noun), BODIES[noun]?.({ team: 'sport' }));
    expect([other.status, other.body]).toMatchObject([422, { errors: [{ path: '/labels' }] }]);
  });

  test('takes none out of its reach, and none in', async () => {
    const id = idOf(await makeOne(noun, NEWS));
    for (const labels of [{}, { team: 'sport' }]) {
      const answer = await change(noun, id, { labels });
      expect([answer.status, answer.body]).toMatchObject([422, { errors: [{ path: '/labels' }] }]);
    }
    expect((await change(noun, id, { labels: { ...NEWS, show: 'late' } })).status).toBe(200);
    const version = noun === 'playlists' || noun === 'scenes' ? 'version: 1, ' : '';
    const input = `{ ${version}labels: { team: "news" } }`;
    const taken = await graph(
      `mutation { update${capital.slice(0, -1)}(id: "${beyond[noun]}", input: ${input}) { __typename } }`,
    );
    expect(taken.body.errors?.[0]?.extensions.code).toBe(`${noun.slice(0, -1)}_not_found`);
    expect((await change(noun, beyond[noun] ?? '', { labels: NEWS })).status).toBe(404);
  });
});

const description = await describeApi();
const named = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .map(([method, { operationId }]) => ({ id: operationId as Operation, method: method.toUpperCase(), path }))
    .filter(({ id, path }) => path.includes('{id}') && OPERATION_SCOPES[id] !== null && isOpenToLimitedKeys(id)),
);

test.each(named)(
  '$method $path answers about what is beyond the key as about what is not there',
  async ({ method, path }) => {
    const noun = path.split('/')[2] ?? '';
    const fill = (id: string) => path.replace('{id}', id).replace('{version}', '1').replace('{format}', 'csv');
    const send = async (id: string) => {
      const response = await fetch(`${site.url}${fill(id)}`, { method, headers: limited });
      const text = await response.text();
      return [response.status, text.replaceAll(id, 'ID').replaceAll(/"(requestId|traceId|instance)":"[^"]*",?/g, '')];
    };
    const missing = (beyond[noun] ?? '').replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await send(beyond[noun] ?? '')).toEqual(await send(missing));
  },
);

describe('what a limited key names', () => {
  test('has to be within its reach, for streams, playlists and clones', async () => {
    const wrong = [
      ['/v1/streams', { ...BODIES.streams?.({}), destinationID: beyond.destinations }, '/destinationID'],
      ['/v1/streams', { ...BODIES.streams?.({}), videoUploadObjectID: beyond.uploads }, '/videoUploadObjectID'],
      [`/v1/streams/${within.streams}/clone`, { destinationID: beyond.destinations }, '/destinationID'],
      [
        '/v1/playlists',
        { kind: 'video', mode: 'sequential', items: [{ uploadObjectID: beyond.uploads }] },
        '/items/0/uploadObjectID',
      ],
    ] as const;
    for (const [path, body, at] of wrong) {
      const answer = await ask<{ errors: { path: string }[] }>('POST', path, body);
      expect([answer.status, answer.body.errors?.map((one) => one.path)], path).toEqual([422, [at]]);
    }
    const clone = await ask('POST', `/v1/streams/${within.streams}/clone`, { labels: { team: 'sport' } });
    expect(clone.status).toBe(422);
  });

  test('is made with its label by tus and by links, too', async () => {
    const headers = { ...limited, 'tus-resumable': '1.0.0', 'upload-length': '4' };
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const metadata = `filename ${base64('a.mp4')},type ${base64('VIDEO')}`;
    const open = `${site.url}/v1/uploads/resumable`;
    const created = await fetch(open, { method: 'POST', headers: { ...headers, 'upload-metadata': metadata } });
    expect(created.status, await created.text()).toBe(201);
    const id = created.headers.get('location')?.split('/').at(-1);
    expect((await ask('GET', `/v1/uploads/${id}`)).body.labels).toEqual(NEWS);
    const links = [{ type: 'VIDEO', url: 'https://example.com/1.mp4' }];
    const { body } = await ask<{ results: { upload?: Body }[] }>('POST', '/v1/uploads/from-links', { links });
    expect(JSON.stringify(body)).toContain('"team":"news"');
  });
});

describe('a limited key', () => {
  test('is made by a person alone, with a selector that can be read', async () => {
    const create = (labelSelector: string) =>
      ask('POST', '/v1/api-keys', { name: 'News', labelSelector }, { ...ownPage(site.url), cookie: ada.cookie });
    expect((await create('team in (news,sport)')).body).toMatchObject({ labelSelector: 'team in (news,sport)' });
    for (const selector of ['team=', '=', 'a/b=c', 'team in news', `team=${'x'.repeat(64)}`].slice(1)) {
      const answer = await create(selector);
      expect([answer.status, answer.body], selector).toMatchObject([422, { errors: [{ path: '/labelSelector' }] }]);
    }
    expect((await ask('POST', '/v1/api-keys', { name: 'More' })).body.code).toBe('person_required');
  });

  test('of several values has to be told which one a new object has', async () => {
    const both = await makeKey('team in (news,sport),!draft');
    const body = BODIES.scenes?.({}) ?? {};
    expect((await ask('POST', '/v1/scenes', body, both)).status).toBe(422);
    expect((await ask('POST', '/v1/scenes', { ...body, labels: NEWS }, both)).status).toBe(201);
    expect((await ask('POST', '/v1/scenes', { ...body, labels: { ...NEWS, draft: '1' } }, both)).status).toBe(422);
    const { data } = (await ask<Page>('GET', '/v1/scenes', undefined, both)).body;
    expect(data.map(idOf)).toEqual(expect.arrayContaining([within.scenes, beyond.scenes]));
  });

  test('loses an object whose label is taken away by another key, at once', async () => {
    const { id } = await makeOne('scenes', NEWS);
    expect((await ask('GET', `/v1/scenes/${id}`)).status).toBe(200);
    expect((await change('scenes', id, { labels: {} }, { 'x-api-key': ada.key })).status).toBe(200);
    expect((await ask('GET', `/v1/scenes/${id}`)).status).toBe(404);
  });

  test('is not given the kept answer of a key that may see more', async () => {
    const once = { 'idempotency-key': 'labels-1' };
    const body = BODIES.scenes?.({ team: 'sport' }) ?? {};
    expect((await ask('POST', '/v1/scenes', body, { ...once, 'x-api-key': ada.key })).status).toBe(201);
    expect((await ask('POST', '/v1/scenes', body, { ...once, ...limited })).body.code).toBe('idempotency_key_reused');
  });

  test('cannot delete what is used beyond its reach, and deletes nothing there', async () => {
    const upload = idOf(await makeOne('uploads', NEWS));
    const items = [{ uploadObjectID: upload }];
    await make('/v1/playlists', { kind: 'video', mode: 'sequential', items, labels: { team: 'sport' } });
    const held = await ask('DELETE', `/v1/uploads/${upload}`);
    expect([held.status, held.body]).toMatchObject([409, { playlistIDs: [] }]);
    expect(held.body.detail).toContain('1 that this API key does not reach');
    expect((await ask('DELETE', `/v1/scenes/${beyond.scenes}`)).status).toBe(404);
    expect((await ask('GET', `/v1/scenes/${beyond.scenes}`, undefined, { 'x-api-key': ada.key })).status).toBe(200);
  });
});

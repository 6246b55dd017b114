/** Tests imports from many links in one request: each link has a result, by REST and GraphQL. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UploadFromLinkResults } from '../../../src/service/domain/uploads/record.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

const link = (url: string, more = {}) => ({ type: 'VIDEO', url, ...more });
const send = (links: unknown, headers?: Record<string, string>, by: Pick<Client, 'call'> = ada) =>
  by.call<UploadFromLinkResults>('POST', '/v1/uploads/from-links', { links }, headers);
const count = async (by: Client) =>
  (await by.call<{ data: unknown[] }>('GET', '/v1/uploads?limit=100')).body.data.length;

/** The first and the third are refused. */
const MIXED = [
  link('http://10.0.0.1/inside.mp4'),
  link('https://example.com/a.mp4', { name: 'First' }),
  link('https://example.com/b.mp4', { isrc: 'nonsense' }),
  { type: 'AUDIO', url: 'https://example.com/c.mp3' },
];

describe('many links', () => {
  test('have a result each, in their order: an upload, or the reason why there is none', async () => {
    const { status, body } = await send(MIXED);
    expect(status).toBe(200);
    expect(body.data.map(({ url }) => url)).toEqual(MIXED.map(({ url }) => url));
    expect(body.data).toMatchObject([
      { upload: null, error: { code: 'link_forbidden', message: expect.any(String), fix: expect.any(String) } },
      { upload: { name: 'First', type: 'VIDEO', state: 'importing', fromLink: true }, error: null },
      { upload: null, error: { code: 'validation_failed', message: expect.stringContaining('isrc') } },
      { upload: { name: 'c.mp3', type: 'AUDIO' }, error: null },
    ]);
    for (const { upload } of body.data)
      if (upload) expect((await ada.call('GET', `/v1/uploads/${upload.objectID}`)).status).toBe(200);
  });

  test('are a hundred at most: with one more, with none and with a wrong one nothing is imported', async () => {
    const bob = await api.client('bob');
    const many = Array.from({ length: 101 }, (_, n) => link(`https://example.com/${n}.mp4`));
    for (const [links, path] of [
      [many, '/links'],
      [[], '/links'],
      ['https://example.com/a.mp4', '/links'],
      [[link('https://example.com/a.mp4'), { url: 'https://example.com/b.mp4' }], '/links/1/type'],
      [[link('https://example.com/a.mp4', { shuffle: true })], '/links/0/shuffle'],
    ] as const) {
      const { status, body } = await send(links, {}, bob);
      expect([status, body]).toMatchObject([422, { code: 'validation_failed', errors: [{ path }] }]);
    }
    expect(await count(bob)).toBe(0);
    const { body } = await send(many.slice(1), {}, bob);
    expect(body.data.filter(({ upload }) => upload)).toHaveLength(100);
    expect(new Set(body.data.map(({ upload }) => upload?.objectID)).size).toBe(100);
    expect(await count(bob)).toBe(100);
  });

  test('are imported once, however often the request is repeated', async () => {
    const eve = await api.client('eve');
    const headers = { 'idempotency-key': 'links-1' };
    const first = await send(MIXED, headers, eve);
    const again = await send(MIXED, headers, eve);
    expect(again.body).toEqual(first.body);
    expect(await count(eve)).toBe(2);
  });

  test('beyond the limit of the account have its code, and those before them an upload', async () => {
    const full = api.config.limits.full;
    const limits = { ...api.config.limits, trial: { ...full, linkImports: 2 }, full: { ...full, linkImports: 2 } };
    const small = await api.replica({ limits });
    const mia = await api.client('mia');
    const links = ['a', 'b', 'c'].map((name) => link(`https://example.com/${name}.mp4`));
    const { body } = await call<UploadFromLinkResults>(
      ...([`${small.url}/v1/uploads/from-links`, 'POST', { links }, { 'x-api-key': mia.key }] as const),
    );
    expect(body.data.map(({ upload, error }) => error?.code ?? upload?.state)).toEqual([
      'importing',
      'importing',
      expect.stringContaining('quota_exceeded'),
    ]);
  });

  test('come by GraphQL alike', async () => {
    const query = `mutation($input: UploadsFromLinksInput!) { createUploadsFromLinks(input: $input) {
      results { data { url upload { id name } error { code } } } } }`;
    const { body } = await ada.call<{ data: { createUploadsFromLinks: { results: UploadFromLinkResults } } }>(
      ...(['POST', '/graphql', { query, variables: { input: { links: MIXED } } }] as const),
    );
    const outcome = [
      { error: { code: 'link_forbidden' } },
      { upload: { name: 'First' } },
      { upload: null },
      { error: null },
    ];
    expect(body.data.createUploadsFromLinks.results.data).toMatchObject(outcome);
  });
});

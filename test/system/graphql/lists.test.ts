import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

const STREAMS = 60;

let api: TestApi;
let ada: Client;
let eve: Client;
let ask: ReturnType<typeof createQuery>;
/** The ids of the streams, oldest first; their names are `Stream 00` and so on. */
const ids: string[] = [];
let destinationID: string;
let videoUploadObjectID: string;
let playlistID: string;

async function make(path: string, body: unknown): Promise<string> {
  const { status, body: made } = await ada.call<Record<string, string>>('POST', path, body);
  expect(status, JSON.stringify(made)).toBe(201);
  return made.id ?? made.objectID ?? '';
}
const makeStream = (name: string) =>
  make('/v1/streams', { name, quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID });

beforeAll(async () => {
  api = await startTestApi();
  [ada, eve] = await Promise.all([api.client('ada'), api.client('eve')]);
  ask = createQuery(ada);
  destinationID = await make('/v1/destinations', { name: 'b', rtmpUrl: 'rtmp://a.example.com/x', rtmpKey: 'abcd1234' });
  videoUploadObjectID = await make('/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/a.mp4' });
  playlistID = await make('/v1/playlists', {
    kind: 'video',
    mode: 'shuffle',
    items: [{ uploadObjectID: videoUploadObjectID }],
  });
  for (let i = 0; i < STREAMS; i += 1) ids.push(await makeStream(`Stream ${String(i).padStart(2, '0')}`));
});
afterAll(() => api?.stop());

interface Page {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
  edges: { cursor: string; node: { id: string; name: string } }[];
}

const QUERY = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor, $where: StreamWhereInput, $orderBy: StreamOrder) {
  streams(first: $first, after: $after, last: $last, before: $before, where: $where, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id name } } } }`;
async function page(args: Record<string, unknown>): Promise<Page> {
  const { data, errors } = await ask(QUERY, args);
  expect(errors).toBeUndefined();
  return data?.streams as Page;
}
const getNames = ({ edges }: Page) => edges.map(({ node }) => node.name);

describe('lists', () => {
  const byName = { field: 'NAME', direction: 'ASC' };

  test('are as REST has them, newest first, and by name in either direction', async () => {
    const rest = await ada.call<{ data: { id: string }[] }>('GET', '/v1/streams?limit=10');
    expect((await page({ first: 10 })).edges.map(({ node }) => node.id)).toEqual(rest.body.data.map(({ id }) => id));
    const first = await page({ first: 2, orderBy: byName });
    expect([first.totalCount, getNames(first)]).toEqual([STREAMS, ['Stream 00', 'Stream 01']]);
    const next = await page({ first: 2, after: first.pageInfo.endCursor, orderBy: byName });
    expect([getNames(next), next.pageInfo.hasPreviousPage]).toEqual([['Stream 02', 'Stream 03'], true]);
    const back = await page({ last: 2, before: next.pageInfo.startCursor, orderBy: byName });
    expect([getNames(back), back.pageInfo.hasPreviousPage]).toEqual([['Stream 00', 'Stream 01'], false]);
    const end = await page({ last: 1, orderBy: { field: 'NAME', direction: 'DESC' } });
    expect([getNames(end), end.pageInfo.hasNextPage, end.pageInfo.hasPreviousPage]).toEqual([
      ['Stream 00'],
      false,
      true,
    ]);
    const wrong = await ask(QUERY, { after: first.pageInfo.endCursor });
    expect(wrong.errors?.[0]?.extensions.errors).toMatchObject([{ path: '/after' }]);
  });

  test('a cursor stays right when its row is deleted and others come', async () => {
    const before = await page({ first: 3, orderBy: byName });
    const [gone, extra] = [await makeStream('Stream 02a'), await makeStream('Stream 00a')];
    const at = await page({ first: 100, orderBy: byName });
    const cursor = at.edges.find(({ node }) => node.id === gone)?.cursor;
    await ada.call('DELETE', `/v1/streams/${gone}`);
    const after = await page({ first: 2, after: cursor, orderBy: byName });
    expect(getNames(after)).toEqual(['Stream 03', 'Stream 04']);
    expect(getNames(await page({ last: 2, before: cursor, orderBy: byName }))).toEqual(['Stream 01', 'Stream 02']);
    expect(getNames(before)).toEqual(['Stream 00', 'Stream 01', 'Stream 02']);
    await ada.call('DELETE', `/v1/streams/${extra}`);
  });

  test.each([
    [{ name: { contains: 'STREAM 1' }, state: { eq: 'idle' } }, 10],
    [{ or: [{ name: { eq: 'Stream 07' } }, { name: { eq: 'Stream 09' } }] }, 2],
    [{ not: { name: { contains: 'stream' } } }, 0],
    [{ createdAt: { lt: '2020-01-01T00:00:00Z' } }, 0],
    [{ quality: { in: ['q_720p'] }, framerate: { eq: 'f_30' }, scheduleStartAt: { isNull: true } }, STREAMS],
  ])('%j finds %i, and totalCount says so', async (where, count) => {
    const { totalCount, edges } = await page({ where, first: 100 });
    expect([totalCount, edges.length]).toEqual([count, count]);
  });

  test('every other list can be filtered and ordered too', async () => {
    const order = 'orderBy: { field: NAME }';
    const { data, errors } = await ask(`{
      destinations(${order}, where: { rtmpUrl: { contains: "example" } }) { totalCount edges { node { id } } }
      uploads(${order}, where: { type: { eq: VIDEO }, sizeBytes: { isNull: true } }) { totalCount edges { node { id } } }
      playlists(${order}, where: { mode: { eq: shuffle } }) { totalCount edges { node { id items { uploadObjectID } } } }
      none: playlists(where: { kind: { eq: audio } }) { totalCount edges { node { id } } } }`);
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({
      destinations: { totalCount: 1, edges: [{ node: { id: destinationID } }] },
      uploads: { totalCount: 1, edges: [{ node: { id: videoUploadObjectID } }] },
      playlists: { edges: [{ node: { id: playlistID, items: [{ uploadObjectID: videoUploadObjectID }] } }] },
      none: { totalCount: 0, edges: [] },
    });
  });
});

describe('one thing by its id', () => {
  test('node finds every kind, and nothing of another account', async () => {
    const query =
      'query($id: ID!) { node(id: $id) { __typename id ... on Stream { state } ... on Playlist { version } } }';
    const readNode = async (id: string, client = ada) => (await createQuery(client)(query, { id })).data?.node;
    const stream = ids[0] ?? '';
    for (const [id, __typename] of [
      [stream, 'Stream'],
      [destinationID, 'Destination'],
      [videoUploadObjectID, 'Upload'],
      [playlistID, 'Playlist'],
      [ada.accountId, 'User'],
    ] as const) {
      expect(await readNode(id)).toMatchObject({ __typename, id });
      expect(await readNode(id, eve)).toBeNull();
    }
    expect(await readNode('nothing')).toBeNull();
    const byKubectl = {
      apiVersion: 'loopstream.dev/v1beta1',
      kind: 'LoopStream',
      metadata: { name: 'dst-by-hand', namespace: NAMESPACE, labels: { 'loopstream.dev/account': eve.accountId } },
      spec: { uploadName: 'some', destinationNames: ['some'] },
    };
    await api.kube.create(LOOPSTREAMS, NAMESPACE, byKubectl as never);
    await expect.poll(() => readNode('dst-by-hand', eve)).toMatchObject({ __typename: 'Stream', id: 'dst-by-hand' });
  });

  test('each noun and the events of a stream; an unreadable one is null with its code, and hides nothing else', async () => {
    const [stream, other] = [ids[1], ids[2]];
    const { data, errors } = await ask(`{
      stream(id: "${stream}") { name } playlist(id: "${playlistID}") { version } upload(id: "${videoUploadObjectID}") { type }
      destination(id: "none") { id } streamEvents(id: "${other}", last: 5) { totalCount edges { node { reason } } } }`);
    expect(data).toMatchObject({
      stream: { name: 'Stream 01' },
      playlist: { version: 1 },
      upload: { type: 'VIDEO' },
      destination: null,
      streamEvents: { totalCount: 0, edges: [] },
    });
    expect(errors).toMatchObject([{ path: ['destination'], extensions: { code: 'destination_not_found' } }]);
  });
});

describe('the cost of a query', () => {
  /** Counts the requests to Kubernetes so far. */
  async function requests(): Promise<number> {
    const { body } = await call<string>(`${api.opsUrl}/metrics`, 'GET');
    const counts = [...body.matchAll(/^rest_client_requests_total\{.*\} (\d+)$/gm)];
    expect(counts.length).toBeGreaterThan(0);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test('fifty streams with their readiness send no request to Kubernetes, and do not wait one after another', async () => {
    for (const id of ids.slice(10)) await api.observe(id, { phase: 'idle' });
    const query = `{ streams(first: 50) { edges { node {
      id name state readiness { ready issues { code } } destinationIDs nextStartAt } } } }`;
    type Listed = { edges: { node: { readiness: { ready: boolean } } }[] };
    const ready = async () => {
      const listed = (await ask(query)).data?.streams as Listed | undefined;
      return listed?.edges.filter(({ node }) => node.readiness.ready).length;
    };
    await expect.poll(ready).toBe(50);
    const before = await requests();
    const since = performance.now();
    for (let i = 0; i < 20; i += 1) expect(await ready()).toBe(50);
    const seconds = (performance.now() - since) / 1_000;
    // Each of five watches is a request and ends by itself every five seconds; a request for each stream would be a thousand.
    expect((await requests()) - before).toBeLessThan(20 + 5 * seconds);
  });
});

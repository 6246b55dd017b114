/** Tests lists with orders of their own: the events of a stream, and the versions of a playlist. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENTS } from '../../../src/core/kube/core.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type List, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';

const VERSIONS = 5;
/** The events in the order of their last time; `first` is their first time. */
const STORY = [
  { reason: 'Starting', type: 'Normal', first: 1, last: 2, count: 2 },
  { reason: 'Live', type: 'Normal', first: 3, last: 4, count: 1 },
  { reason: 'Reconnecting', type: 'Warning', first: 0, last: 9, count: 12 },
];

let started: StreamsApi;
let ask: ReturnType<typeof createQuery>;
let stream: string;
let playlist: string;
beforeAll(async () => {
  started = await startStreamsApi();
  const { api, ada, create, videoList } = started;
  ask = createQuery(ada);
  stream = (await create()).id;
  playlist = videoList;
  const { metadata, apiVersion, kind } = await api.kube.get(LOOPSTREAMS, NAMESPACE, stream);
  const at = (second: number) => `2031-02-03T04:05:0${second}Z`;
  for (const { reason, type, first, last, count } of STORY)
    await api.kube.create(EVENTS, NAMESPACE, {
      metadata: { name: `${stream}.${reason.toLowerCase()}`, namespace: NAMESPACE },
      involvedObject: { apiVersion, kind, namespace: NAMESPACE, name: stream, uid: metadata.uid },
      type,
      reason,
      message: `It is ${reason}.`,
      count,
      firstTimestamp: at(first),
      lastTimestamp: at(last),
    } as never);
  for (let version = 1; version < VERSIONS; version += 1) {
    const mode = version % 2 ? 'shuffle' : 'sequential';
    expect((await ada.call('PATCH', `/v1/playlists/${playlist}`, { version, mode })).status).toBe(200);
  }
});
afterAll(() => started?.api.stop());

interface Page {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
  edges: { node: { reason: string; version: number } }[];
}
const page = async (field: string, id: string, args: string, shown: string): Promise<Page> => {
  const { data, errors } = await ask(`{ it: ${field}(id: "${id}"${args && `, ${args}`}) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { ${shown} } } } }`);
  expect(errors).toBeUndefined();
  return data?.it as Page;
};

describe('the events of a stream', () => {
  const events = (args = '') => page('streamEvents', stream, args, 'reason');
  const reasons = async (args?: string) => (await events(args)).edges.map(({ node }) => node.reason);
  const order = (field: string, direction: string) => `orderBy: { field: ${field}, direction: ${direction} }`;

  test('come in the order of REST, or in the requested order', async () => {
    const rest = await started.ada.call<List>('GET', `/v1/streams/${stream}/events`);
    expect(await reasons()).toEqual(rest.body.data.map(({ reason }) => reason));
    expect(await reasons()).toEqual(['Reconnecting', 'Live', 'Starting']);
    expect(await reasons(order('TIME', 'ASC'))).toEqual(['Starting', 'Live', 'Reconnecting']);
    expect(await reasons(order('CREATED_AT', 'ASC'))).toEqual(['Reconnecting', 'Starting', 'Live']);
    expect(await reasons(order('COUNT', 'DESC'))).toEqual(['Reconnecting', 'Starting', 'Live']);
  });

  test.each([
    ['type: { eq: "Warning" }', ['Reconnecting']],
    ['reason: { in: ["Live", "Starting"] }', ['Live', 'Starting']],
    ['message: { contains: "LIVE" }', ['Live']],
    ['count: { gt: 1 }, not: { type: { eq: "Warning" } }', ['Starting']],
    ['time: { gte: "2031-02-03T04:05:04Z" }', ['Reconnecting', 'Live']],
    ['or: [{ createdAt: { lt: "2031-02-03T04:05:01Z" } }, { count: { eq: 1 } }]', ['Reconnecting', 'Live']],
  ])('where { %s } finds %j, and totalCount says so', async (where, found) => {
    const { totalCount, edges } = await events(`where: { ${where} }`);
    expect([totalCount, edges.map(({ node }) => node.reason)]).toEqual([found.length, found]);
  });

  test('are paged in that order, and a cursor of another order is refused', async () => {
    const byCount = order('COUNT', 'ASC');
    const first = await events(`first: 1, ${byCount}`);
    expect(first.edges.map(({ node }) => node.reason)).toEqual(['Live']);
    const after = `after: "${first.pageInfo.endCursor}"`;
    expect(await reasons(`first: 1, ${after}, ${byCount}`)).toEqual(['Starting']);
    expect(await reasons(`last: 1, ${byCount}`)).toEqual(['Reconnecting']);
    const { errors } = await ask(`{ streamEvents(id: "${stream}", ${after}) { totalCount } }`);
    expect(errors?.[0]?.extensions.errors).toMatchObject([{ path: '/after' }]);
    const rest = await started.ada.call<List>('GET', `/v1/streams/${stream}/events?limit=2`);
    const next = `/v1/streams/${stream}/events?cursor=${rest.body.page.nextCursor}`;
    const { data } = (await started.ada.call<List>('GET', next)).body;
    expect(data.map(({ reason }) => reason)).toEqual(['Starting']);
  });
});

describe('the versions of a playlist', () => {
  const versions = async (args = '') =>
    (await page('playlistVersions', playlist, args, 'version')).edges.map(({ node }) => node.version);

  test.each([
    ['', [5, 4, 3, 2, 1]],
    ['orderBy: { field: VERSION }', [1, 2, 3, 4, 5]],
    ['orderBy: { field: CREATED_AT, direction: DESC }, first: 2', [5, 4]],
    ['where: { mode: { eq: shuffle } }', [4, 2]],
    ['where: { published: { eq: true } }', [1]],
    ['where: { version: { gte: 2, lt: 4 }, itemCount: { eq: 1 } }, orderBy: { field: VERSION }', [2, 3]],
    ['where: { createdAt: { lt: "2020-01-01T00:00:00Z" } }', []],
    ['last: 2, where: { not: { version: { eq: 1 } } }', [3, 2]],
  ])('%s: %j', async (args, expected) => {
    expect(await versions(args)).toEqual(expected);
  });

  test('go on behind a cursor, also when a version is made meanwhile', async () => {
    const { pageInfo } = await page('playlistVersions', playlist, 'first: 2', 'version');
    const made = await started.ada.call('PATCH', `/v1/playlists/${playlist}`, { version: VERSIONS, name: 'Later' });
    expect(made.status).toBe(200);
    expect(await versions(`after: "${pageInfo.endCursor}", first: 2`)).toEqual([3, 2]);
  });
});

/** The contract's section "GraphQL surface", sentence by sentence, over HTTP alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/api.ts';
import { openTarget, type Target } from '../support/contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what the other side says they are.
type Body = any;

let target: Target;
const names = ['One', 'Two', 'Three'];

beforeAll(async () => {
  target = await openTarget();
  const post = async (path: string, body: unknown): Promise<Body> =>
    (await call<Body>(`${target.base}${path}`, 'POST', body, { 'x-api-key': target.key })).body;
  const rtmp = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'a-key-of-a-test' };
  const { id: destinationID } = await post('/destinations', rtmp);
  const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
  const { objectID: videoUploadObjectID } = await post('/uploads/from-link', link);
  const rest = { quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID };
  for (const name of names) await post('/streams', { name, ...rest });
});

afterAll(() => target?.stop());

const query = (text: string, variables: object = {}, headers: Record<string, string> = { 'x-api-key': target.key }) =>
  call<Body>(target.graphql, 'POST', { query: text, variables }, headers);

test('authentication is the same as in REST: with the key, and not without', async () => {
  expect((await query('{ me { id } }')).body.data.me.id).toEqual(expect.any(String));
  const { body } = await query('{ me { id } }', {}, {});
  expect(JSON.stringify(body)).toContain('unauthenticated');
});

test('me is the current user: id, email, firstName, the same as in REST', async () => {
  const { body: user } = await call<Body>(`${target.base}/me`, 'GET', undefined, { 'x-api-key': target.key });
  const { id, email, firstName } = user;
  expect((await query('{ me { id email firstName } }')).body.data).toEqual({ me: { id, email, firstName } });
});

test('introspection is enabled; Cursor is a scalar; lists take where and orderBy', async () => {
  const { body } = await query(
    '{ __schema { types { kind name } } __type(name: "Query") { fields { name args { name type { name } } } } }',
  );
  expect(body.data.__schema.types).toContainEqual({ kind: 'SCALAR', name: 'Cursor' });
  const { args } = body.data.__type.fields.find(({ name }: Body) => name === 'streams');
  expect(args.map(({ name }: Body) => name)).toEqual(expect.arrayContaining(['first', 'after', 'where', 'orderBy']));
  expect(args).toContainEqual({ name: 'where', type: { name: 'StreamWhereInput' } });
});

test('lists are Relay connections: first and after; totalCount, pageInfo, edges with node', async () => {
  const page = `query ($after: Cursor) { streams(first: 2, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id name state createdAt } } } }`;
  const first = (await query(page)).body.data.streams;
  expect(first).toMatchObject({ totalCount: names.length, pageInfo: { hasNextPage: true } });
  const second = (await query(page, { after: first.pageInfo.endCursor })).body.data.streams;
  expect(second.pageInfo.hasNextPage).toBe(false);
  const nodes = [...first.edges, ...second.edges].map(({ node }: Body) => node);
  expect(nodes.map(({ name }: Body) => name).sort()).toEqual([...names].sort());
  for (const node of nodes) expect(node).toMatchObject({ state: expect.any(String), createdAt: expect.any(String) });
});

test('REST lists are the same connections, flattened into data and page', async () => {
  const { body } = await call<Body>(`${target.base}/streams`, 'GET', undefined, { 'x-api-key': target.key });
  const { edges } = (await query('{ streams(first: 20) { edges { node { id } } } }')).body.data.streams;
  expect(edges.map(({ node }: Body) => node.id)).toEqual(body.data.map(({ id }: Body) => id));
});

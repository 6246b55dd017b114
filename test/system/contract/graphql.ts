/** Registers the contract's section "GraphQL surface", sentence by sentence, over HTTP alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../../kit/system/api.ts';
import type { Place } from '../../kit/system/contract.ts';
import { type Body, openScene, type Scene } from './scene.ts';

type Query = (text: string, variables?: object, headers?: Record<string, string>) => Promise<{ body: Body }>;

export function graphqlSuite(place: Place): void {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(place);
  });
  afterAll(() => scene?.target.stop());
  const query: Query = (text, variables = {}, headers = { 'x-api-key': scene.target.key }) =>
    call<Body>(scene.target.graphql, 'POST', { query: text, variables }, headers);

  describe('GraphQL surface', () => {
    surface(() => scene, query);
    lists(() => scene, query);
  });
}

function surface(scene: () => Scene, query: Query): void {
  test('POST, application/json, a body with a query string', async () => {
    const { target } = scene();
    const key = { 'x-api-key': target.key };
    const good = await call<Body>(target.graphql, 'POST', { query: '{ me { id } }' }, key);
    expect(good).toMatchObject({ status: 200, body: { data: { me: { id: expect.any(String) } } } });
    expect(good.headers.get('content-type')).toMatch(/json/);
    for (const wrong of [{}, { query: 5 }, { query: '{ nothing }' }, { query: '{' }]) {
      const { body } = await call<Body>(target.graphql, 'POST', wrong, key);
      expect(body.data ?? null).toBeNull();
      expect(body.errors.length).toBeGreaterThan(0);
    }
  });

  test('authentication is the same as in REST: with the key, and not without or with a wrong one', async () => {
    expect((await query('{ me { id } }')).body.data.me.id).toEqual(expect.any(String));
    for (const headers of [{}, { 'x-api-key': scene().target.revokedKey }, { authorization: 'Bearer a.b.c' }]) {
      const { body } = await query('{ me { id } }', {}, headers as Record<string, string>);
      expect(body.data?.me ?? null).toBeNull();
      expect(JSON.stringify(body)).toContain('unauthenticated');
    }
  });

  test('me is the current user: id, email, firstName, the same as in REST', async () => {
    const { id, email, firstName } = (await scene().ask('GET', '/me')).body;
    expect((await query('{ me { id email firstName } }')).body.data).toEqual({ me: { id, email, firstName } });
  });

  test('introspection is enabled; Cursor is a scalar, and the type of `after`; lists take where and orderBy', async () => {
    const { body } = await query(
      '{ __schema { types { kind name } } __type(name: "Query") { fields { name args { name type { kind name } } } } }',
    );
    expect(body.data.__schema.types).toContainEqual({ kind: 'SCALAR', name: 'Cursor' });
    for (const [list, noun] of Object.entries({ streams: 'Stream', playlists: 'Playlist' })) {
      const { args } = body.data.__type.fields.find(({ name }: Body) => name === list);
      const types = Object.fromEntries(args.map(({ name, type }: Body) => [name, type]));
      expect(types).toMatchObject({
        first: { kind: 'SCALAR', name: 'Int' },
        after: { kind: 'SCALAR', name: 'Cursor' },
        where: { kind: 'INPUT_OBJECT', name: `${noun}WhereInput` },
      });
      expect(types.orderBy).toBeDefined();
    }
  });
}

const PAGE = `query ($first: Int, $after: Cursor, $where: StreamWhereInput, $orderBy: StreamOrder) {
  streams(first: $first, after: $after, where: $where, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id name state createdAt } } } }`;
const NAMES = ['One', 'Two', 'Three'];

function lists(scene: () => Scene, query: Query): void {
  const streams = async (variables: object): Promise<Body> => {
    const { body } = await query(PAGE, variables);
    expect(body.errors).toBeUndefined();
    return body.data.streams;
  };
  const named = ({ edges }: Body): string[] => edges.map(({ node }: Body) => node.name);

  test('lists are Relay connections: first and after; totalCount, pageInfo, edges with node', async () => {
    const first = await streams({ first: 2 });
    expect(first).toMatchObject({ totalCount: NAMES.length, pageInfo: { hasNextPage: true } });
    expect(first.edges).toHaveLength(2);
    const second = await streams({ first: 2, after: first.pageInfo.endCursor });
    expect(second).toMatchObject({ totalCount: NAMES.length, pageInfo: { hasNextPage: false } });
    expect([...named(first), ...named(second)].sort()).toEqual([...NAMES].sort());
    const { body } = await query(PAGE, { first: 2, after: 'nonsense' });
    expect(body.errors.length).toBeGreaterThan(0);
  });

  test('a stream exposes id, name, state and createdAt, which say the same as in REST', async () => {
    for (const { node } of (await streams({})).edges) {
      const { body } = await scene().ask('GET', `/streams/${node.id}`);
      expect(node).toEqual({ id: body.id, name: body.name, state: body.status, createdAt: body.createdAt });
    }
  });

  test('where: only matching rows are listed and counted, page after page', async () => {
    for (const [where, expected] of [
      [{ name: { eq: 'Two' } }, ['Two']],
      [{ name: { contains: 'T' } }, ['Three', 'Two']],
      [{ or: [{ name: { eq: 'One' } }, { name: { eq: 'Two' } }] }, ['One', 'Two']],
      [{ not: { name: { eq: 'One' } } }, ['Three', 'Two']],
      [{ name: { eq: 'Four' } }, []],
    ] as [object, string[]][]) {
      const found = await streams({ where });
      expect({ where, names: named(found).sort(), count: found.totalCount }).toEqual({
        where,
        names: expected,
        count: expected.length,
      });
    }
    const where = { name: { contains: 'T' } };
    const first = await streams({ where, first: 1 });
    const second = await streams({ where, first: 1, after: first.pageInfo.endCursor });
    expect([...named(first), ...named(second)].sort()).toEqual(['Three', 'Two']);
    expect(second.pageInfo.hasNextPage).toBe(false);
  });

  test('orderBy: in that order, in either direction, page after page', async () => {
    const ascending = ['One', 'Three', 'Two'];
    for (const [direction, expected] of [
      ['ASC', ascending],
      ['DESC', ascending.toReversed()],
    ] as const) {
      const orderBy = { field: 'NAME', direction };
      expect(named(await streams({ orderBy }))).toEqual(expected);
      const first = await streams({ orderBy, first: 2 });
      const second = await streams({ orderBy, first: 2, after: first.pageInfo.endCursor });
      expect([...named(first), ...named(second)]).toEqual(expected);
    }
  });

  test('REST lists are the same connections, flattened into data and page', async () => {
    const rest = (await scene().ask('GET', '/streams?limit=2')).body;
    const { edges, pageInfo } = await streams({ first: 2 });
    expect(edges.map(({ node }: Body) => node.id)).toEqual(rest.data.map(({ id }: Body) => id));
    expect(rest.page).toEqual({ hasMore: pageInfo.hasNextPage, nextCursor: pageInfo.endCursor });
  });

  test('an unknown where or orderBy is refused', async () => {
    for (const variables of [{ where: { colour: { eq: 'red' } } }, { orderBy: { field: 'COLOUR' } }]) {
      const { body } = await query(PAGE, variables);
      expect(body.data ?? null).toBeNull();
      expect(body.errors.length).toBeGreaterThan(0);
    }
  });
}

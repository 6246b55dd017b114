/**
 * Tests the permissions of every operation of REST and every root field of GraphQL, with each kind of credential,
 * against the table of server/operations/scopes.ts. The requested objects do not exist, so that permitted requests find nothing.
 */
import { pathToFileURL } from 'node:url';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { type AccountEvent, NO_DATA } from '../../../src/service/domain/events/record.ts';
import { tell } from '../../../src/service/domain/events/store.ts';
import { PERSON, SCOPES, type Scope } from '../../../src/service/lib/scopes.ts';
import { schemaDocument } from '../../../src/service/server/graphql/schema.ts';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { describeApi } from '../../../src/service/server/openapi/describe.ts';
import type { Operation } from '../../../src/service/server/operations/list.ts';
import { isOpenToLimitedKeys, isOperation, OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { makeEndpoint } from '../../kit/make/endpoints.ts';
import { ownPage, type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { openForge } from '../../kit/make/oauth-forge.ts';
import { makeStreamHelpers } from '../../kit/make/streams.ts';
import { call } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

type Headers = Record<string, string>;
interface Credential {
  name: string;
  headers: Headers;
  /** The credential's scopes; undefined for an invalid one. */
  scopes?: readonly (Scope | typeof PERSON)[];
  /** It is limited to objects with certain labels. */
  isLimited?: true;
  /** The code for an invalid one. */
  refusal?: string;
}

const storage = tempDir();
let site: TestSite;
let db: Db;
let ada: Person;
let credentials: Credential[];

/** The name of a type of events in GraphQL. */
const toName = (type: string): string => type.replace('.', '_').toUpperCase();
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const named = (scopes: readonly Scope[]) => scopes.map((scope) => `service:${scope}`).join(' ');

beforeAll(async () => {
  site = await startTestSite({ storageUrl: pathToFileURL(storage).href });
  db = createDb(createPool(site.databaseUrl, { searchPath: 'loopstream' }));
  ada = await site.person('ada');
  const token = async (...scopes: Scope[]): Promise<Credential> => ({
    name: `a token with ${named(scopes)}`,
    headers: bearer(await site.token('ada', named(scopes))),
    scopes,
  });
  const all = await token(...SCOPES);
  const forge = await openForge(site, String(all.headers.authorization).split(' ')[1] ?? '');
  const key = async (...scopes: Scope[]): Promise<Credential> => ({
    name: `a key with ${scopes}`,
    headers: { 'x-api-key': (await site.auth.createApiKey(ada.accountId, String(scopes), { scopes })).key },
    scopes,
  });
  const keep = async (apiKey: string): Promise<string> => {
    const headers = { ...ownPage(site.url), 'x-api-key': apiKey };
    const { headers: answered } = await fetch(`${site.url}/api/auth/key-session`, { method: 'POST', headers });
    return answered.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  };
  const limited = async (...scopes: Scope[]): Promise<Credential> => ({
    name: `a key with ${scopes}, limited by labels`,
    headers: {
      'x-api-key': (await site.auth.createApiKey(ada.accountId, 'limited', { scopes, labelSelector: 'team=news' })).key,
    },
    scopes,
    isLimited: true,
  });
  const expired = await site.auth.createApiKey(ada.accountId, 'expired', { expiresInSeconds: -1 });
  const toRead = await key('read');
  const revoked = await site.auth.createApiKey(ada.accountId, 'revoked');
  await site.auth.revokeApiKey(revoked.id);
  const out = Math.floor(Date.now() / 1000) - 3600;
  credentials = [
    { name: 'nothing', headers: {} },
    ...(await Promise.all(SCOPES.map((scope) => token(scope)))),
    all,
    { name: 'a key', headers: { 'x-api-key': ada.key }, scopes: SCOPES },
    { name: 'a key as a Bearer credential', headers: bearer(ada.key), scopes: SCOPES },
    toRead,
    ...(await Promise.all(SCOPES.slice(1).map((scope) => key(scope)))),
    await key('read', 'write'),
    await limited(...SCOPES),
    await limited('read'),
    {
      name: 'a key to read as a Bearer credential',
      headers: bearer(toRead.headers['x-api-key'] ?? ''),
      scopes: ['read'],
    },
    {
      name: 'a key to read, kept by a browser',
      headers: { cookie: await keep(toRead.headers['x-api-key'] ?? ''), origin: site.url },
      scopes: ['read'],
    },
    { name: 'a key that has expired', headers: { 'x-api-key': expired.key }, refusal: 'api_key_expired' },
    { name: 'an expired key as a Bearer credential', headers: bearer(expired.key), refusal: 'api_key_expired' },
    { name: 'a session', headers: { cookie: ada.cookie, origin: site.url }, scopes: [...SCOPES, PERSON] },
    { name: 'a token that has expired', headers: bearer(await forge.sign({ iat: out - 900, exp: out })) },
    { name: 'a token without scopes', headers: bearer(await forge.sign({ scope: 'openid' })), scopes: [] },
    { name: 'a key that was revoked', headers: { 'x-api-key': revoked.key } },
    { name: 'a revoked key as a Bearer credential', headers: bearer(revoked.key) },
    { name: 'a session that never was', headers: { cookie: 'loopstream.session=none.none', origin: site.url } },
  ];
});

afterAll(async () => {
  await db?.destroy();
  await site?.stop();
});

/** Returns the answer that the table demands for a credential. */
function expected(operation: Operation, { scopes, isLimited, refusal = 'unauthenticated' }: Credential): string {
  const needed: Scope | typeof PERSON | null = OPERATION_SCOPES[operation];
  if (needed === null) return 'let in';
  if (scopes === undefined) return refusal;
  if (isLimited && needed !== PERSON && !isOpenToLimitedKeys(operation)) return 'key_limited';
  if (scopes.includes(needed)) return 'let in';
  return needed === PERSON ? 'person_required' : 'insufficient_scope';
}

const description = await describeApi();
const routes = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId }]) => ({ id: operationId as Operation, method, path })),
);
const fillPath = (path: string, id = 'none-1') => path.replace('{version}', '1').replaceAll(/\{\w+\}/g, id);

const OPEN: Operation[] = [
  'getOpenApi',
  'getPublicNow',
  'getResumableUploadOptions',
  'getSignInOptions',
  'getStatus',
  'getUptimeBadge',
  'receiveStripeEvent',
];

/** Only the first part of an answer is read: some answers never end. */
async function ask(method: string, path: string, headers: Headers): Promise<{ status: number; code: string }> {
  const aborting = new AbortController();
  const init = { method: method.toUpperCase(), headers, signal: aborting.signal };
  const answer = await fetch(`${site.url}${path}`, init);
  const isProblem = answer.headers.get('content-type')?.includes('problem+json') && method !== 'head';
  const code = isProblem ? ((await answer.json()) as { code: string }).code : '';
  aborting.abort();
  return { status: answer.status, code };
}

describe('every operation of REST', () => {
  test('is one of the table, and the other way round', () => {
    expect(routes.map(({ id }) => id).sort()).toEqual(Object.keys(OPERATION_SCOPES).sort());
  });

  test('needs a scope or a person, but for those that are open on purpose', () => {
    const scopes: readonly unknown[] = [...SCOPES, PERSON];
    const open = Object.entries(OPERATION_SCOPES).filter(([, scope]) => !scopes.includes(scope));
    expect(open.map(([id]) => id).sort()).toEqual(OPEN);
  });

  test('that is not on an object with labels is closed to keys that are limited by labels', () => {
    const open = routes.filter(({ id }) => OPERATION_SCOPES[id] !== null && isOpenToLimitedKeys(id));
    const nouns = new Set(open.map(({ path }) => path.split('/')[2]));
    expect([...nouns].sort()).toEqual(['destinations', 'me', 'playlists', 'scenes', 'streams', 'uploads']);
  });

  test.each(routes)('$method $path lets in whom the table says', async ({ id, method, path }) => {
    const found: [string, string][] = [];
    const wanted: [string, string][] = [];
    for (const credential of credentials) {
      const { status, code } = await ask(method, fillPath(path), credential.headers);
      const refused = status === 401 || status === 403;
      // An answer to HEAD has no body with a code.
      const codeOfStatus = status === 401 ? (credential.refusal ?? 'unauthenticated') : expected(id, credential);
      found.push([credential.name, refused ? code || codeOfStatus : 'let in']);
      wanted.push([credential.name, expected(id, credential)]);
    }
    expect(found).toEqual(wanted);
  });
});

describe('objects of another account', () => {
  const OF: Record<string, string> = {
    streams: 'stream',
    destinations: 'destination',
    uploads: 'upload',
    playlists: 'playlist',
    scenes: 'scene',
    endpoints: 'endpoint',
  };

  test('do not exist, for every operation that names them', async () => {
    const streams = await makeStreamHelpers(site, ada);
    const create = async (path: string, body: unknown) => String((await ada.call('POST', path, body)).body.id);
    const items = [{ uploadObjectID: streams.videoUploadObjectID }];
    const ids: Record<string, string> = {
      stream: await create('/v1/streams', streams.wish()),
      destination: streams.destinationID,
      upload: streams.videoUploadObjectID,
      playlist: await create('/v1/playlists', { kind: 'video', mode: 'sequential', items }),
      scene: await create('/v1/scenes', { name: 'Evening', layers: [{ text: 'On air' }] }),
      endpoint: await makeEndpoint(db, ada.accountId, 'hers'),
    };
    const eve = bearer(await site.token('eve', named(SCOPES)));
    const asked = routes.filter(
      ({ path }) => path.includes('{id}') && OF[path.split('/')[2] ?? ''] && !path.includes('resumable'),
    );
    expect(asked.length).toBeGreaterThan(20);
    for (const { method, path } of asked) {
      const id = ids[OF[path.split('/')[2] ?? ''] ?? ''] ?? '';
      const [hers, none] = [await ask(method, fillPath(path, id), eve), await ask(method, fillPath(path), eve)];
      expect([method, path, hers]).toEqual([method, path, none]);
    }
    for (const [noun, id] of Object.entries(ids)) {
      expect((await ada.call('GET', `/v1/${noun}s/${id}`)).status, noun).toBe(200);
      const seen = await call(`${site.url}/graphql`, 'POST', { query: `{ node(id: "${id}") { id } }` }, eve);
      expect(seen.body).toEqual({ data: { node: null } });
    }
  });
});

describe('every root field of GraphQL', () => {
  const schema = buildSchema(schemaDocument());
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => ({
      name: field.name,
      kind: type?.name.toLowerCase(),
      field,
    })),
  );
  const capital = (name: string) => name.replace(/^./, (first) => first.toUpperCase());
  const ELSE: Record<string, Operation> = {
    liveStats: 'getStreamLiveStats',
    playlistDiff: 'diffPlaylistVersion',
    events: 'watchEvents',
  };
  const findOperation = (name: string): Operation => {
    const found = ELSE[name] ?? [name, `get${capital(name)}`, `list${capital(name)}`].find(isOperation);
    if (found === undefined) throw new Error(`${name} is the field of no operation.`);
    return found;
  };
  /** The smallest value of the type. */
  const minimalValue = (type: GraphQLInputType): string => {
    if (isNonNullType(type)) return minimalValue(type.ofType);
    if (isListType(type)) return '[]';
    if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
    if (isInputObjectType(type)) {
      const required = Object.values(type.getFields()).filter((one) => isNonNullType(one.type));
      return `{${required.map((one) => `${one.name}: ${minimalValue(one.type)}`).join(', ')}}`;
    }
    if (String(type) === 'DateTime') return '"2027-01-31T18:00:00Z"';
    return ['Int', 'Float'].includes(String(type)) ? '1' : String(type) === 'Boolean' ? 'true' : '"none-1"';
  };
  const buildDocument = (kind: string | undefined, { name, args, type }: GraphQLField<unknown, unknown>): string => {
    const given = args.filter((arg) => isNonNullType(arg.type)).map((arg) => `${arg.name}: ${minimalValue(arg.type)}`);
    const inner = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
    return `${kind} { ${name}${given.length > 0 ? `(${given.join(', ')})` : ''}${inner} }`;
  };

  // `node` requires the operation of the kind that it finds.
  test.each(fields.filter(({ name }) => name !== 'node'))(
    '$kind $name lets in whom the table says',
    async ({ kind, name, field }) => {
      const query = buildDocument(kind, field);
      const found: [string, string][] = [];
      const wanted: [string, string][] = [];
      for (const credential of credentials) {
        const { status, body } = await call<{ code?: string; errors?: { extensions: { code: string } }[] }>(
          ...([`${site.url}/graphql`, 'POST', { query }, credential.headers] as const),
        );
        const code = status === 401 ? String(body.code) : (body.errors?.[0]?.extensions.code ?? '');
        const refused = [
          'unauthenticated',
          'api_key_expired',
          'insufficient_scope',
          'key_limited',
          'person_required',
          'cross_site_request',
        ].includes(code);
        found.push([credential.name, refused ? code : 'let in']);
        wanted.push([credential.name, expected(findOperation(name), credential)]);
      }
      expect(found).toEqual(wanted);
    },
  );

  test('checks nested fields: a write-only credential reads nothing through its own write', async () => {
    const streams = await makeStreamHelpers(site, ada);
    const { body } = await ada.call('POST', '/v1/streams', streams.wish());
    const write = credentials.find(({ scopes }) => scopes?.length === 1 && scopes[0] === 'write');
    const query = `mutation { updateStream(id: "${body.id}", input: { name: "Ours" }) { stream { id readiness { ready } } } }`;
    const answer = await call<{ data: unknown; errors?: { path: string[]; extensions: { code: string } }[] }>(
      ...([`${site.url}/graphql`, 'POST', { query }, write?.headers] as const),
    );
    expect(answer.body.errors).toMatchObject([
      { path: ['updateStream', 'stream', 'readiness'], extensions: { code: 'insufficient_scope' } },
    ]);
  });
});

describe('every tool of agents', () => {
  /** The code of the refusal, as HTTP has it before the tool runs. */
  async function callTool(name: string, headers: Headers): Promise<string> {
    const params = { name, arguments: { nonsense: true } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const accept = 'application/json, text/event-stream';
    const answer = await call<{ code?: string }>(`${site.url}/mcp`, 'POST', body, { accept, ...headers });
    return answer.status === 200 ? 'let in' : String(answer.body.code);
  }

  /** A tool may be called with the scopes of all its operations. */
  const judge = (operations: readonly Operation[], credential: Credential): string =>
    operations.map((operation) => expected(operation, credential)).find((code) => code !== 'let in') ?? 'let in';

  test.each([...describedTools()])('%s lets in whom the table says', async (name, { operations }) => {
    const found: [string, string][] = [];
    const wanted: [string, string][] = [];
    // A session's cookie is good for our own pages, which call no tools.
    for (const credential of credentials.filter(({ headers }) => !headers.cookie)) {
      found.push([credential.name, await callTool(name, credential.headers)]);
      wanted.push([credential.name, judge(operations, credential)]);
    }
    expect(found).toEqual(wanted);
  });

  test('is listed for a key that may call it, and for every token, whose program can ask for more', async () => {
    const list = async ({ headers }: Credential) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const accept = 'application/json';
      const answer = await call<{ result: { tools: { name: string }[] } }>(
        ...([`${site.url}/mcp`, 'POST', body, { accept, ...headers }] as const),
      );
      return answer.body.result.tools.map((tool) => tool.name);
    };
    const all = [...describedTools().keys()];
    for (const credential of credentials.filter(({ scopes, headers }) => scopes && !headers.cookie)) {
      const isToken = credential.headers.authorization?.startsWith('Bearer ey') === true;
      const callable = [...describedTools()].filter(([, tool]) => judge(tool.operations, credential) === 'let in');
      expect([credential.name, await list(credential)]).toEqual([
        credential.name,
        isToken ? all : callable.map(([name]) => name),
      ]);
    }
  });
});

describe('a response that is kept for an Idempotency-Key', () => {
  test('is not given by GraphQL to a credential that may do less', async () => {
    const input = '{ name: "Once", rtmpUrl: "rtmp://127.0.0.1/live", rtmpKey: "abcd-1234" }';
    const query = `mutation { createDestination(input: ${input}) { destination { id } } }`;
    const send = (headers: Headers) =>
      call<{ data?: unknown; code?: string }>(
        ...([`${site.url}/graphql`, 'POST', { query }, { 'idempotency-key': 'once-1', ...headers }] as const),
      );
    const first = await send({ 'x-api-key': ada.key });
    expect(first.body.data).toBeDefined();
    expect((await send({ 'x-api-key': ada.key })).body).toEqual(first.body);
    const reader = credentials.find(({ name }) => name === 'a key with read');
    expect(await send(reader?.headers ?? {})).toMatchObject({ body: { code: 'idempotency_key_reused' } });
  });
});

describe('events of money and keys', () => {
  const QUERY = '{ events { totalCount edges { node { type } } } }';

  /** The types that a credential receives as a page, by GraphQL, and as the first of its server-sent events. */
  async function receive(headers: Headers): Promise<unknown[]> {
    const page = await call<{ data: AccountEvent[] }>(`${site.url}/v1/events`, 'GET', undefined, headers);
    const graph = await call<{ data: { events: { edges: { node: { type: string } }[] } } }>(
      ...([`${site.url}/graphql`, 'POST', { query: QUERY }, headers] as const),
    );
    const stop = new AbortController();
    const response = await fetch(`${site.url}/v1/events`, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: playlist.published')) text += (await reader?.read())?.value ?? '';
    stop.abort();
    return [
      page.body.data.map(({ type }) => type),
      graph.body.data.events.edges.map(({ node }) => node.type),
      [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type),
    ];
  }

  test('come with the scope billing alone, in every way to read events', async () => {
    const { accountId } = await site.person('mona');
    const types = ['credit.low', 'schedule.upcoming', 'playlist.published'] as const;
    const subject = { accountId, object: 'account', objectId: accountId, uid: accountId } as const;
    const news = types.map((type) => ({
      id: `evt_${type}`.replace('.', '_'),
      type,
      at: new Date(),
      data: { ...NO_DATA, name: '' },
    }));
    await tell(db, subject, () => ({ news, mark: '' }));
    const token = async (...scopes: Scope[]) => bearer(await site.token('mona', named(scopes)));
    // The first one is of the person's own key.
    const [shown, all] = [['playlist.published'], ['key.created', 'credit.low', 'playlist.published']];
    await expect.poll(() => token('read').then(receive)).toEqual([shown, shown.map(toName), shown]);
    expect(await receive(await token('read', 'billing'))).toEqual([all, all.map(toName), all]);
    const key = async (...scopes: Scope[]) => ({
      'x-api-key': (await site.auth.createApiKey(accountId, 'later', { scopes })).key,
    });
    const withKeys = ['playlist.published', 'key.created', 'key.created'];
    expect(await receive(await key('read'))).toEqual([shown, shown.map(toName), shown]);
    const [page] = await receive(await key('read', 'billing'));
    expect(page).toEqual(expect.arrayContaining([...withKeys, 'credit.low']));
    const asked = `${site.url}/v1/events?types=credit.low,schedule.upcoming`;
    const { body } = await call<{ data: AccountEvent[] }>(asked, 'GET', undefined, await token('read'));
    expect(body.data.map(({ type }) => type)).toEqual(['schedule.upcoming']);
  });
});

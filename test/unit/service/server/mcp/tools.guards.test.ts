/** Tests the checks before the tools: the caller, the scopes, the origin, and the messages. */
import { afterEach, describe, expect, test } from 'vitest';
import { AppError } from '../../../../../src/service/lib/errors.ts';
import { SCOPES, type Scope } from '../../../../../src/service/lib/scopes.ts';
import { createHttpMetrics } from '../../../../../src/service/server/http/metrics.ts';
import { describedTools } from '../../../../../src/service/server/mcp/tools.ts';
import { isOpenWhileSuspended, OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';
import { type Agent, connectAgent, REVISIONS, type Revision, withKey } from '../../../../kit/make/agents.ts';
import { buildTestServer, type ServerOptions } from '../../../../kit/system/server.ts';
import { until } from '../../../../kit/wait.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(options: ServerOptions = {}) {
  const server = await buildTestServer(options);
  cleanups.push(() => {
    // A client that gave up may have connected again, without a request.
    server.app.server.closeAllConnections();
    return server.app.close();
  });
  const { url } = await server.listen();
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': 'ada',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const connect = async (revision: Revision = '2026-07-28'): Promise<Agent> => {
    const agent = await connectAgent(url, { revision, ...withKey('ada') });
    cleanups.push(agent.close);
    return agent;
  };
  return { ...server, url, post, connect };
}

const buildCall = (name: string, args: unknown = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const revisions = Object.keys(REVISIONS) as Revision[];

/** Services that find nothing. */
const nothing = new Proxy(
  {},
  {
    get: () => () => {
      throw new AppError('stream_not_found', 'There is nothing.');
    },
  },
);
const services = { account: nothing, streams: nothing, destinations: nothing, playlists: nothing, stats: nothing };

describe('scopes', () => {
  const sets: Scope[][] = [[], ...SCOPES.map((scope) => [scope]), [...SCOPES]];

  test.each(sets.map((scopes) => [scopes.join(' ') || 'none', scopes] as const))(
    'with %s, each tool is refused or not as the table says',
    async (_name, scopes) => {
      const { post } = await serve({ scopes, services: { ...services, uploads: nothing } });
      for (const [name, { operations }] of describedTools()) {
        const needed = new Set(operations.map((operation) => OPERATION_SCOPES[operation]));
        const missing = [...needed].filter((scope) => !(scopes as unknown[]).includes(scope));
        const { status, headers, text } = await post(buildCall(name, { nonsense: true })).then(async (answer) => ({
          status: answer.status,
          headers: answer.headers,
          text: await answer.text(),
        }));
        if (missing.length === 0) {
          expect({ name, status }).toEqual({ name, status: 200 });
          expect(text).toContain('is not known');
          continue;
        }
        expect({ name, status }).toEqual({ name, status: 403 });
        expect(JSON.parse(text)).toMatchObject({ code: 'insufficient_scope', scope: `service:${missing[0]}` });
        expect(headers.get('www-authenticate')).toContain(`scope="service:${missing[0]}"`);
      }
    },
  );

  test('the prompt needs the scopes of its reads', async () => {
    const ask = { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'diagnose_stream', arguments: {} } };
    expect((await (await serve({ scopes: ['write'] })).post(ask)).status).toBe(403);
    expect((await (await serve({ scopes: ['read'] })).post(ask)).status).toBe(200);
  });

  test('a key lists what it may call: without any scope nothing, with all of them everything', async () => {
    for (const [scopes, tools, prompts] of [
      [[], 0, 0],
      [[...SCOPES], describedTools().size, 1],
    ] as const) {
      const { connect } = await serve({ scopes: [...scopes] });
      const { client } = await connect();
      expect((await client.listTools()).tools).toHaveLength(tools);
      expect((await client.listPrompts()).prompts).toHaveLength(prompts);
    }
  });
});

describe('an account that staff have locked', () => {
  test.each(revisions)('gets that answer from each tool in %s, except those about its debt', async (revision) => {
    let locked = false;
    const { connect, post } = await serve({ isSuspended: () => locked, services: { streams: nothing } });
    // A connected agent is refused from its next call on.
    const agent = await connect(revision);
    const start = () => agent.call('start_stream', { id: 'str-1' });
    expect(await start()).toMatchObject({ output: { code: 'stream_not_found' } });
    locked = true;
    const open: string[] = [];
    for (const [name, { operations }] of describedTools()) {
      const { isError, output, text } = await agent.call(name, { nonsense: true });
      if (operations.every(isOpenWhileSuspended)) {
        expect({ name, isRefused: output?.code === 'account_suspended' }).toEqual({ name, isRefused: false });
        open.push(name);
        continue;
      }
      expect({ name, isError, code: output?.code }).toEqual({ name, isError: true, code: 'account_suspended' });
      expect(text).toContain('support');
    }
    expect(open).toEqual(expect.arrayContaining(['get_me', 'get_billing', 'list_invoices']));
    for (const name of open) expect(name).toMatch(/^(get|list)_/);
    const ask = { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'diagnose_stream', arguments: {} } };
    expect(await (await post(ask)).json()).toMatchObject({ status: 403, code: 'account_suspended' });
    locked = false;
    expect(await start()).toMatchObject({ output: { code: 'stream_not_found' } });
  });
});

describe('the caller', () => {
  test('needs credentials: 401, and where to get a token', async () => {
    const { post } = await serve();
    const refused = await post(buildCall('get_me'), { 'x-api-key': '' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      'resource_metadata="http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp"',
    );
  });

  test('from a page has to be of an allowed origin', async () => {
    const { post } = await serve({
      settings: { CORS_ORIGINS: 'https://app.example.com', PUBLIC_URL: 'https://loop.example.com' },
      me: () => ({ id: 'ada', email: 'a@example.com', firstName: 'Ada', lastName: null, createdAt: '' }),
    });
    const from = async (origin: string) => (await post(buildCall('get_me'), { origin })).status;
    for (const origin of ['https://loop.example.com', 'https://app.example.com'])
      expect(await from(origin), origin).toBe(200);
    const strangers = [
      'https://evil.example.com',
      'http://loop.example.com',
      'https://loop.example.com.evil.org',
      'null',
    ];
    for (const origin of strangers) expect(await from(origin), origin).toBe(403);
    const refused = await post(buildCall('get_me'), { origin: 'https://evil.example.com' });
    expect(await refused.json()).toMatchObject({ code: 'cross_site_request' });
  });

  test('is counted as everywhere', async () => {
    const { post } = await serve({ settings: { RATE_LIMIT_REQUESTS: '2' } });
    const answers = [await post(buildCall('x')), await post(buildCall('x')), await post(buildCall('x'))];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });
});

describe('an invalid message of the protocol', () => {
  test('gets an error of the protocol', async () => {
    const { post } = await serve();
    const build = async (body: unknown) => {
      const answer = await post(body);
      return { status: answer.status, body: (await answer.json()) as { error: { code: number; message: string } } };
    };
    expect(await build('{"jsonrpc"')).toMatchObject({ status: 400, body: { id: null, error: { code: -32700 } } });
    expect(await build([buildCall('get_me'), buildCall('get_me', {}, 2)])).toMatchObject({
      status: 400,
      body: { id: null, error: { code: -32600, message: expect.stringContaining('one message per request') } },
    });
    expect(await build('{"id":1,"id":2}')).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect(await build('null')).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect((await build({ hello: 'there' })).status).toBe(400);
  });

  test('or a too large one is refused as elsewhere', async () => {
    const { post, url } = await serve();
    const long = await post(buildCall('get_me', { text: 'x'.repeat(1024 * 1024) }));
    expect({ status: long.status, body: await long.json() }).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    });
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    for (const method of ['GET', 'DELETE']) {
      const other = await fetch(`${url}/mcp`, { method, headers: { 'x-api-key': 'ada' } });
      expect({ method, status: other.status, allow: other.headers.get('allow') }).toEqual({
        method,
        status: 405,
        allow: 'POST',
      });
    }
  });

  test.each(revisions)('in %s: unknown tools, prompts and methods', async (revision) => {
    const { connect } = await serve();
    const { client } = await connect(revision);
    const invalid = { code: -32602 };
    await expect(client.callTool({ name: 'drop_tables' })).rejects.toMatchObject(invalid);
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toMatchObject(invalid);
    await expect(client.getPrompt({ name: 'diagnose_stream', arguments: {} })).rejects.toMatchObject(invalid);
    await expect(client.listTools({ cursor: 'x' })).rejects.toMatchObject(invalid);
    await expect(client.request({ method: 'resources/list' })).rejects.toThrow();
  });
});

test('arguments and answers are not logged, and calls are counted by the tool', async () => {
  const metrics = createHttpMetrics();
  const secret = 'live_s3cr3t-k3y';
  const destinations = {
    create: () => {
      throw new Error(`the database said ${secret} twice`);
    },
  };
  const { connect, logs } = await serve({ metrics, services: { destinations } });
  const agent = await connect();
  const wish = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: secret };
  const failed = await agent.call('create_destination', wish);
  expect(failed).toMatchObject({ isError: true, output: { code: 'internal', status: 500 } });
  const wrong = await agent.call('create_destination', { ...wish, rtmpKey: ` ${secret} `, [secret.toUpperCase()]: 1 });
  expect(wrong).toMatchObject({ isError: true, output: { code: 'validation_failed' } });
  const short = await agent.call('create_destination', { name: 'Home', url: wish.rtmpUrl, key: secret });
  for (const { text, output } of [failed, wrong, short]) expect(text + JSON.stringify(output)).not.toContain(secret);
  // The log has the error's own text, and no arguments.
  expect(logs().replaceAll(`the database said ${secret} twice`, '')).not.toContain(secret);
  const readMetrics = async () => (await metrics.registry.metrics()).split('\n');
  const formatCounter = (outcome: string, count: number) =>
    `mcp_tool_duration_seconds_count{tool="create_destination",outcome="${outcome}"} ${count}`;
  await until('all are counted', async () => (await readMetrics()).includes(formatCounter('refused', 1)));
  expect(await readMetrics()).toContain(formatCounter('failed', 2));
});

test.each(revisions)('in %s, a client that gives up ends the waiting', async (revision) => {
  const waits = Promise.withResolvers<AbortSignal>();
  const upload = { objectID: 'upl-1', name: 'a', state: 'importing', progress: 0.5, type: 'VIDEO', createdAt: '' };
  const uploads = {
    get: () => upload,
    settled: (_account: string, _id: string, _seconds: number, { signal }: { signal: AbortSignal }) => {
      waits.resolve(signal);
      return new Promise(() => undefined);
    },
  };
  const { connect } = await serve({ services: { uploads } });
  const agent = await connect(revision);
  const patience = new AbortController();
  const asking = agent.call('get_upload', { id: 'upl-1', wait: 60 }, { signal: patience.signal });
  const refused = expect(asking).rejects.toThrow();
  const signal = await waits.promise;
  expect(signal.aborted).toBe(false);
  patience.abort();
  await refused;
  await until('the wait has ended', () => signal.aborted);
});

test('a stopping server finishes its running calls', async () => {
  const stopping = new AbortController();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()];
  const account = {
    me: () => {
      asked.resolve();
      return answered.promise;
    },
  };
  const { app, connect } = await serve({ stopping: stopping.signal, services: { account } });
  const agent = await connect();
  const asking = agent.done('get_me');
  await asked.promise;
  stopping.abort();
  const closed = app.close();
  const me = { id: 'ada', email: 'a@example.com', firstName: 'Ada', lastName: null, createdAt: '2027-01-31T18:00:02Z' };
  answered.resolve(me);
  expect(await asking).toEqual(me);
  await closed;
});

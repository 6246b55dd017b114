/** Tests the span of a request of each transport, with a tracer that records what it is told. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { currentSpan, currentTrace } from '../../../../../src/core/lib/context.ts';
import type { SpanAttributes, SpanOptions } from '../../../../../src/core/lib/span.ts';
import { setTracer } from '../../../../../src/core/lib/tracing/tracing.ts';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';
import { until } from '../../../../kit/wait.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

interface Recorded extends Omit<SpanOptions, 'attributes'> {
  name: string;
  attributes: SpanAttributes;
  error?: string;
}

let ended: Recorded[];
let server: TestServer | undefined;
/** The id of the span and the headers that the service of the account finds. */
let around: unknown[];

beforeEach(() => {
  [ended, around] = [[], []];
  setTracer((name, { attributes = {}, ...options }) => {
    const span: Recorded = { name, attributes, ...options };
    return {
      traceId: 'the-trace',
      spanId: 'the-span',
      headers: { traceparent: 'of the span' },
      set: (more) => Object.assign(span, { attributes: { ...span.attributes, ...more } }),
      fail: (error) => Object.assign(span, { error }),
      end: () => void ended.push(span),
    };
  });
});
afterEach(async () => {
  setTracer(undefined);
  await close();
});

async function close(): Promise<void> {
  server?.app.server.closeAllConnections();
  await server?.app.close();
}

async function serve(options: { settings?: Record<string, string>; error?: Error } = {}) {
  const me = () => {
    around.push(currentSpan()?.spanId, currentTrace());
    if (options.error) throw options.error;
    return {};
  };
  server = await buildTestServer({ me, ...(options.settings && { settings: options.settings }) });
  const { url } = await server.listen();
  const send = async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      headers: {
        'x-api-key': 'ann',
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    await response.text();
  };
  return { send, takeSpan: () => until('the span is ended', () => ended.shift()) };
}

test('a request of REST has a span by the pattern of its path, around all that serves it', async () => {
  const { send, takeSpan } = await serve();
  await send('/v1/me?secret=1', undefined, { 'x-request-id': 'the-request' });
  expect(await takeSpan()).toEqual({
    name: 'GET /v1/me',
    kind: 'server',
    parent: 'none',
    isParentUntrusted: true,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/v1/me',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'loopstream.operation': 'getMe',
      'loopstream.request.id': 'the-request',
      'loopstream.account.id': 'ann',
    },
  });
  expect(around).toEqual(['the-span', { traceparent: 'of the span' }]);
});

test('GraphQL and the tools of agents say what was asked', async () => {
  const { send, takeSpan } = await serve();
  await send('/graphql', { query: '{ me { id } }' });
  expect(await takeSpan()).toMatchObject({ name: 'POST /graphql', attributes: { 'graphql.operation.type': 'query' } });
  const params = { name: 'get_me', arguments: {} };
  await send('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  expect(await takeSpan()).toMatchObject({ name: 'POST /mcp', attributes: { 'gen_ai.tool.name': 'get_me' } });
});

test('a given trace goes on; its word on sampling counts only where the setting says so', async () => {
  for (const isTrusted of [false, true]) {
    const { send, takeSpan } = await serve({ settings: { TRUST_TRACEPARENT: String(isTrusted) } });
    await send('/v1/me', undefined, { traceparent: TRACEPARENT });
    expect(await takeSpan()).toMatchObject({ parent: { traceparent: TRACEPARENT }, isParentUntrusted: !isTrusted });
    await close();
  }
});

test('a request that fails has a failed span, and log lines with the ids of the span', async () => {
  const { send, takeSpan } = await serve({ error: new Error('the secret of the error') });
  await send('/v1/me', undefined, { traceparent: TRACEPARENT, 'x-request-id': 'failing' });
  const span = await takeSpan();
  expect(span).toMatchObject({ error: '500', attributes: { 'http.response.status_code': 500 } });
  expect(JSON.stringify(span)).not.toContain('secret');
  const lines =
    server
      ?.logs()
      .split('\n')
      .filter((line) => line.includes('failing')) ?? [];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({ requestID: 'failing', trace_id: 'the-trace', span_id: 'the-span' });
    expect(line.match(/"trace_id"/g)).toHaveLength(1);
  }
});

/** Tests the API server's metrics: rate, errors and duration, without clients or contents. */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../../../../src/core/lib/log.ts';
import type { Principal } from '../../../../../src/service/lib/scopes.ts';
import { buildServer, type ServerDeps } from '../../../../../src/service/server/app/app.ts';
import { createHttpMetrics } from '../../../../../src/service/server/http/metrics.ts';
import { apiConfig } from '../../../../../src/service/server/setup/settings.ts';
import { until } from '../../../../kit/wait.ts';

const metrics = createHttpMetrics();
const asked = Promise.withResolvers<void>();
let app: FastifyInstance;
let url: string;

beforeAll(async () => {
  const principal: Principal = {
    accountId: 'wilhelmina-1',
    userId: 'wilhelmina-1',
    scopes: new Set(['read']),
    via: 'key',
  };
  const deps = {
    config: apiConfig({ LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 's' }),
    auth: { authenticate: async () => principal },
    accountOwner: {},
    services: {
      uploads: {},
      account: { me: () => ({ id: 'wilhelmina-1', email: 'wilhelmina@example.com', firstName: 'Wilhelmina' }) },
      streams: {
        get: () => {
          asked.resolve();
          return new Promise(() => undefined);
        },
      },
    },
    leaving: new AbortController().signal,
    stopping: new AbortController().signal,
    log: createLogger('test', 'silent'),
    health: async () => ({ kubernetes: 'ok', database: 'ok' }),
    version: '1',
    ageMs: () => 0,
    metrics,
  } as unknown as ServerDeps;
  app = await buildServer(deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
});

const readMetrics = async (start: string) => {
  const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(start));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};
const counts = (method: string, route: string, status: number) =>
  readMetrics(`http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`);

test('requests are counted and timed by the pattern of their path; an abandoned one is 499', async () => {
  await (await fetch(`${url}/v1/me`)).text();
  await (await fetch(`${url}/v1/streams/str-1/nothing`)).text();
  await until('both are counted', async () => (await counts('GET', '/v1/me', 200)) === 1);
  await until('both are counted', async () => (await counts('GET', '(none)', 404)) === 1);
  const left = httpRequest(`${url}/v1/streams/str-1`).on('error', () => undefined);
  left.end();
  await asked.promise;
  expect(await readMetrics('http_requests_in_flight ')).toBe(1);
  left.destroy();
  await until('it is counted', async () => (await counts('GET', '/v1/streams/:id', 499)) === 1);
  expect(await readMetrics('http_requests_in_flight ')).toBe(0);
});

test('operations of GraphQL are separated by type and by failure', async () => {
  const ask = async (query: string) =>
    (
      await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
    ).text();
  await ask('{ me { id } }');
  await ask('{ streams { totalCount } }');
  await ask('{ nothing }');
  const build = (type: string, result: string) =>
    readMetrics(`graphql_operation_duration_seconds_count{type="${type}",result="${result}"}`);
  expect(await build('query', 'ok')).toBe(1);
  expect(await build('query', 'error')).toBe(1);
  expect(await build('invalid', 'error')).toBe(1);
  expect(await readMetrics('graphql_operation_errors_total{type="query"}')).toBe(1);
});

test('connections to the database are shown, and those that break are counted', async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 9, max: 3 });
  pool.on('error', () => undefined);
  metrics.showPools({ loopstream: pool });
  pool.emit('error', new Error('gone'), {} as never);
  const client = {} as never;
  pool.emit('acquire', client);
  pool.emit('release', undefined as never, client);
  expect(await readMetrics('db_pool_max_connections{pool="loopstream"}')).toBe(3);
  expect(await readMetrics('db_pool_errors_total{pool="loopstream"}')).toBe(1);
  expect(await readMetrics('db_pool_use_seconds_count{pool="loopstream"}')).toBe(1);
  expect(await readMetrics('db_pool_waiting{pool="loopstream"}')).toBe(0);
  await pool.end();
});

test('no label identifies a caller', async () => {
  expect(await metrics.registry.metrics()).not.toMatch(/wilhelmina|str-1|example\.com/);
});

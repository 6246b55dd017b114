/** Tests rate limits over two replicas and a real Redis, which goes away and returns. */
import { isDeepStrictEqual } from 'node:util';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import type { Credentials } from '../../../src/service/auth/service.ts';
import { AppError } from '../../../src/service/lib/errors.ts';
import { type Principal, SCOPES } from '../../../src/service/lib/scopes.ts';
import { createHttpMetrics } from '../../../src/service/server/http/metrics.ts';
import { createRedisCounter } from '../../../src/service/server/http/redis.ts';
import { startTestRedis, type TestRedis } from '../../kit/real/redis.ts';
import { startTestApi } from '../../kit/system/api.ts';
import { startApiProcess } from '../../kit/system/api-process.ts';
import { buildTestServer, type ServerOptions } from '../../kit/system/server.ts';
import { until } from '../../kit/wait.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.kill());

const LIMIT = 5;

/** Starts an API server that counts in Redis, five requests in `windowSeconds`. */
async function replica({
  windowSeconds = 60,
  url = redis.url,
  settings = {},
  auth,
}: {
  windowSeconds?: number;
  url?: string;
  settings?: Record<string, string>;
  auth?: ServerOptions['auth'];
} = {}) {
  const metrics = createHttpMetrics();
  const counted = { requests: LIMIT, windowMs: 1000 * windowSeconds };
  const logs: object[] = [];
  const log = Object.assign(createLogger('test', 'silent'), {
    warn: (...line: object[]) => void logs.push(line),
    info: (...line: object[]) => void logs.push(line),
  });
  const counter = createRedisCounter(url, { log, ...metrics });
  const server = await buildTestServer({
    counter,
    metrics,
    settings,
    config: { rateLimit: counted },
    ...(auth && { auth }),
  });
  onTestFinished(async () => {
    await server.app.close();
    counter.close();
  });
  const ask = async (
    key?: string,
    more: Partial<Pick<InjectOptions, 'url' | 'method' | 'payload' | 'remoteAddress'>> & {
      headers?: Record<string, string>;
    } = {},
  ) => {
    const headers = { ...(key === undefined ? {} : { 'x-api-key': key }), ...more.headers };
    const { statusCode: status, headers: told } = await server.app.inject({ url: '/v1/me', ...more, headers });
    const number = (name: string) => (told[name] === undefined ? undefined : Number(told[name]));
    return {
      status,
      limit: number('ratelimit-limit'),
      remaining: number('ratelimit-remaining'),
      reset: number('ratelimit-reset'),
      retryAfter: number('retry-after'),
    };
  };
  const uncounted = async () =>
    Number(/^rate_limit_uncounted_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1] ?? Number.NaN);
  /** Counting begins a moment after the server starts, when it is connected. */
  const counts = (key: string) => expect.poll(async () => (await ask(key)).remaining).toBeLessThan(LIMIT - 1);
  await counts(`warm-up ${Math.random()}`);
  return { ask, uncounted, counts, logs: () => JSON.stringify(logs) };
}

/** Returns the remaining time of a window that begins now: all of it, less the time of the test. */
function wholeWindow(): unknown {
  const began = performance.now();
  return expect.toSatisfy((seconds: number) => {
    const passed = Math.ceil((performance.now() - began) / 1000);
    return seconds <= 60 && seconds >= 60 - passed;
  });
}

test('two replicas count together, and report exactly the remaining requests and the window', async () => {
  const [one, two] = await Promise.all([replica(), replica()]);
  const left = wholeWindow();
  for (let i = 1; i <= LIMIT; i += 1) {
    const answer = await (i % 2 ? one : two).ask('ada');
    expect(answer).toEqual({ status: 200, limit: LIMIT, remaining: LIMIT - i, reset: left, retryAfter: undefined });
  }
  for (const { ask } of [one, two])
    expect(await ask('ada')).toEqual({ status: 429, limit: LIMIT, remaining: 0, reset: left, retryAfter: left });
  expect((await two.ask('bob')).remaining).toBe(LIMIT - 1);
});

test('of many at once over both exactly as many are let in as the limit says', async () => {
  const replicas = await Promise.all([replica(), replica()]);
  const uncounted = async () => Promise.all(replicas.map((one) => one.uncounted()));
  // On a busy machine Redis may take longer than a request waits for its count, and then the request passes: see `killed` below.
  const answers = await until('all of a crowd are counted', async () => {
    const before = await uncounted();
    const key = `crowd ${Math.random()}`;
    const crowd = await Promise.all(Array.from({ length: 40 }, (_, i) => replicas[i % 2]?.ask(key)));
    return isDeepStrictEqual(await uncounted(), before) && crowd;
  });
  expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(LIMIT);
  expect(answers.filter((answer) => answer?.status === 429)).toHaveLength(40 - LIMIT);
});

test('a client that waits for Retry-After passes, and has a whole window again', async () => {
  const { ask } = await replica({ windowSeconds: 1 });
  let last = await ask('patient');
  while (last.status === 200) last = await ask('patient');
  expect(last).toMatchObject({ status: 429, retryAfter: 1, reset: 1 });
  await new Promise((resolve) => setTimeout(resolve, 1000 * (last.retryAfter ?? 0)));
  expect(await ask('patient')).toMatchObject({ status: 200, remaining: LIMIT - 1 });
});

test('GraphQL shares the count of REST: requests of one reduce the other’s', async () => {
  const { ask } = await replica();
  const left = wholeWindow();
  const graphql = { url: '/graphql', method: 'POST', payload: { query: '{ me { id } }' } } as const;
  expect(await ask('both', graphql)).toMatchObject({ status: 200, limit: LIMIT, remaining: LIMIT - 1, reset: left });
  expect(await ask('both')).toMatchObject({ status: 200, remaining: LIMIT - 2 });
  for (let remaining = LIMIT - 3; remaining >= 0; remaining -= 1)
    expect(await ask('both', graphql)).toMatchObject({ status: 200, remaining });
  for (const more of [graphql, {}])
    expect(await ask('both', more)).toMatchObject({ status: 429, remaining: 0, retryAfter: left });
});

test('a wrong key is counted by the address it comes from, so that keys cannot be guessed without end', async () => {
  const authenticate = async ({ apiKey }: Credentials): Promise<Principal> => {
    if (apiKey !== 'right' && !apiKey?.startsWith('warm-up')) throw new AppError('unauthenticated', 'It is not valid.');
    return { accountId: apiKey, userId: apiKey, scopes: new Set(SCOPES), via: 'key' };
  };
  const { ask } = await replica({ auth: { authenticate } });
  const guess = (n: number, more = {}) => ask(`guess ${n}`, { remoteAddress: '192.0.2.77', ...more });
  const left = wholeWindow();
  for (let n = 1; n <= LIMIT; n += 1) expect(await guess(n)).toMatchObject({ status: 401, remaining: LIMIT - n });
  expect(await guess(LIMIT + 1)).toMatchObject({ status: 429, remaining: 0, retryAfter: left });
  const graphql = { url: '/graphql', method: 'POST', payload: { query: '{ me { id } }' } };
  expect(await guess(LIMIT + 2, graphql)).toMatchObject({ status: 429 });
  // A valid key does not suffer from the failures of others at its address.
  expect(await ask('right', { remoteAddress: '192.0.2.77' })).toMatchObject({ status: 200, remaining: LIMIT - 1 });
});

test('two processes with one Redis in their settings count together', async () => {
  const api = await startTestApi();
  onTestFinished(() => api.stop());
  const { key } = await api.client('ada');
  const settings = { LOOPSTREAM_REDIS_URL: redis.url, LOOPSTREAM_RATE_LIMIT_REQUESTS: String(LIMIT) };
  const processes = await Promise.all([0, 1].map(() => startApiProcess({ ...api.environment, ...settings })));
  onTestFinished(async () => {
    for (const { signal } of processes) signal('SIGTERM');
    await Promise.all(processes.map(({ ended }) => ended));
  });
  const ask = async (i: number) => await fetch(`${processes[i % 2]?.url}/v1/me`, { headers: { 'x-api-key': key } });
  // Counting begins a moment after a server starts, when it is connected; earlier requests do not count.
  const isCounting = async (i: number) =>
    (await fetch(`${processes[i]?.url}/v1/status`)).headers.get('ratelimit-remaining');
  for (const i of [0, 1]) await expect.poll(() => isCounting(i)).not.toBe(String(LIMIT));
  for (let i = 1; i <= LIMIT; i += 1) {
    const { status, headers } = await ask(i);
    expect({ status, left: headers.get('ratelimit-remaining') }).toEqual({ status: 200, left: String(LIMIT - i) });
  }
  for (const i of [0, 1]) expect((await ask(i)).status).toBe(429);
});

describe('a client without a key is counted by its address', () => {
  test('of IPv6 by the network of 64 bits that one person has; a header cannot change it', async () => {
    const { ask, uncounted } = await replica();
    const from = async (remoteAddress: string, headers = {}) =>
      LIMIT - Number((await ask(undefined, { remoteAddress, headers })).remaining);
    let net = 0;
    // As in the crowd above: a request may pass uncounted, and then other networks are tried.
    const used = await until('all requests are counted', async () => {
      const before = await uncounted();
      net += 1;
      const seen = [
        await from(`192.0.${net}.1`),
        await from(`192.0.${net}.1`, { 'x-forwarded-for': `192.0.${net}.9` }),
        await from(`192.0.${net}.2`),
        await from(`2001:db8:${net}:1::1`),
        await from(`2001:db8:${net}:1:ffff::2`),
        await from(`2001:db8:${net}:2::1`),
      ];
      return (await uncounted()) === before && seen;
    });
    expect(used).toEqual([1, 2, 1, 1, 2, 1]);
    expect(await ask(undefined, { remoteAddress: '192.0.2.99' })).toMatchObject({ status: 401 });
  });

  test('behind a trusted proxy by the address that the proxy has added', async () => {
    const { ask } = await replica({ settings: { TRUST_PROXY: '10.0.0.0/8' } });
    const by = (remoteAddress: string, forwarded: string) =>
      ask(undefined, { remoteAddress, headers: { 'x-forwarded-for': forwarded } });
    expect(await by('10.1.2.3', '203.0.113.1')).toMatchObject({ remaining: LIMIT - 1 });
    expect(await by('10.9.9.9', '198.51.100.7, 203.0.113.1')).toMatchObject({ remaining: LIMIT - 2 });
    expect(await by('203.0.113.50', '203.0.113.1')).toMatchObject({ remaining: LIMIT - 1 });
  });
});

describe('Redis away', () => {
  /** Returns the time of the slowest of twice as many requests as the limit allows; all of them must pass. */
  const slowest = async ({ ask }: Awaited<ReturnType<typeof replica>>, key: string): Promise<number> => {
    const took: number[] = [];
    for (let i = 0; i < 2 * LIMIT; i += 1) {
      const since = performance.now();
      expect(await ask(key)).toEqual({ status: 200, limit: LIMIT, remaining: LIMIT, reset: 60, retryAfter: undefined });
      took.push(performance.now() - since);
    }
    return Math.max(...took);
  };

  test('killed: requests are let in at once and counted as uncounted; when it is back they are limited again', async () => {
    const server = await replica();
    const before = await server.uncounted();
    await redis.kill();
    await slowest(server, 'orphan');
    expect(await server.uncounted()).toBe(before + 2 * LIMIT);
    await redis.start();
    await server.counts('orphan');
    const now = await server.uncounted();
    await expect.poll(async () => (await server.ask('orphan')).status).toBe(429);
    expect(await server.uncounted()).toBe(now);
    // One line for each outage, which a busy machine may report once more, and not one for each request.
    const countLogs = (what: string) => server.logs().split(what).length - 1;
    expect(countLogs('Redis does not respond')).toBeGreaterThan(0);
    expect(countLogs('Redis does not respond')).toBeLessThanOrEqual(2);
    expect(countLogs('Redis responds again')).toBe(countLogs('Redis does not respond'));
    expect(server.logs()).not.toContain(redis.password);
  });

  test('silent: only the first waits, and not for long; however many ask, its connection is given up once', async () => {
    const server = await replica();
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    redis.pause();
    try {
      const waited = await slowest(server, 'deaf');
      expect(await slowest(server, 'deaf')).toBeLessThan(waited);
      // Node warns of more than ten listeners of one kind; twice as many requests have waited.
      expect(warnings.map(({ message }) => message)).toEqual([]);
    } finally {
      redis.resume();
    }
    await server.counts('deaf');
  });

  test('a wrong password is logged as wrong, and without its text', async () => {
    const url = redis.url.replace(redis.password, 'another-password');
    const metrics = createHttpMetrics();
    const logs: unknown[] = [];
    const warn = (...line: unknown[]) => void logs.push(line);
    const log = Object.assign(createLogger('test', 'silent'), { warn });
    const counter = createRedisCounter(url, { log, ...metrics });
    onTestFinished(() => counter.close());
    await expect.poll(() => JSON.stringify(logs)).toContain('WRONGPASS');
    expect(await counter.count('any', 1000)).toBeUndefined();
    expect(JSON.stringify(logs)).not.toMatch(/another-password|that-no-log-may-show/);
  });
});

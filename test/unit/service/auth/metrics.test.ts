/** Tests the counts of sign-ins, and that no made-up path, name or grant becomes a label. */
import Fastify, { type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authMetrics } from '../../../../src/service/auth/metrics.ts';

let app: FastifyInstance;
let base: string;
let registry: Registry;

beforeEach(async () => {
  registry = new Registry();
  app = Fastify();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const wasUsed = async (token: string) => token === 'spent';
  authMetrics(registry).observe(app, { cookie: 'session', wasUsed });
  // The responses follow the request's header `x-status`.
  for (const path of [
    '/sign-in/email',
    '/oauth2/token',
    '/oauth2/register',
    '/get-session',
    '/passkey/verify-authentication',
  ])
    app.post(`/api/auth${path}`, async ({ headers: { 'x-status': status, 'x-cookie': cookie } }, reply) => {
      if (cookie) void reply.header('set-cookie', ['other=1; Path=/', String(cookie)]);
      return reply.code(Number(status ?? 200)).send({});
    });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

const ask = (path: string, headers: Record<string, string> = {}, form: Record<string, string> = {}) =>
  fetch(`${base}/api/auth${path}`, { method: 'POST', headers, body: new URLSearchParams(form) }).then((answer) =>
    answer.text(),
  );

/** Returns the counters above 0. */
const readCounters = async () => {
  const lines = (await registry.metrics()).split('\n').filter((line) => /^auth_.* [1-9]\d*$/.test(line));
  return lines.map((line) => line.replace('auth_', ''));
};

test('a person is let in where a session begins, and nowhere else', async () => {
  await ask('/sign-in/email', { 'x-cookie': 'session=abc; HttpOnly' });
  await ask('/sign-in/email', { 'x-cookie': 'session=; Max-Age=0' });
  await ask('/sign-in/email');
  for (const status of ['401', '403', '429', '503']) await ask('/sign-in/email', { 'x-status': status });
  await ask('/get-session', { 'x-cookie': 'session=abc' });
  expect(await readCounters()).toEqual([
    'sign_ins_total{method="password",outcome="ok"} 1',
    'sign_ins_total{method="password",outcome="refused"} 4',
    'sign_ins_total{method="password",outcome="limited"} 1',
    'sign_ins_total{method="password",outcome="failed"} 1',
  ]);
  await ask('/passkey/verify-authentication', { 'x-cookie': 'session=abc' });
  expect((await readCounters()).at(-1)).toBe('sign_ins_total{method="passkey",outcome="ok"} 1');
});

test('tokens are counted by their grant; an unknown grant counts as another one', async () => {
  await ask('/oauth2/token', {}, { grant_type: 'authorization_code' });
  await ask('/oauth2/token', { 'x-status': '400' }, { grant_type: 'ada@example.com' });
  await ask('/oauth2/register', { 'x-status': '201' });
  await ask('/oauth2/register', { 'x-status': '429' });
  const lines = await readCounters();
  expect(lines).toEqual([
    'tokens_total{grant="authorization_code",outcome="ok"} 1',
    'tokens_total{grant="other",outcome="refused"} 1',
    'registrations_total{outcome="ok"} 1',
    'registrations_total{outcome="limited"} 1',
  ]);
});

test('a refresh token that comes a second time is counted where it is refused', async () => {
  const form = { grant_type: 'refresh_token', refresh_token: 'spent' };
  await ask('/oauth2/token', { 'x-status': '400' }, form);
  await ask('/oauth2/token', { 'x-status': '400' }, { ...form, refresh_token: 'unknown' });
  // A grant in another encoding counts as none.
  await ask('/oauth2/token', { 'x-status': '400' }, { ...form, grant_type: 'authorization_code' });
  // The rate limit refused it before the check.
  await ask('/oauth2/token', { 'x-status': '429' }, form);
  expect((await readCounters()).filter((line) => line.startsWith('refresh_reuse'))).toEqual(['refresh_reuse_total 1']);
});

/**
 * Attacks the account of a platform that a destination is looked at with: its token is in no answer to anybody and in no log, and what viewers see
 * cannot be made up by a caller of the API.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESTINATIONS } from '../../src/core/resources/destination/resource.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { type Person, pageHeaders, startTestSite, type TestSite } from '../kit/make/oauth.ts';
import { call } from '../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../kit/system/api-process.ts';

const TOKEN = '1//0-SuperSecretToken';
const PUBLISHING = { name: 'tv', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'k3y' };
const PLATFORM = { kind: 'youtube', policy: 'Repair' };
const FIELDS = 'id platform { kind hasToken } platformLive { status code }';

let site: TestSite;
let server: ApiProcess;
let victim: Person;
let mallory: Person;
let path: string;
let id: string;

beforeAll(async () => {
  site = await startTestSite();
  server = await startApiProcess({ ...site.environment, LOOPSTREAM_LOG_LEVEL: 'debug' });
  victim = await site.person('youtuber');
  mallory = await site.person('mallory');
  const platform = { ...PLATFORM, refreshToken: TOKEN };
  const made = await askAs<{ id: string }>(victim, 'POST', '/v1/destinations', { ...PUBLISHING, platform });
  expect(made.status).toBe(201);
  id = made.body.id;
  path = `/v1/destinations/${id}`;
});
afterAll(async () => {
  server?.signal('SIGTERM');
  await server?.ended;
  await site?.stop();
});

const askAs = <T = Record<string, unknown>>(who: Person, method: string, at: string, body?: unknown, headers = {}) =>
  call<T>(`${server.url}${at}`, method, body, { 'x-api-key': who.key, ...headers });

const callTool = (who: Person, name: string, args: object) =>
  askAs(
    who,
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream' },
  );

const listAnswers = (who: Person) =>
  Promise.all([
    askAs(who, 'GET', path),
    askAs(who, 'GET', '/v1/destinations'),
    askAs(who, 'POST', '/graphql', { query: `{ destination(id: "${id}") { ${FIELDS} } }` }),
    askAs(who, 'POST', '/graphql', { query: `{ destinations { edges { node { ${FIELDS} } } } }` }),
    callTool(who, 'get_destination', { id }),
    callTool(who, 'list_destinations', {}),
    // Only a person who has signed in gets it.
    call(`${site.url}/v1/account/export`, 'GET', undefined, pageHeaders(site.url, who)),
    askAs(who, 'GET', '/v1/events'),
  ]);

test('the token of a platform is in no answer over REST, GraphQL or MCP, no export, no event and no log', async () => {
  const answers = await listAnswers(victim);
  const texts = answers.map(({ body }) => JSON.stringify(body));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // All but the events have the destination, so that each of these answers could have had it.
  for (const text of texts.slice(0, -1)) expect(text).toContain(id);
  for (const text of texts) expect(text).not.toContain('SuperSecret');
  expect(server.logs()).toContain('/v1/destinations');
  expect(server.logs()).not.toContain('SuperSecret');
});

test('another account gets nothing of it, and cannot take it for a destination of its own', async () => {
  for (const { body } of await listAnswers(mallory)) expect(JSON.stringify(body)).not.toMatch(/SuperSecret|hasToken/);
  const { spec } = await site.kube.get(DESTINATIONS, NAMESPACE, id);
  const secretName = spec.platform?.secretName ?? '';
  expect(secretName).not.toBe('');
  const own = await askAs<{ id: string }>(mallory, 'POST', '/v1/destinations', PUBLISHING);
  for (const platform of [
    { ...PLATFORM, secretName },
    { ...PLATFORM, policy: 'Observe', videoId: 'dQw4w9WgXcQ', secretName },
  ]) {
    const { status } = await askAs(mallory, 'PATCH', `/v1/destinations/${own.body.id}`, { platform });
    expect(status).toBe(422);
  }
  expect((await site.kube.get(DESTINATIONS, NAMESPACE, own.body.id)).spec.platform).toBeUndefined();
});

test('nobody can make up what viewers see: neither the condition nor the status of a platform is taken from a request', async () => {
  const later = '2099-01-01T00:00:00Z';
  const status = { platform: { checkedAt: later, expiresAt: later, viewers: 1_000_000 } };
  const conditions = [{ type: 'PlatformLive', status: 'True', reason: 'Seen', message: '', lastTransitionTime: later }];
  const forged = [
    { status: { ...status, conditions } },
    { conditions },
    { platformLive: { status: 'true', code: null, viewers: 1_000_000, checkedAt: later } },
    { platform: { ...PLATFORM, viewers: 1_000_000, expiresAt: later } },
    { platform: { ...PLATFORM, repair: { phase: 'idle', inserts: [] } } },
  ];
  for (const wish of forged) {
    const answers = [
      await askAs(victim, 'PATCH', path, wish),
      await askAs(victim, 'POST', '/v1/destinations', { ...PUBLISHING, ...wish }),
      await callTool(victim, 'update_destination', { id, ...wish }),
    ];
    for (const { body } of answers) expect(JSON.stringify(body), JSON.stringify(wish)).not.toMatch(/1000000|"true"/);
    expect(answers.slice(0, 2).map((answer) => answer.status)).toEqual([422, 422]);
  }
  const found = await site.kube.get(DESTINATIONS, NAMESPACE, id);
  expect(found.status?.platform).toBeUndefined();
  expect(JSON.stringify(found.status?.conditions ?? [])).not.toContain('PlatformLive');
  const shown = await askAs<{ platformLive: object }>(victim, 'GET', path);
  expect(shown.body.platformLive).toMatchObject({ status: 'unknown', code: 'not_checked', viewers: null });
});

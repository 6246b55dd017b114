/** Tests the API key that a browser keeps in a cookie: it allows what the key allows, to our own page alone, and no more. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownPage, type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';

let site: TestSite;
let ada: Person;
let bob: Person;
let url: string;

beforeAll(async () => {
  site = await startTestSite();
  url = site.url;
  [ada, bob] = await Promise.all([site.person('ada'), site.person('bob')]);
});
afterAll(() => site?.stop());

const ELSEWHERE = [
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  { origin: 'null', 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  {},
] as Record<string, string>[];

const send = (method: string, path: string, headers: Record<string, string>, body: object = {}) =>
  fetch(`${url}${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });

/** Exchanges a key, and returns the header of the cookie. */
async function keep(key: string): Promise<{ cookie: string; set: string }> {
  const answer = await send('POST', '/api/auth/key-session', { ...ownPage(url), 'x-api-key': key });
  expect(answer.status, await answer.clone().text()).toBe(200);
  const [set = ''] = answer.headers.getSetCookie();
  return { cookie: set.split(';', 1)[0] ?? '', set };
}
const me = async (headers: Record<string, string>) => (await send('GET', '/v1/me', headers)).json() as Promise<object>;
const isKept = async (cookie: string) =>
  ((await (await send('GET', '/api/auth/key-session', { cookie })).json()) as { kept: boolean }).kept;

test('a key is exchanged for a cookie that scripts and other sites cannot use, and that ends with the browser', async () => {
  const { cookie, set } = await keep(ada.key);
  expect(set).toMatch(/^loopstream\.key=.*; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(await isKept(cookie)).toBe(true);
  expect(await me({ cookie })).toMatchObject({ email: ada.email });
  const ended = await send('POST', '/api/auth/key-session/end', { ...ownPage(url), cookie });
  expect(ended.headers.getSetCookie()[0]).toMatch(/^loopstream\.key=; .*Max-Age=0$/);
});

test('a wrong key is exchanged for nothing, and a page of another site exchanges none', async () => {
  const wrong = await send('POST', '/api/auth/key-session', { ...ownPage(url), 'x-api-key': 'lsk_wrong' });
  expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []]);
  const none = await send('POST', '/api/auth/key-session', ownPage(url));
  expect(none.status).toBe(401);
  for (const headers of ELSEWHERE) {
    const forged = await send('POST', '/api/auth/key-session', { ...headers, 'x-api-key': bob.key });
    expect([forged.status, forged.headers.getSetCookie()]).toEqual([403, []]);
    expect((await send('POST', '/api/auth/key-session/end', headers)).status).toBe(403);
  }
});

test('another site changes nothing with the cookie: REST, GraphQL and agents', async () => {
  const { cookie } = await keep(ada.key);
  const destination = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
  for (const headers of ELSEWHERE)
    for (const [path, body] of [
      ['/v1/destinations', destination],
      ['/graphql', { query: 'mutation { deleteStream(id: "str-1") }' }],
      ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    ] as const) {
      const answer = await send('POST', path, { ...headers, cookie }, body);
      expect([401, 403], `${path}: ${await answer.text()}`).toContain(answer.status);
    }
  expect((await send('POST', '/v1/destinations', { ...ownPage(url), cookie }, destination)).status).toBe(201);
});

test('it makes nobody a person: credentials and the account stay closed', async () => {
  const { cookie } = await keep(ada.key);
  const headers = { ...ownPage(url), cookie };
  for (const [method, path] of [
    ['GET', '/v1/api-keys'],
    ['GET', '/v1/sessions'],
    ['GET', '/v1/account/export'],
  ] as const)
    expect((await send(method, path, headers)).status, path).toBe(403);
  expect((await send('POST', '/v1/api-keys', headers, { name: 'another' })).status).toBe(403);
  expect(await (await send('GET', '/api/auth/get-session', headers)).json()).toBeNull();
  expect((await send('GET', '/api/auth/passkey/generate-register-options', headers)).status).toBe(401);
});

test('a person who has signed in comes before it, and a header before both', async () => {
  const { cookie } = await keep(ada.key);
  const both = `${cookie}; ${bob.cookie}`;
  expect(await me({ cookie: both })).toMatchObject({ email: bob.email });
  expect(await me({ cookie: both, 'x-api-key': ada.key })).toMatchObject({ email: ada.email });
  expect((await send('GET', '/v1/me', { cookie, 'x-api-key': 'lsk_wrong' })).status).toBe(401);
});

test('it ends with the key', async () => {
  const page = { ...ownPage(url), cookie: bob.cookie };
  const made = (await (await send('POST', '/v1/api-keys', page, { name: 'browser' })).json()) as {
    id: string;
    key: string;
  };
  const { cookie } = await keep(made.key);
  expect(await isKept(cookie)).toBe(true);
  expect((await send('DELETE', `/v1/api-keys/${made.id}`, page)).status).toBeLessThan(300);
  expect(await isKept(cookie)).toBe(false);
  expect((await send('GET', '/v1/me', { cookie })).status).toBe(401);
});

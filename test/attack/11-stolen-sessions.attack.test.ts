/** Attacks with the cookie of a session that began hours ago: it must not become access that outlives the session. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  begin,
  consent,
  getCode,
  type Person,
  post,
  register,
  signIn,
  startTestSite,
  type TestSite,
} from '../kit/make/oauth.ts';
import { query } from '../kit/real/postgres.ts';

const ALL = 'service:read service:write service:destructive service:billing offline_access';

let site: TestSite;
let ada: Person;
beforeAll(async () => {
  site = await startTestSite();
  ada = await site.person('ada');
});
afterAll(async () => await site?.stop());

/** Lets three hours pass for all sessions. */
const age = () => query(site.databaseUrl, `update auth.session set "createdAt" = "createdAt" - interval '3 hours'`);
const makeKey = async (): Promise<[number, unknown]> => {
  const answer = await post(`${site.url}/v1/api-keys`, { name: 'Playout' }, { cookie: ada.cookie });
  return [answer.status, ((await answer.json()) as { code?: string }).code];
};
/** Allows a program what it asks for; returns the status and the code of the refusal. */
async function allow(scope: string, client?: Awaited<ReturnType<typeof register>>): Promise<[number, unknown]> {
  const { location } = await begin(site.url, ada, client ?? (await register(site.url)), { scope });
  expect(location.pathname).toBe('/consent');
  const body = { accept: true, oauth_query: location.search.slice(1) };
  const answer = await post(`${site.url}/api/auth/oauth2/consent`, body, { cookie: ada.cookie });
  return [answer.status, ((await answer.json()) as { code?: string }).code];
}

test('a session that is hours old makes no key, and lets no program in for more than a look', async () => {
  const known = await register(site.url);
  await getCode(site.url, ada, known, { scope: ALL });
  await age();
  expect(await makeKey()).toEqual([403, 'not_confirmed']);
  for (const scope of [ALL, 'service:write', 'service:read offline_access'])
    expect([scope, await allow(scope)]).toEqual([scope, [403, 'SESSION_NOT_FRESH']]);
  expect(await allow('service:read')).toEqual([200, undefined]);
  // A program that its owner let in before goes on.
  expect((await getCode(site.url, ada, known, { scope: ALL })).code).not.toBe('');
  ada = { ...ada, cookie: await signIn(site.url, ada) };
  expect(await makeKey()).toEqual([201, undefined]);
  expect(await allow(ALL)).toEqual([200, undefined]);
});

test('a person refuses a program at any time', async () => {
  await age();
  const { location } = await begin(site.url, ada, await register(site.url), { scope: ALL });
  const back = await consent(site.url, ada, location, { accept: false });
  expect(back.searchParams.get('error')).toBe('access_denied');
});

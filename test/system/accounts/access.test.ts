/** Tests the credentials of an account: its owner alone makes, sees and revokes them, on any server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  ApiKey,
  ConnectedApp,
  CreatedApiKey,
  PersonSession,
} from '../../../src/service/domain/accounts/record.ts';
import type { RunningApi } from '../../../src/service/server/main.ts';
import { giveCredit } from '../../kit/make/ledger.ts';
import {
  authorize,
  type Person,
  pageHeaders,
  refresh,
  register,
  signIn,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { query } from '../../kit/real/postgres.ts';
import { call } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let site: TestSite;
let replica: RunningApi & { stop(): Promise<void> };

beforeAll(async () => {
  site = await startTestSite();
  replica = await site.replica();
});
afterAll(async () => site?.stop());

interface Listed<T> {
  data: T[];
  page: { hasMore: boolean; nextCursor: string | null };
}
/** Sends a request as the page of the dashboard does. */
const ask = <T = Record<string, unknown>>(
  person: Pick<Person, 'cookie'>,
  method: string,
  path: string,
  body?: unknown,
) => call<T>(`${site.url}/v1${path}`, method, body, pageHeaders(site.url, person));
const withKey = (url: string, key: string) => call(`${url}/v1/me`, 'GET', undefined, { 'x-api-key': key });
const makeKey = async (person: Person, name: string, more = {}) =>
  (await ask<CreatedApiKey>(person, 'POST', '/api-keys', { name, ...more })).body;

describe('API keys', () => {
  test('are shown once, work on every server, and are refused by every server once revoked', async () => {
    const ada = await site.person('ada');
    const made = await ask<CreatedApiKey>(ada, 'POST', '/api-keys', { name: '<b>Playout</b>', expiresInDays: 30 });
    expect(made.status).toBe(201);
    const { key, id, expiresAt, hint } = made.body;
    expect(key.startsWith(hint)).toBe(true);
    expect(Math.round((Date.parse(expiresAt ?? '') - Date.now()) / 86_400_000)).toBe(30);
    for (const { url } of [site, replica]) expect((await withKey(url, key)).status).toBe(200);
    const listed = await ask<Listed<ApiKey>>(ada, 'GET', '/api-keys');
    expect(listed.body.data.find((one) => one.id === id)).toMatchObject({ name: '<b>Playout</b>', hint, expiresAt });
    expect(JSON.stringify(listed.body)).not.toContain(key);
    const kept = await query(
      site.databaseUrl,
      `select row_to_json(k)::text as t from auth.apikey k
      union all select row_to_json(i)::text from loopstream.idempotency i`,
    );
    expect(JSON.stringify(kept)).not.toContain(key);

    expect((await ask(ada, 'DELETE', `/api-keys/${id}`)).status).toBe(204);
    expect((await withKey(site.url, key)).status).toBe(401);
    await until('the other server refuses it', async () => (await withKey(replica.url, key)).status === 401);
    expect(await ask(ada, 'DELETE', `/api-keys/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'api_key_not_found' },
    });
  });

  test('cannot be made or seen with a key, a token or without sign-in; those of other accounts do not exist', async () => {
    const [ada, bob] = [await site.person('ada'), await site.person('bob')];
    const { key, id } = await makeKey(ada, 'one');
    const token = await site.token('ada', 'service:read service:write service:destructive service:billing');
    for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${token}` }])
      for (const [method, path, body] of [
        ['POST', '/api-keys', { name: 'two' }],
        ['GET', '/api-keys'],
        ['PATCH', `/api-keys/${id}`, { name: 'three' }],
        ['GET', '/api-key-policy'],
        ['PATCH', '/api-key-policy', { maxKeyDays: 1 }],
        ['DELETE', `/api-keys/${id}`],
        ['GET', '/sessions'],
        ['DELETE', '/sessions'],
        ['GET', '/connected-apps'],
        ['GET', '/account/export'],
        ['POST', '/account/deletion', { email: ada.email, password: ada.password }],
      ] as const)
        expect(await call(`${site.url}/v1${path}`, method, body, headers), `${method} ${path}`).toMatchObject({
          status: 403,
          body: { code: 'person_required' },
        });
    expect((await call(`${site.url}/v1/api-keys`, 'GET')).status).toBe(401);
    expect((await ask(bob, 'DELETE', `/api-keys/${id}`)).status).toBe(404);
    expect((await ask<Listed<ApiKey>>(bob, 'GET', '/api-keys')).body.data.map((one) => one.id)).not.toContain(id);
    expect((await withKey(site.url, key)).status).toBe(200);
  });

  test('get another name, other labels and an earlier expiry, and nothing more', async () => {
    const ada = await site.person('ada');
    const made = await makeKey(ada, 'one', { scopes: ['read'], labels: { team: 'news' }, expiresInDays: 30 });
    const path = `/api-keys/${made.id}`;
    const change = (body: object, by: Pick<Person, 'cookie'> = ada) => ask<ApiKey>(by, 'PATCH', path, body);
    const labels = { team: 'radio', env: '' };
    const { key: _key, ...shown } = made;
    expect((await change({ name: 'two', labels })).body).toEqual({ ...shown, name: 'two', labels });
    const find = async (selector: string) =>
      (await ask<Listed<ApiKey>>(ada, 'GET', `/api-keys?label=${selector}`)).body.data.map(({ id }) => id);
    expect([await find('team=radio'), await find('team=news')]).toEqual([[made.id], []]);
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    expect((await change({ expiresAt })).body).toEqual({ ...shown, name: 'two', labels, expiresAt });
    expect((await change({ expiresAt, labels: {} })).body).toEqual({ ...shown, name: 'two', labels: {}, expiresAt });
    for (const later of [null, new Date(Date.parse(expiresAt) + 1000).toISOString(), '2020-01-01T00:00:00Z'])
      expect(await change({ expiresAt: later }), String(later)).toMatchObject({
        status: 422,
        body: { errors: [{ path: '/expiresAt' }] },
      });
    for (const more of [{ scopes: ['read', 'write'] }, { scopes: null }, { labelSelector: 'team' }, { name: '' }])
      expect((await change(more)).status, JSON.stringify(more)).toBe(422);
    expect(await change({ name: 'three' }, await site.person('bob'))).toMatchObject({
      status: 404,
      body: { code: 'api_key_not_found' },
    });
    expect((await withKey(site.url, made.key)).status).toBe(200);
  });

  test('without an expiry get one, which every server obeys', async () => {
    const ada = await site.person('ada');
    const { id, key, expiresAt } = await makeKey(ada, 'endless');
    expect(expiresAt).toBeNull();
    expect((await ask<ApiKey>(ada, 'PATCH', `/api-keys/${id}`, { expiresAt: null })).status).toBe(200);
    for (const { url } of [site, replica]) expect((await withKey(url, key)).status).toBe(200);
    const soon = new Date(Date.now() + 1000).toISOString();
    expect((await ask<ApiKey>(ada, 'PATCH', `/api-keys/${id}`, { expiresAt: soon })).body.expiresAt).toBe(soon);
    for (const { url } of [site, replica])
      await until('the key has expired', async () => (await withKey(url, key)).status === 401);
  });

  test.each([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(65) }, '/name'],
    [{ name: 'a\u0007b' }, '/name'],
    [{ name: 'x', expiresInDays: 0 }, '/expiresInDays'],
    [{ name: 'x', expiresInDays: 366 }, '/expiresInDays'],
    [{ name: 'x', scopes: [] }, '/scopes'],
    [{ name: 'x', scopes: ['everything'] }, '/scopes/0'],
    [{ name: 'x', scopes: ['read', 'read'] }, '/scopes'],
    [{ name: 'x', scopes: 'read' }, '/scopes'],
    [{ name: 'x', scopes: null }, '/scopes'],
  ])('%j is refused, and the field named', async (body, path) => {
    const answer = await ask(await site.person('ada'), 'POST', '/api-keys', body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([expect.objectContaining({ path })]);
  });

  test('from another site’s page none is made', async () => {
    const { cookie } = await site.person('ada');
    for (const headers of [{ cookie }, { cookie, origin: 'https://evil.example' }] as Record<string, string>[])
      expect(await call(`${site.url}/v1/api-keys`, 'POST', { name: 'x' }, headers)).toMatchObject({
        status: 403,
        body: { code: 'cross_site_request' },
      });
  });

  test('have the scopes that they were made with; without any, the full access of the account', async () => {
    const ada = await site.person('ada');
    const reader = await makeKey(ada, 'reader', { scopes: ['read'] });
    expect(reader).toMatchObject({ scopes: ['read'], lastUsedAt: null, lastUsedAddress: null });
    expect((await makeKey(ada, 'all')).scopes).toBeNull();
    const wish = { name: 'Home', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'abcd-efgh-1234' };
    const refused = await call(`${site.url}/v1/destinations`, 'POST', wish, { 'x-api-key': reader.key });
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_scope',
        scope: 'service:write',
        detail: 'The operation needs the scope service:write. Use an API key that has it.',
      },
    });
    const listed = await ask<Listed<ApiKey>>(ada, 'GET', '/api-keys');
    expect(listed.body.data.find((one) => one.id === reader.id)?.scopes).toEqual(['read']);
  });

  test('make no keys, whatever their scopes and expiry, so none makes a stronger one', async () => {
    const ada = await site.person('ada');
    for (const scopes of [['read'], ['read', 'write', 'destructive', 'billing'], undefined]) {
      const { key } = await makeKey(ada, 'maker', { scopes, expiresInDays: 1 });
      for (const wish of [{ name: 'equal', scopes, expiresInDays: 1 }, { name: 'stronger' }])
        expect(await call(`${site.url}/v1/api-keys`, 'POST', wish, { 'x-api-key': key })).toMatchObject({
          status: 403,
          body: { code: 'person_required' },
        });
      const policy = { maxKeyDays: null };
      expect(await call(`${site.url}/v1/api-key-policy`, 'PATCH', policy, { 'x-api-key': key })).toMatchObject({
        status: 403,
        body: { code: 'person_required' },
      });
    }
  });

  test('that have expired are refused as such, listed, and do not count towards the limit', async () => {
    const pia = await site.person('pia');
    const { key, id } = await makeKey(pia, 'old', { expiresInDays: 1 });
    expect((await withKey(site.url, key)).status).toBe(200);
    await query(site.databaseUrl, `update auth.apikey set "expiresAt" = now() - interval '1 s' where id = '${id}'`);
    const answer = await until('it is refused', async () => {
      const one = await withKey(replica.url, key);
      return one.status === 401 ? one : undefined;
    });
    expect(answer.body).toMatchObject({ code: 'api_key_expired', status: 401, title: 'API key expired' });
    expect(answer.headers.get('www-authenticate')).toContain('ApiKey');
    await makeKey(pia, 'new');
    const { body } = await ask<{ limits: { name: string; used: number }[] }>(pia, 'GET', '/limits');
    expect(body.limits.find(({ name }) => name === 'apiKeys')?.used).toBe(2);
    const listed = await ask<Listed<ApiKey>>(pia, 'GET', '/api-keys');
    expect(listed.body.data.map(({ name }) => name).sort()).toEqual(['new', 'old', 'pia']);
    expect((await withKey(replica.url, key)).body).toMatchObject({ code: 'api_key_expired' });
  });

  test('live no longer than the policy of the account allows, those made before it too', async () => {
    const pol = await site.person('pol');
    const before = await makeKey(pol, 'before');
    await query(
      site.databaseUrl,
      `update auth.apikey set "createdAt" = now() - interval '40 days' where id = '${before.id}'`,
    );
    expect((await withKey(replica.url, before.key)).status).toBe(200);
    const setDays = (maxKeyDays: unknown) => ask(pol, 'PATCH', '/api-key-policy', { maxKeyDays });
    expect((await ask(pol, 'GET', '/api-key-policy')).body).toEqual({ maxKeyDays: null });
    expect(await setDays(30)).toMatchObject({ status: 200, body: { maxKeyDays: 30 } });
    expect((await withKey(site.url, before.key)).body).toMatchObject({ code: 'api_key_expired' });
    await until('the other server obeys', async () => (await withKey(replica.url, before.key)).status === 401);

    const late = await ask(pol, 'POST', '/api-keys', { name: 'late', expiresInDays: 31 });
    expect([late.status, late.body.errors]).toEqual([422, [expect.objectContaining({ path: '/expiresInDays' })]]);
    const made = await makeKey(pol, 'made');
    expect(Math.round((Date.parse(made.expiresAt ?? '') - Date.parse(made.createdAt)) / 86_400_000)).toBe(30);
    for (const wrong of [0, 366, 1.5, '30', undefined]) expect((await setDays(wrong)).status).toBe(422);

    expect((await ask(await site.person('ada'), 'GET', '/api-key-policy')).body).toEqual({ maxKeyDays: null });
    expect((await ask(pol, 'GET', '/account/export')).body).toMatchObject({ apiKeyPolicy: { maxKeyDays: 30 } });
    expect((await setDays(null)).body).toEqual({ maxKeyDays: null });
    expect((await withKey(site.url, before.key)).status).toBe(200);
  });

  test('when one was last used is written down, and from where', async () => {
    const ada = await site.person('ada');
    const { key, id } = await makeKey(ada, 'used');
    const before = Date.now() - 1000;
    for (let i = 0; i < 20; i += 1) expect((await withKey(replica.url, key)).status).toBe(200);
    const used = await until('it is written down', async () => {
      const { body } = await ask<Listed<ApiKey>>(ada, 'GET', '/api-keys');
      const one = body.data.find((listed) => listed.id === id);
      return one?.lastUsedAt ? one : undefined;
    });
    expect(Date.parse(used.lastUsedAt ?? '')).toBeGreaterThan(before);
    expect(used.lastUsedAddress).toBe('127.0.0.1');
    expect((await withKey(site.url, key)).status).toBe(200);
  });
});

describe('sessions', () => {
  test('are shown without their secrets, and ended one by one or all but this one', async () => {
    const eve = await site.person('eve');
    const [second, third] = [await signIn(site.url, eve), await signIn(site.url, eve)];
    const list = async () => (await ask<Listed<PersonSession>>(eve, 'GET', '/sessions')).body.data;
    const all = await list();
    expect(all).toHaveLength(3);
    expect(all.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
    for (const cookie of [eve.cookie, second, third])
      expect(JSON.stringify(all)).not.toContain(decodeURIComponent(cookie.split('=')[1] ?? '').split('.')[0]);
    const ids = new Set(
      (await ask<Listed<PersonSession>>({ cookie: second }, 'GET', '/sessions')).body.data.map((s) => s.id),
    );
    expect(ids).toEqual(new Set(all.map(({ id }) => id)));

    const other = all.find(({ isCurrent }) => !isCurrent)?.id ?? '';
    expect((await ask(await site.person('bob'), 'DELETE', `/sessions/${other}`)).status).toBe(404);
    expect((await ask(eve, 'DELETE', `/sessions/${other}`)).status).toBe(204);
    expect(await list()).toHaveLength(2);
    expect((await ask(eve, 'DELETE', '/sessions')).status).toBe(204);
    expect((await list()).map(({ isCurrent }) => isCurrent)).toEqual([true]);
    for (const cookie of [second, third]) expect((await ask({ cookie }, 'GET', '/sessions')).status).toBe(401);
  });
});

describe('connected apps', () => {
  test('are listed with their permissions, and cut off: no token is valid, and no new one is issued', async () => {
    const person = await site.person('una');
    const client = await register(site.url, {
      client_name: '<script>x</script>',
      scope: 'service:read offline_access',
    });
    const tokens = await authorize(site.url, person, client, { scope: 'service:read offline_access' });
    const bearer = (url: string) =>
      call(`${url}/v1/me`, 'GET', undefined, { authorization: `Bearer ${tokens.access_token}` });
    expect((await bearer(site.url)).status).toBe(200);
    const list = async () => (await ask<Listed<ConnectedApp>>(person, 'GET', '/connected-apps')).body.data;
    const [app] = await list();
    expect(app).toMatchObject({ id: client.client_id, name: '<script>x</script>', isVerified: false });
    expect(app?.scopes).toEqual(expect.arrayContaining(['service:read', 'offline_access']));
    expect(Date.parse(app?.lastUsedAt ?? '')).toBeGreaterThan(Date.parse(app?.connectedAt ?? '') - 60_000);

    expect((await ask(await site.person('bob'), 'DELETE', `/connected-apps/${client.client_id}`)).status).toBe(404);
    expect((await ask(person, 'DELETE', `/connected-apps/${client.client_id}`)).status).toBe(204);
    expect(await list()).toEqual([]);
    expect((await refresh(site.url, client, tokens.refresh_token ?? '')).status).toBe(400);
    expect((await bearer(site.url)).status).toBe(401);
    await until('the other server refuses it', async () => (await bearer(replica.url)).status === 401);
  });
});

/** Gives the account more: ways to sign in, ledger entries, payments, requests for payment and invoices. */
async function giveMore({ accountId: id }: Person): Promise<void> {
  await giveCredit(site.databaseUrl, id);
  const statements = [
    `insert into auth.passkey (id, name, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp", "createdAt")
      values (gen_random_uuid(), 'Phone', 'pub-lic-key', '${id}', 'cre-den-tial', 0, 'multiDevice', true, now())`,
    `insert into auth.account (id, "accountId", "providerId", "userId", "accessToken", "createdAt", "updatedAt")
      values (gen_random_uuid(), 'mo-at-work', 'oidc', '${id}', 'ac-cess-to-ken', now(), now())`,
    `insert into loopstream.topups (id, account_id, amount_minor, currency, created_at, expires_at)
      values ('top-of-mo', '${id}', 2500, 'USD', now(), now())`,
    `insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key, key_id,
        address_index, rate, expires_at, created_at)
      values ('dep-of-mo', '${id}', 'bitcoin', 'BTC', 8, 'bc1qmo', 'bc1qmo', 'key-of-mo', 1, 1, now(), now())`,
    `insert into loopstream.invoices (id, account_id, series, sequence, kind, number, period_until, key, issued_at,
        total_credits, total_minor, content)
      values ('inv-of-mo', '${id}', 'MO', 1, 'invoice', 'MO-1', now(), 'mo', now(), 1, 1, '{"number": "MO-1"}')`,
  ];
  for (const statement of statements) await query(site.databaseUrl, statement);
}

test('the account as a document has all its data, and no secret', async () => {
  const person = await site.person('mo');
  const destination = { name: 'Mine', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'se-cr-et-key-wxyz' };
  expect((await ask(person, 'POST', '/destinations', destination)).status).toBe(201);
  expect((await ask(person, 'PATCH', '/billing/address', { city: 'Lyon' })).status).toBe(200);
  await giveMore(person);
  const { status, body, headers } = await ask(person, 'GET', '/account/export');
  expect(status).toBe(200);
  expect(headers.get('content-disposition')).toContain('attachment');
  expect(body).toMatchObject({ user: { email: person.email }, destinations: [{ name: 'Mine' }], streams: [] });
  expect((body.apiKeys as ApiKey[]).length).toBeGreaterThan(0);
  expect(body).toMatchObject({
    passkeys: [{ id: expect.any(String), name: 'Phone', isSynced: true, createdAt: expect.stringMatching(/Z$/) }],
    outsideSignIns: [{ provider: 'oidc', subject: 'mo-at-work' }],
    billingAddress: { city: 'Lyon' },
    ledger: [{ kind: 'grant', credits: '1000000' }],
    topUps: [{ id: 'top-of-mo', amountMinor: '2500' }],
    deposits: [{ id: 'dep-of-mo', asset: 'BTC', address: 'bc1qmo' }],
    invoices: [{ id: 'inv-of-mo', number: 'MO-1' }],
  });
  const text = JSON.stringify(body);
  const proofs = ['pub-lic-key', 'cre-den-tial', 'ac-cess-to-ken'];
  for (const secret of [destination.rtmpKey, person.key, person.password, ...proofs])
    expect(text).not.toContain(secret);
  // A row of another account is in that account's export alone.
  expect(await ask(await site.person('ada'), 'GET', '/account/export')).toMatchObject({
    body: { ledger: [], topUps: [], deposits: [], invoices: [], passkeys: [], outsideSignIns: [] },
  });
});

test('the document has each entry of a long ledger once, in order', async () => {
  const lea = await site.person('lea');
  const count = 2_500;
  // Both in one transaction, as the ledger demands.
  await query(
    site.databaseUrl,
    `insert into loopstream.ledger_transactions (key, kind, account_id, at)
      select 'many:' || n, 'grant', '${lea.accountId}', now() from generate_series(1, ${count}) n;
    insert into loopstream.ledger_entries (transaction_id, position, account, credits)
      select t.id, s.n, case s.n when 1 then 'customer:${lea.accountId}' else 'grants' end, 3 - 2 * s.n
      from loopstream.ledger_transactions t, generate_series(1, 2) s(n) where t.key like 'many:%'`,
  );
  const { body } = await ask(lea, 'GET', '/account/export');
  const numbers = (body.ledger as { number: number }[]).map(({ number }) => number);
  expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1));
});

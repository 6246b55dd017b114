import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuth } from '../../../src/service/auth/better-auth.ts';
import { keysCommand } from '../../../src/service/auth/keys-command.ts';
import { type AuthService, createAuthService } from '../../../src/service/auth/service.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { migrate } from '../../../src/service/server/migrate.ts';
import { startTestPostgres } from '../../kit/real/postgres.ts';

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
let pool: ReturnType<typeof createPool>;
let service: AuthService;
const secret = 'a secret of the test, long enough for the auth library';

beforeAll(async () => {
  postgres = await startTestPostgres();
  // Processes that start at the same moment must not disturb each other.
  await Promise.all([1, 2, 3].map(() => migrate({ databaseUrl: postgres.url, authSecret: secret })));
  pool = createPool(postgres.url, { searchPath: 'auth' });
  service = createAuthService({ library: async () => createAuth(pool, secret), db: createDb(pool) });
});

afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

const withKey = (apiKey: string | undefined, authorization?: string) => service.authenticate({ apiKey, authorization });

describe('users and keys', () => {
  test('migrating again changes nothing', async () => {
    await migrate({ databaseUrl: postgres.url, authSecret: secret });
  });

  test('a user is made once, also when asked for many times at once', async () => {
    const user = { email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Lovelace' };
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.ensureUser(user)));
    expect(new Set(ids).size).toBe(1);
    expect(await service.user(ids[0] ?? '')).toMatchObject({ email: 'ada@example.com', firstName: 'Ada' });
  });

  test('a key acts as its user with every scope, is kept as a hash only, and is refused once revoked', async () => {
    const userId = await service.ensureUser({ email: 'key@example.com', firstName: 'Key' });
    const { id, key } = await service.createApiKey(userId, 'laptop');
    expect(key).toMatch(/^lsk_[0-9A-Za-z]{46}$/);
    const principal = await withKey(key);
    expect(principal).toMatchObject({ accountId: userId, userId });
    expect([...principal.scopes].sort()).toEqual(['billing', 'destructive', 'read', 'write']);
    const stored = await pool.query('select * from auth.apikey where id = $1', [id]);
    expect(JSON.stringify(stored.rows)).not.toContain(key);
    expect(service.known({ apiKey: key, authorization: undefined })).toBe(principal);
    expect(await service.revokeApiKey(id)).toBe(true);
    expect(service.known({ apiKey: key, authorization: undefined })).toBeUndefined();
    await expect(withKey(key)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('a key is the same one as a Bearer credential, also where there are no tokens', async () => {
    const userId = await service.ensureUser({ email: 'bearer@example.com', firstName: 'Bea' });
    const { id, key } = await service.createApiKey(userId, 'no header of its own');
    for (const scheme of ['Bearer', 'bearer', 'BEARER '])
      expect(await withKey(undefined, `${scheme} ${key}`), scheme).toMatchObject({ accountId: userId, via: 'key' });
    expect(service.known({ apiKey: undefined, authorization: `Bearer ${key}` })).toMatchObject({ accountId: userId });
    for (const wrong of [
      key,
      `Basic ${key}`,
      `Bearer ${key} ${key}`,
      `Bearer "${key}"`,
      'Bearer lsk_',
      `Bearer ${key}A`,
    ])
      await expect(withKey(undefined, wrong), wrong).rejects.toMatchObject({ code: 'unauthenticated' });
    // The header for keys alone decides where both were sent.
    await expect(withKey('lsk_wrong', `Bearer ${key}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    await service.revokeApiKey(id);
    await expect(withKey(undefined, `Bearer ${key}`)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('a missing, wrong, too long or expired key and a bearer token are refused', async () => {
    const userId = await service.ensureUser({ email: 'expired@example.com', firstName: 'Ex' });
    const { id, key } = await service.createApiKey(userId, 'old', { expiresInSeconds: 86_400 });
    await withKey(key);
    const other = createAuthService({ library: async () => createAuth(pool, secret), db: createDb(pool) });
    await pool.query(`update auth.apikey set "expiresAt" = now() - interval '1 second' where id = $1`, [id]);
    await expect(other.authenticate({ apiKey: key, authorization: undefined })).rejects.toMatchObject({
      code: 'api_key_expired',
      status: 401,
      message: expect.stringMatching(/^The API key expired at 20.*Z\. Create a new key in the dashboard\.$/),
    });
    for (const apiKey of [undefined, '', 'nonsense', 'lsk_wrong', `lsk_${'a'.repeat(5000)}`])
      await expect(withKey(apiKey)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(withKey(undefined, 'Bearer abc')).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('a key has the scopes that it was made with; one from before checksums stays valid', async () => {
    const userId = await service.ensureUser({ email: 'scoped@example.com', firstName: 'Sco' });
    const { key } = await service.createApiKey(userId, 'reader', { scopes: ['read', 'billing'] });
    expect([...(await withKey(key)).scopes]).toEqual(['read', 'billing']);
    const { id, key: replaced } = await service.createApiKey(userId, 'old');
    const old = `lsk_${'aBcDeFgH'.repeat(8)}`;
    await pool.query('update auth.apikey set key = $1 where id = $2', [hash('sha256', old, 'base64url'), id]);
    expect((await withKey(old)).scopes.size).toBe(4);
    await expect(withKey(replaced)).rejects.toMatchObject({ code: 'unauthenticated' });
    // Unknown permissions allow nothing.
    await pool.query(`update auth.apikey set permissions = '{"streams":["read"]}' where id = $1`, [id]);
    const other = createAuthService({ library: async () => createAuth(pool, secret), db: createDb(pool) });
    expect((await other.authenticate({ apiKey: old, authorization: undefined })).scopes.size).toBe(0);
  });

  test('the command makes a key with scopes and an expiry, and refuses unknown ones before it makes an account', async () => {
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });
    vi.stubEnv('LOOPSTREAM_DATABASE_URL', postgres.url);
    vi.stubEnv('LOOPSTREAM_AUTH_SECRET', secret);
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const email = ['--email', 'pipeline@example.com'];
    for (const [given, message] of [
      [['--scopes', 'read,everything'], '"everything" is not a scope'],
      [['--days', '0'], '--days is not a number from 1'],
    ] as const)
      await expect(keysCommand([...email, ...given])).rejects.toThrow(message);
    const { rows: none } = await pool.query('select 1 from auth.user where email = $1', [email[1]]);
    expect(none).toEqual([]);
    expect(await keysCommand([...email, '--scopes', 'read,write', '--days', '90'])).toBe(0);
    const key = String(printed.mock.calls.at(-1)?.[0]).trim();
    expect([...(await withKey(key)).scopes]).toEqual(['read', 'write']);
    const { rows } = await pool.query('select "expiresAt" from auth.apikey where name = $1', ['command line']);
    expect(Math.round((rows[0].expiresAt.getTime() - Date.now()) / 86_400_000)).toBe(90);
  });

  test('expired keys are listed for 90 days, and others stay', async () => {
    const userId = await service.ensureUser({ email: 'ninety@example.com', firstName: 'Nine' });
    const day = 86_400;
    for (const [name, days] of Object.entries({ gone: -91, kept: -89, good: 1 }))
      await service.createApiKey(userId, name, { expiresInSeconds: days * day });
    await service.forgetOld(7);
    const { rows } = await pool.query('select name from auth.apikey where "referenceId" = $1 order by name', [userId]);
    expect(rows.map(({ name }) => name)).toEqual(['good', 'kept']);
  });

  test('eight-byte integers arrive exactly', async () => {
    const { rows } = await pool.query('select 9007199254740993::int8 as a, 123456789012345678901::numeric as b');
    expect(rows[0]).toEqual({ a: 9007199254740993n, b: 123456789012345678901n });
  });
});

/** Tests forged tokens, by the sections that describe them. Each is tried beside a valid one. */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { type Forge, openForge } from '../../kit/make/oauth-forge.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;
let good: string;
let payload: Forge['payload'];
let header: Forge['header'];
let sign: Forge['sign'];

beforeAll(async () => {
  site = await startTestSite();
  good = await site.token('ada', 'service:read');
  ({ payload, header, sign } = await openForge(site, good));
});

afterAll(() => site?.stop());

const getStatus = async (token: string): Promise<number> => {
  const answer = await call(`${site.url}/v1/me`, 'GET', undefined, { authorization: `Bearer ${token}` });
  if (answer.status === 401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
  return answer.status;
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

describe('signatures', () => {
  test('a token that we sign ourselves in these tests is good', async () => {
    expect([await getStatus(good), await getStatus(await sign({ jti: 'another' }))]).toEqual([200, 200]);
  });

  test('RFC 8725 §2.1: `alg: none`, in any writing, is no signature', async () => {
    for (const alg of ['none', 'None', 'NONE', ''])
      expect(await getStatus(`${encode({ ...header, alg })}.${encode(payload)}.`), alg).toBe(401);
  });

  test('RFC 8725 §2.1: HS256 with the public key as the secret is refused', async () => {
    const { keys } = (await (await fetch(`${site.url}/api/auth/jwks`)).json()) as { keys: object[] };
    const signed = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
    for (const secret of [JSON.stringify(keys[0]), JSON.stringify(keys)])
      expect(await getStatus(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`)).toBe(401);
  });

  test('RFC 8725 §3.1: another algorithm, another curve and another key are refused', async () => {
    for (const [alg, key] of [
      ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
      ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
      ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
      ['EdDSA', generateKeyPairSync('ed25519').privateKey],
    ] as const)
      expect(await getStatus(await new SignJWT(payload).setProtectedHeader({ ...header, alg }).sign(key)), alg).toBe(
        401,
      );
  });

  test('RFC 8725 §3.10: a key inside or named by a token is never used', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: header.kid };
    const own = (head: object) => new SignJWT(payload).setProtectedHeader({ ...header, ...head }).sign(pair.privateKey);
    const heads = [
      { jwk },
      { jku: 'https://evil.example/jwks' },
      { x5u: 'https://evil.example/x5u' },
      { kid: '../../../../../dev/null' },
      { kid: "' union select '{}' --" },
      { kid: 'https://evil.example/jwks#key' },
      { kid: '__proto__' },
    ];
    for (const head of heads) expect(await getStatus(await own(head)), JSON.stringify(head)).toBe(401);
  });

  test('RFC 7515 §4.1.11: an extension that must be understood is not passed over', async () => {
    const crit = `${encode({ ...header, crit: ['exp'] })}.${good.split('.')[1]}.${good.split('.')[2]}`;
    expect(await getStatus(crit)).toBe(401);
  });

  test('a token with anything changed or cut off is refused, and a far too long one', async () => {
    const [head, claims, signature] = good.split('.');
    const raised = encode({ ...payload, scope: 'service:read service:destructive' });
    for (const token of [`${head}.${raised}.${signature}`, `${head}.${claims}`, `${head}.${claims}.`, `${good}A`, '..'])
      expect(await getStatus(token), token).toBe(401);
    expect(await getStatus(await sign({ padding: 'x'.repeat(5000) }))).toBe(401);
  });
});

describe('claims', () => {
  test('RFC 9068 §4: a token of another issuer is refused', async () => {
    for (const iss of ['https://evil.example', `${site.url}/`, ''])
      expect(await getStatus(await sign({ iss })), iss).toBe(401);
  });

  test('RFC 9068 §4, RFC 9700 §2.3: a token for another audience is refused', async () => {
    for (const aud of ['https://bank.example', `${site.url}/mcp`, [], `${site.url}/`, `${site.url}.evil.example`])
      expect(await getStatus(await sign({ aud })), String(aud)).toBe(401);
  });

  test('RFC 8725 §3.11: a JWT of another type is no access token, such as an ID token', async () => {
    for (const typ of ['JWT', 'id+jwt', 'logout+jwt', undefined])
      expect(await getStatus(await sign({}, { typ: typ as string })), typ).toBe(401);
  });

  test('RFC 9068 §4: a token that is over, not yet good, or good for ever is refused', async () => {
    expect(await getStatus(await sign({ exp: now() - 60 }))).toBe(401);
    expect(await getStatus(await sign({ nbf: now() + 60 }))).toBe(401);
    expect(await getStatus(await sign({ exp: undefined }))).toBe(401);
    // Two clocks may differ a little.
    expect(await getStatus(await sign({ nbf: now() + 2 }))).toBe(200);
  });

  test('RFC 9068 §2.2: no required claim of an access token can be left out', async () => {
    for (const name of ['sub', 'aud', 'iss', 'client_id', 'jti', 'iat'])
      expect(await getStatus(await sign({ [name]: undefined })), name).toBe(401);
  });

  test('a token for a missing person, or for a client without authorization, is refused', async () => {
    expect(await getStatus(await sign({ sub: '00000000-0000-4000-8000-000000000000' }))).toBe(401);
    expect(await getStatus(await sign({ sub: "x' or 1=1 --" }))).toBe(401);
    expect(await getStatus(await sign({ client_id: 'never' }))).toBe(401);
  });

  test('RFC 9068 §3: scopes are complete ones of this service', async () => {
    const writes = async (scope: unknown) => {
      const authorization = `Bearer ${await sign({ scope })}`;
      return (await call(`${site.url}/v1/destinations`, 'POST', {}, { authorization })).status;
    };
    expect(await writes('service:write')).toBe(422);
    for (const scope of ['write', 'other:write', 'service:writer', 'service:', ['service:write'], undefined])
      expect(await writes(scope), String(scope)).toBe(403);
  });
});

describe('how a token comes', () => {
  test('RFC 9700 §4.3.2: in a query it does not count', async () => {
    for (const name of ['access_token', 'token', 'authorization'])
      expect((await call(`${site.url}/v1/me?${name}=${good}`, 'GET')).status).toBe(401);
  });

  test('RFC 6750 §2: in the header with its scheme it does, and no other way', async () => {
    const with_ = async (headers: Record<string, string>) =>
      (await call(`${site.url}/v1/me`, 'GET', undefined, headers)).status;
    expect(await with_({ authorization: `bearer ${good}` })).toBe(200);
    for (const authorization of [good, `Basic ${good}`, `Bearer ${good} ${good}`, `Bearer "${good}"`, 'Bearer'])
      expect(await with_({ authorization }), authorization).toBe(401);
    expect(await with_({ cookie: `access_token=${good}; loopstream.session=${good}` })).toBe(401);
    expect(await with_({ 'x-api-key': good })).toBe(401);
  });
});

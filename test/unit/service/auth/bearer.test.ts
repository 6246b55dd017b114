/** Tests the checks of an access token without a server: the key that verifies it, and how often keys are looked up. */
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { exportJWK, SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyToken, verifyTokens } from '../../../../src/service/auth/bearer.ts';
import { createSigningKeys } from '../../../../src/service/auth/signing-keys.ts';
import type { SigningKeyRow } from '../../../../src/service/auth/store.ts';
import { AppError } from '../../../../src/service/lib/errors.ts';

const ISSUER = 'https://loop.example.com';
const AUDIENCE = [ISSUER, `${ISSUER}/mcp`];
const USER = '6fa4ce10-0f3b-4b0c-8a35-6d2f6f1f2a11';
const HOUR_MS = 3_600_000;

let rows: SigningKeyRow[];
let reads: number;
let failure: Error | undefined;
let nowMs: number;
const clock = { now: () => new Date(Date.now() + nowMs), monotonicMs: () => nowMs };

const makeKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const buildRow = async (id: string, key: KeyObject, retiredAt: Date | null = null): Promise<SigningKeyRow> => ({
  id,
  publicKey: JSON.stringify(await exportJWK(key)),
  alg: 'ES256',
  retiredAt,
});
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const ours = makeKey();
let app: FastifyInstance;
let keys: ReturnType<typeof createSigningKeys>;

beforeEach(async () => {
  [rows, reads, failure, nowMs] = [[await buildRow('one', ours.publicKey)], 0, undefined, 1_000_000];
  const read = async () => {
    reads += 1;
    if (failure) throw failure;
    return rows;
  };
  keys = createSigningKeys({ read, clock });
  app = Fastify();
  await verifyTokens(app, { issuer: ISSUER, audience: AUDIENCE, findKey: keys.find });
  app.get('/', async (request) => verifyToken(request));
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof AppError ? error.status : 500).send({ message: (error as Error).message }),
  );
  return async () => app.close();
});

const seconds = () => Math.floor(Date.now() / 1000);
const CLAIMS = { iss: ISSUER, aud: ISSUER, sub: USER, client_id: 'client', jti: 'jti', scope: 'service:read' };
const sign = (claims: object = {}, head: object = {}, key = ours.privateKey) =>
  new SignJWT({ ...CLAIMS, iat: seconds(), exp: seconds() + 900, ...claims } as never)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one', ...head } as never)
    .sign(key);
const getStatus = async (token: string): Promise<number> =>
  (await app.inject({ url: '/', headers: { authorization: `Bearer ${token}` } })).statusCode;

describe('a token', () => {
  test('of ours is good, for either resource, and in any writing of its type', async () => {
    expect(await getStatus(await sign())).toBe(200);
    expect(await getStatus(await sign({ aud: ['https://else.example', `${ISSUER}/mcp`] }))).toBe(200);
    expect(await getStatus(await sign({}, { typ: 'application/at+jwt' }))).toBe(200);
  });

  test.each<[string, () => Promise<string> | string]>([
    ['no signature', () => `${encode({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${encode(CLAIMS)}.`],
    ['no algorithm', () => `${encode({ typ: 'at+jwt', kid: 'one' })}.${encode(CLAIMS)}.AAAA`],
    ['ES256 and an empty signature', async () => (await sign()).replace(/[^.]+$/, '')],
    ['ES256 and a short signature', async () => (await sign()).slice(0, -8)],
    ['ES256 and a long signature', async () => `${await sign()}A`],
    [
      'the public key as a shared secret',
      () => {
        const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${encode(CLAIMS)}`;
        const secret = ours.publicKey.export({ type: 'spki', format: 'pem' });
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
    ],
    ['the key of another', () => sign({}, {}, makeKey().privateKey)],
    ['another issuer', () => sign({ iss: `${ISSUER}/` })],
    ['another audience', () => sign({ aud: 'https://bank.example' })],
    ['no audience', () => sign({ aud: [] })],
    ['an audience that begins as ours', () => sign({ aud: `${ISSUER}.evil.example` })],
    ['the type of an ID token', () => sign({}, { typ: 'JWT' })],
    ['no type', () => sign({}, { typ: undefined })],
    ['a time that is over', () => sign({ exp: seconds() - 6 })],
    ['a time to come', () => sign({ nbf: seconds() + 60 })],
    ['an end that is a text', () => sign({ exp: '9999999999' })],
    ['no end', () => sign({ exp: undefined })],
    ['nobody', () => sign({ sub: undefined })],
    ['somebody who is no user', () => sign({ sub: "x' or 1=1" })],
    ['several people', () => sign({ sub: [USER] })],
    ['an extension that must be understood', () => sign({}, { crit: ['b64'], b64: true })],
    ['a header that is null', () => `${encode(null)}.${encode(CLAIMS)}.AAAA`],
    ['a header that is a list', () => `${encode([])}.${encode(CLAIMS)}.AAAA`],
    ['claims that are a number', () => `${encode({ alg: 'ES256', kid: 'one' })}.${encode(5)}.AAAA`],
    ['a key id that is an object', () => `${encode({ alg: 'ES256', kid: {} })}.${encode(CLAIMS)}.AAAA`],
    ['four parts', async () => `${await sign()}.AAAA`],
    ['nothing but dots', () => '../..'],
  ])('with %s is refused', async (_what, make) => {
    expect(await getStatus(await sign())).toBe(200);
    expect(await getStatus(await make())).toBe(401);
  });
});

describe('keys', () => {
  test('are read once for a flood of unknown ids in a second, and not at all for another algorithm', async () => {
    await getStatus(await sign());
    expect(reads).toBe(1);
    nowMs += 1001;
    const flood = await Promise.all(Array.from({ length: 100 }, (_, n) => sign({}, { kid: `unknown-${n}` })));
    expect(new Set(await Promise.all(flood.map(getStatus)))).toEqual(new Set([401]));
    expect(reads).toBe(2);
    nowMs += 1001;
    await getStatus(`${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'unknown' })}.${encode(CLAIMS)}.AAAA`);
    expect(reads).toBe(2);
  });

  test('that are new are found within a second, and the old ones stay good until their tokens are over', async () => {
    const old = await sign();
    expect(await getStatus(old)).toBe(200);
    const next = makeKey();
    const retired = new Date(Date.now() + nowMs);
    rows = [await buildRow('one', ours.publicKey, retired), await buildRow('two', next.publicKey)];
    const young = await sign({}, { kid: 'two' }, next.privateKey);
    nowMs += 1001;
    expect([await getStatus(young), await getStatus(old)]).toEqual([200, 200]);
    nowMs += 2 * HOUR_MS;
    expect([await getStatus(young), await getStatus(old)]).toEqual([200, 401]);
  });

  test('that were taken away are trusted for a minute at most, and no longer here once they are forgotten', async () => {
    const token = await sign();
    expect(await getStatus(token)).toBe(200);
    rows = [];
    expect(await getStatus(token)).toBe(200);
    nowMs += 60_001;
    expect(await getStatus(token)).toBe(401);
    rows = [await buildRow('one', ours.publicKey)];
    nowMs += 1001;
    expect(await getStatus(token)).toBe(200);
    rows = [];
    keys.forget();
    expect(await getStatus(token)).toBe(401);
  });

  test('that cannot be read are not the token’s fault', async () => {
    failure = new AppError('upstream_unavailable', 'The database did not answer.');
    expect(await getStatus(await sign())).toBe(502);
    failure = undefined;
    expect(await getStatus(await sign())).toBe(200);
  });

  test('cannot sign', async () => {
    expect(() => app.jwt.sign({})).toThrow(/verify mode/);
  });
});

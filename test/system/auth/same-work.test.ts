/**
 * Tests that an address with an account costs the server the same as one without, so that the time of an answer is no hint. The cost is the
 * number of hashed passwords, and of statements to the database.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Auth, createAuth } from '../../../src/service/auth/better-auth.ts';
import { createPool } from '../../../src/service/db/pool.ts';
import { AUTH_PATHS } from '../../../src/service/server/auth/paths.ts';
import { shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';

const secret = 'a secret of the test, long enough for the auth library';
const publicUrl = 'http://127.0.0.1:8080';
const password = 'seven lamps over water';

let postgres: TestPostgres;
let pool: ReturnType<typeof createPool>;
let auth: Auth;
const work = { hashes: 0, statements: 0 };

beforeAll(async () => {
  postgres = await shareTestPostgres();
  pool = createPool(postgres.url, { searchPath: 'auth' });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      work.statements += 1;
      return query(...given);
    }) as never;
  });
  const nothing = async () => undefined;
  const mails = { signedUp: nothing, confirmAgain: nothing, resetPassword: nothing, guessed: nothing, notice: nothing };
  auth = createAuth(pool, secret, {
    publicUrl,
    signUp: true,
    scopePrefix: 'service',
    authLimits: { attempts: 20 },
    mails,
  });
  const { password: passwords } = await auth.$context;
  const { hash, verify } = passwords;
  passwords.hash = (...given) => {
    work.hashes += 1;
    return hash(...given);
  };
  passwords.verify = (...given) => {
    work.hashes += 1;
    return verify(...given);
  };
  await send('/sign-up/email', { email: 'waiting@example.com', password, firstName: 'Waiting' });
  const { internalAdapter } = await auth.$context;
  for (const name of ['unconfirmed', 'confirmed', 'elsewhere']) {
    const person = { email: `${name}@example.com`, name, firstName: name, emailVerified: name !== 'unconfirmed' };
    const { id } = await internalAdapter.createUser(person, { method: 'email-password' } as never);
    // A user of an outside provider has no password here.
    if (name === 'elsewhere') continue;
    const account = { providerId: 'credential', accountId: id, password: await passwords.hash(password) };
    await internalAdapter.linkAccount({ userId: id, ...account });
  }
});
afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

async function send(path: string, body: object) {
  Object.assign(work, { hashes: 0, statements: 0 });
  const headers = { 'content-type': 'application/json', origin: publicUrl };
  const request = new Request(`${publicUrl}/api/auth${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const response = await auth.handler(request);
  const { hashes, statements } = work;
  return { status: response.status, hashes, statements, body: (await response.json()) as unknown };
}

const EMAILS = [
  'waiting@example.com',
  'unconfirmed@example.com',
  'confirmed@example.com',
  'elsewhere@example.com',
  'nobody@example.com',
];

test.each([
  ['/sign-in/email', (email: string) => ({ email, password: 'another password' }), 401, 1],
  ['/sign-up/email', (email: string) => ({ email, password, firstName: 'N' }), 200, 1],
  ['/request-password-reset', (email: string) => ({ email }), 200, 0],
  ['/send-verification-email', (email: string) => ({ email }), 200, 0],
])(
  '%s hashes as often, and asks the database about as much, whether there is an account or not',
  async (path, body, status, hashes) => {
    const done = [];
    for (const email of EMAILS) done.push({ email, ...(await send(path, body(email))) });
    for (const one of done) expect(one, one.email).toMatchObject({ status, hashes });
    const statements = done.map((one) => one.statements);
    // A statement takes a thousandth of a hash; answers at even times hide two of them.
    expect(Math.max(...statements) - Math.min(...statements)).toBeLessThanOrEqual(2);
    expect(AUTH_PATHS.find((entry) => entry.path === path)?.evenTiming).toBeDefined();
    // The answers are the same too, apart from random and created values.
    const shapes = done.map(({ body: answer }) =>
      JSON.stringify(answer).replace(/"(id|createdAt|updatedAt|email)":"[^"]*"/g, ''),
    );
    expect(new Set(shapes).size).toBe(1);
  },
);

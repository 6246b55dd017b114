/**
 * Attacks sign-in with clients whose document never comes: anybody may name the address of a document, and decides how long its
 * server takes. Such a server must hold no place that people need to sign in.
 */
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownPage, type Person, signIn, startTestSite, type TestSite } from '../kit/make/oauth.ts';

const ADDRESSES = 40;
const REQUESTS = 4;
/** Documents that are waited for at once. */
const AT_ONCE = 16;
const REGISTRATIONS = 5;

let site: TestSite;
let ada: Person;
const held = new Set<Socket>();
/** Documents that were given up. */
let givenUp = 0;
/** Accepts connections on each address of this machine, and never answers. */
const silent = createServer((socket) => {
  held.add(socket);
  socket
    .on('error', () => undefined)
    .once('close', () => {
      held.delete(socket);
      givenUp++;
    });
});
let port: number;

beforeAll(async () => {
  await new Promise<void>((done) => silent.listen(0, '0.0.0.0', done));
  ({ port } = silent.address() as { port: number });
  site = await startTestSite({ allowPrivateLinks: true });
  ada = await site.person('ada');
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
  silent.close();
  await site?.stop();
});

/** Opens a client from an address. Resolves with the answer's status. */
function open(url: string, clientId: string, localAddress: string): Promise<number> {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:7777/callback',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    state: 'x',
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(`${url}/api/auth/oauth2/authorize?${query}`, { localAddress, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on('error', reject)
    .end();
  return promise;
}

test('people sign in while forty addresses wait for documents that never come, each on a host of its own', async () => {
  const flood = Array.from({ length: ADDRESSES * REQUESTS }, async (_, n) => {
    const from = `127.0.0.${10 + (n % ADDRESSES)}`;
    return await open(site.url, `https://127.0.1.${n + 1}:${port}/c${n}`, from);
  });
  await expect.poll(() => held.size).toBeGreaterThanOrEqual(AT_ONCE);
  for (let times = 0; times < 3; times++) {
    const before = givenUp;
    expect(await signIn(site.url, ada)).toContain('session');
    // A sign-in in line behind the documents would come after one of each address.
    expect(givenUp - before).toBeLessThan(ADDRESSES);
  }
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
});

test('an address opens as many unknown clients an hour as it may register, and goes on signing in', async () => {
  const limited = await site.replica({ authLimits: { ...site.config.authLimits, registrations: REGISTRATIONS } });
  const from = '127.0.0.200';
  const statuses = [];
  for (let n = 0; n < REGISTRATIONS + 2; n++)
    statuses.push(await open(limited.url, `https://127.0.2.${n + 1}:1025/c${n}`, from));
  expect(statuses.slice(0, REGISTRATIONS)).not.toContain(429);
  expect(statuses.slice(REGISTRATIONS)).toEqual([429, 429]);
  const signedIn = Promise.withResolvers<number>();
  request(
    `${limited.url}/api/auth/sign-in/email`,
    { method: 'POST', headers: ownPage(site.config.publicUrl), localAddress: from, agent: false },
    (response) => {
      response.resume();
      signedIn.resolve(response.statusCode ?? 0);
    },
  )
    .on('error', signedIn.reject)
    .end(JSON.stringify({ email: ada.email, password: ada.password }));
  expect(await signedIn.promise).toBe(200);
});

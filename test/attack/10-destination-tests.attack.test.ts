/** Attacks tests of destinations: one account with many tests, against a silent server, must not delay another account's. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeStrangers, type Stranger } from '../kit/system/strangers.ts';

const TESTS = 40;

let strangers: Awaited<ReturnType<typeof makeStrangers>>;
let silent: Server;
const sockets = new Set<Socket>();

beforeAll(async () => {
  strangers = await makeStrangers();
  // The server accepts the connection and stays silent: a test waits for its full time.
  silent = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent?.close();
});

const createDestination = async (stranger: Stranger, port: number): Promise<string> => {
  const wish = { name: 'x', rtmpUrl: `rtmp://127.0.0.1:${port}/live`, rtmpKey: 'k3y' };
  const { status, body } = await stranger.call('POST', '/destinations', wish);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
};

test('an account that requests forty tests at once has to wait, and another account’s test does not', async () => {
  const { mallory, victim } = strangers;
  const mine = await createDestination(victim, 9);
  const { port } = silent.address() as AddressInfo;
  const ids = await Promise.all(Array.from({ length: 8 }, () => createDestination(mallory, port)));
  let ended = 0;
  const attack = Array.from({ length: TESTS }, async (_, i) => {
    const answer = await mallory.call('POST', `/destinations/${ids[i % ids.length]}/test`);
    if (answer.status === 200) ended++;
    return answer;
  });
  await expect.poll(() => sockets.size).toBeGreaterThan(0);
  // A closed port answers at once. Had this test to wait for its turn, one of the others would have ended first.
  const { status, body } = await victim.call('POST', `/destinations/${mine}/test`);
  expect({ status, code: body.code, ended }).toEqual({ status: 200, code: 'connection_refused', ended: 0 });
  const answers = await Promise.all(attack);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(TESTS / 2);
  for (const { body, headers } of refused) {
    expect(body.code).toBe('rate_limited');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

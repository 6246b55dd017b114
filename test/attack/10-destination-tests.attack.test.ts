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

/** Returns the milliseconds of one test of a closed port, which ends at once when it is its turn. */
async function measureTest(stranger: Stranger, id: string): Promise<number> {
  const began = performance.now();
  const { status, body } = await stranger.call('POST', `/destinations/${id}/test`);
  expect({ status, code: body.code }).toEqual({ status: 200, code: 'connection_refused' });
  return performance.now() - began;
}

test('an account that requests forty tests at once has to wait, and another account’s test takes as long as alone', async () => {
  const { mallory, victim } = strangers;
  const mine = await createDestination(victim, 9);
  const aloneMs = await measureTest(victim, mine);
  const { port } = silent.address() as AddressInfo;
  const ids = await Promise.all(Array.from({ length: 8 }, () => createDestination(mallory, port)));
  const attack = Array.from({ length: TESTS }, (_, i) =>
    mallory.call('POST', `/destinations/${ids[i % ids.length]}/test`),
  );
  await expect.poll(() => sockets.size).toBeGreaterThan(0);
  const besideMs = await measureTest(victim, mine);
  // The machine has other work too; the fault was a queue, which took four times as long.
  expect(besideMs).toBeLessThan(1.5 * aloneMs + 2000);
  const answers = await Promise.all(attack);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(TESTS / 2);
  for (const { body, headers } of refused) {
    expect(body.code).toBe('rate_limited');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

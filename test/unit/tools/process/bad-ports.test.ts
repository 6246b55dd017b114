import { Dispatcher, fetch } from 'undici';
import { expect, test } from 'vitest';
import { isBadPort, suggestPort } from '../../../../tools/process/bad-ports.ts';

const ALL = Array.from({ length: 65_535 }, (_, index) => index + 1);

/** Connects to nothing. */
class NoConnection extends Dispatcher {
  override dispatch(): boolean {
    throw new Error('The port was opened.');
  }
}
const dispatcher = new NoConnection();

/** Whether `fetch`, which keeps to the standard, refuses the port before it connects. */
async function isRefusedByFetch(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`, { dispatcher }).then(
    () => false,
    (error: Error) => (error.cause as Error | undefined)?.message === 'bad port',
  );
}

test('the ports are those that fetch refuses', async () => {
  // The standard has none above 10080.
  const low = ALL.slice(0, 11_000);
  const refused = await Promise.all(low.map(isRefusedByFetch));
  expect(low.filter((_, index) => refused[index])).toEqual(ALL.filter(isBadPort));
});

test('another port is one that browsers open, without root', () => {
  const suggested = ALL.map(suggestPort);
  expect(suggested.filter((port) => isBadPort(port) || port < 1024 || port > 65_535)).toEqual([]);
  expect(ALL.filter((port) => suggestPort(port) === port)).toEqual([]);
  expect([80, 5060, 6665, 65_535].map(suggestPort)).toEqual([8080, 5062, 6670, 65_534]);
});

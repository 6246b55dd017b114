/** Tests with a real RTMP server that a destination which hangs up again and again is in one lasting state until it stays. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Publishing, type RtmpRecorder, startRtmpRecorder } from '../../kit/fake/rtmp-recorder.ts';
import { connected, destination } from '../../kit/make/destinations.ts';
import { openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

/** Starts a stream to one destination for each name. `lasts` has the milliseconds after which each is hung up on. */
async function publishTo(names: string[], lasts: Map<string, number>) {
  const server = await startRtmpRecorder({ hangUpAfterMs: (name) => lasts.get(name) });
  studio.cleanups.push(() => server.close());
  const url = `rtmp://127.0.0.1:${server.port}/live`;
  const secrets = Object.fromEntries(names.map((name) => [name, [url, name] as [string, string]]));
  const stream = await studio.onAir(buildProgram(studio.items, { destinations: names }), secrets);
  return { server, stream };
}

const publishesTo = (server: RtmpRecorder, key: string): Publishing[] =>
  server.publishings.filter(({ name }) => name === key);

/** How often the stream has said that the destination accepts it. Each time is one of the stream's Events, where it is the only one. */
const countAccepted = (stream: Running, name: string): number =>
  stream
    .log()
    .split('\n')
    .filter((line) => line.includes('the destination accepts the stream') && line.includes(`"destination":"${name}"`))
    .length;

/** Pauses between the end of a connection and the next one, in ms. */
function listPauses(server: RtmpRecorder, key: string): number[] {
  const all = publishesTo(server, key);
  return all.slice(1).map(({ startedMs }, i) => startedMs - (all[i]?.endedMs ?? startedMs));
}

describe('a destination that hangs up', () => {
  test('after the same time again and again is in one lasting state, and healthy once it stays', async () => {
    const lasts = new Map([500, 1200, 5000, 9000, 10_000, 15_000].map((ms) => [`after-${ms}`, ms]));
    const names = [...lasts.keys()];
    const { server, stream } = await publishTo(names, lasts);
    await until('each has hung up thrice', () => names.every((name) => listPauses(server, name).length >= 3), 90_000);
    // The longest of them is in its fourth connection, and all that was sent counts.
    for (const name of names) {
      expect(await destination(stream, name), name).toMatchObject({
        connected: false,
        lastError: { code: 'reset' },
      });
      expect(countAccepted(stream, name), name).toBeLessThanOrEqual(1);
    }
    const pauses = listPauses(server, 'after-1200');
    expect(Math.max(...pauses.slice(-3))).toBeGreaterThan(10 * 150);
    const before = countAccepted(stream, 'after-1200');
    lasts.delete('after-1200');
    await connected(stream, 'after-1200');
    expect(await destination(stream, 'after-1200')).toMatchObject({ lastError: null });
    expect(countAccepted(stream, 'after-1200')).toBe(before + 1);
  }, 300_000);

  test('once, after it was healthy, is back at once', async () => {
    const { server, stream } = await publishTo(['steady'], new Map());
    await connected(stream, 'steady');
    const begunMs = performance.now();
    await until('it lasts', () => performance.now() - begunMs > 21_000);
    server.hangUp('steady');
    await until('the failure', async () => (await destination(stream, 'steady'))?.reconnects === 1);
    await connected(stream, 'steady');
    const publishes = publishesTo(server, 'steady');
    expect(publishes).toHaveLength(2);
    // It need not hold for ten seconds first.
    expect(performance.now() - (publishes[0]?.endedMs ?? 0)).toBeLessThan(8000);
  });
});

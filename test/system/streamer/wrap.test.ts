import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TAG_AUDIO, TAG_VIDEO } from '../../../src/core/pods/rendition/flv.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { AUDIO_STEP_MS, openStudio, type Studio, VIDEO_STEP_MS } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, readPackets } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';
import { type Message, tapWire } from './wire.ts';

const WRAP_MS = 2 ** 32;
/** The time from the start until the clock passes the wrap, and from there until the test has enough. */
const BEFORE_MS = 4000;
const AFTER_MS = 4000;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

/** Computes the steps between a track's frames in serial number arithmetic (RFC 1982): modulo 2^32. */
function stepsOnWire(messages: Message[], type: number): number[] {
  const times = messages.filter((m) => m.type === type && !m.header).map((m) => m.timestampMs);
  return times.slice(1).map((t, i) => (t - (times[i] ?? t) + WRAP_MS) % WRAP_MS);
}

test.each([
  ['the 32 bits of its clock wrap, after 49.7 days', WRAP_MS, 'unsigned'],
  ['its clock passes 31 bits, after 24.9 days', WRAP_MS / 2, 'signed'],
])('%s: no gap, no reconnect, and a player goes on', async (_, placeMs, key) => {
  const wire = await tapWire(studio.rtmp.port);
  studio.cleanups.push(() => wire.close());
  const startMs = placeMs - BEFORE_MS;
  const stream = await studio.onAir(
    buildProgram(studio.items.slice(0, 1)),
    { main: [wire.url, key] },
    { timelineStartMs: startMs },
  );
  await until('media at the receiver', () => wire.messages().some((m) => m.type === TAG_VIDEO && !m.header));
  const played = join(studio.root, `${key}-played.flv`);
  const url = `${studio.rtmp.url}/${key}`;
  const seconds = String((BEFORE_MS + AFTER_MS) / 1000);
  const player = spawn('ffmpeg', ['-v', 'error', '-nostdin', '-i', url, '-c', 'copy', '-t', seconds, played], {
    stdio: 'ignore',
  });
  const playerEnd = once(player, 'exit');
  const since = (m: Message) => (m.timestampMs - startMs + WRAP_MS) % WRAP_MS;
  const last = () => wire.messages().findLast((m) => m.type === TAG_VIDEO);
  await until(
    'media behind the place',
    () => since(last() ?? { type: 0, timestampMs: startMs, header: true }) > BEFORE_MS + AFTER_MS,
    40_000,
  );
  await playerEnd;
  expect(await stream.stats()).toMatchObject({ live: true, reconnects: 0 });
  await stream.stop();

  const messages = wire.messages();
  const frames = messages.filter((m) => m.type === TAG_VIDEO && !m.header);
  expect(wire.connections()).toBe(1);
  expect(frames[0]?.timestampMs).toBe(startMs);
  expect(frames.at(-1)?.timestampMs).toBeGreaterThan((placeMs + AFTER_MS) % WRAP_MS);
  for (const [type, longest] of [
    [TAG_VIDEO, VIDEO_STEP_MS],
    [TAG_AUDIO, AUDIO_STEP_MS],
  ] as const) {
    const steps = stepsOnWire(messages, type);
    expect(Math.min(...steps)).toBeGreaterThan(0);
    expect(Math.max(...steps)).toBeLessThanOrEqual(longest);
  }

  const recordings = await studio.rtmp.recordings(key);
  expect(recordings).toHaveLength(1);
  for (const file of [recordings[0] as string, played]) {
    const packets = await readPackets(file);
    const video = computeSteps(packets, 'video');
    const audio = computeSteps(packets, 'audio');
    expect(video).toMatchObject({ notIncreasing: 0 });
    expect(audio).toMatchObject({ notIncreasing: 0 });
    expect(video.packets).toBeGreaterThan(((BEFORE_MS + AFTER_MS) / 1000) * 30 - 60);
    expect(video.longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
    expect(audio.longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
    expect(await decodeErrors(file)).toBe('');
  }
});

/** Checks destinations in tests: codes in status and metrics, and arrivals at a receiver. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { isKeyframe, isVideoFrame, parseFlv } from '../../../src/core/pods/rendition/flv.ts';
import type { RtmpServer } from '../real/rtmp.ts';
import { until } from '../wait.ts';
import { expectNoSeam, type Running } from './onair.ts';
import { readPackets } from './streamer.ts';

/** The observable part of a streamer. */
type Shown = Pick<Running, 'base' | 'stats'>;

export const destination = async (stream: Shown, name: string) =>
  (await stream.stats()).destinations.find((d) => d.name === name);

export const connected = (stream: Shown, name: string) =>
  until(`${name} connected`, async () => (await destination(stream, name))?.connected, 60_000);

/** Waits until the destination's status shows the code; returns its message. */
export const failed = (stream: Shown, name: string, code: string) =>
  until(
    `${name} shows ${code}`,
    async () => {
      const error = (await destination(stream, name))?.lastError;
      return error?.code === code && error.message;
    },
    60_000,
  );

/** Returns a counter with labels `destination` and `code`; 0 while it is absent. */
export async function counted(stream: Shown, metric: string, name: string, code: string): Promise<number> {
  const text = await (await fetch(`${stream.base}/metrics`)).text();
  const line = `loopstream_streamer_${metric}{destination="${name}",code="${code}"} `;
  const found = text.split('\n').find((l) => l.startsWith(line));
  return Number(found?.slice(line.length) ?? 0);
}

/** Expects one publish of the key at the receiver, without a gap or a step back in time. */
export async function expectUntouched(server: RtmpServer, key: string): Promise<void> {
  const recordings = await server.recordings(key);
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] ?? '');
  for (const type of ['video', 'audio'])
    expect(packets.filter((packet) => packet.codec_type === type).length).toBeGreaterThan(30);
  expectNoSeam(packets);
}

/** Returns a recording's pictures as their bytes, so that two recordings of a stream can be compared. */
export async function readPictures(recording: string): Promise<{ keyframe: boolean; content: string }[]> {
  const tags = parseFlv(await readFile(recording)).filter(isVideoFrame);
  return tags.map((tag) => ({ keyframe: isKeyframe(tag), content: tag.body.toString('base64') }));
}

/** Returns the process with this text in its arguments, as other users see them. */
export const processWith = (text: string): number | undefined =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => readable(`/proc/${pid}/cmdline`).includes(text) && !readable(`/proc/${pid}/comm`).startsWith('sh'));

/** Returns arguments and environment of every process of this user, as other users see them. */
export const everyCommandLine = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readable(`/proc/${pid}/cmdline`) + readable(`/proc/${pid}/environ`))
    .join('\n');

function readable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Makes files as people export them, and serves them on loopback with ranges. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, open, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { during, run } from './run.ts';

const VIDEO_KBPS = 5000;
const AUDIO_KBPS = 160;
const CLIP_SECONDS = 10;
/** Exactly 3000 AAC frames, so that a repetition continues the first pass. */
const TONE_SECONDS = 64;
/** The run-up of an AAC encoder, which an MP4 file hides by an edit list. */
const PRIMING_SECONDS = 1024 / 48_000;
const BUFFER_BYTES = 2 ** 20;
const LINE_PIECE_BYTES = 2 ** 16;

/** Returns the length of an export of this size. */
export const computeSeconds = (bytes: number): number => Math.ceil((bytes * 8) / ((VIDEO_KBPS + AUDIO_KBPS) * 1000));

export interface Clip {
  video: string;
  audio: string;
}

/**
 * Makes a clip that exports repeat: 1080p30 by x264's defaults with a keyframe every two seconds, and a tone in AAC. One with a single
 * keyframe does not fit into a rendition, and must be encoded.
 */
export async function makeClip(dir: string, signal: AbortSignal, { fits = true } = {}): Promise<Clip> {
  const clip = { video: join(dir, fits ? 'clip.mp4' : 'long-gop.mp4'), audio: join(dir, 'tone.aac') };
  const gopFrames = String(fits ? 60 : CLIP_SECONDS * 30);
  const picture = `testsrc2=s=1920x1080:r=30:d=${CLIP_SECONDS},noise=alls=6:allf=t`;
  const tone = `sine=440:r=48000:d=${TONE_SECONDS}`;
  await during('ffmpeg encodes the clip that is looped', async () => {
    await run(
      'ffmpeg',
      [
        ...['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', picture, '-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
        ...['-g', gopFrames, '-keyint_min', gopFrames, '-sc_threshold', '0', '-b:v', `${VIDEO_KBPS}k`, clip.video],
      ],
      signal,
    );
    await run(
      'ffmpeg',
      [
        ...['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', tone, '-ac', '2', '-c:a', 'aac'],
        ...['-b:a', `${AUDIO_KBPS}k`, '-frames:a', String((TONE_SECONDS * 48_000) / 1024), clip.audio],
      ],
      signal,
    );
  });
  return clip;
}

/** Repeats the clip without encoding, for so many seconds rounded up to whole clips. `fast`: the MP4 index is at the beginning, which writes the file twice. */
export async function makeExport(
  clip: Clip,
  path: string,
  { seconds, fast }: { seconds: number; fast: boolean },
  signal: AbortSignal,
): Promise<void> {
  const tone = `${path}.aac`;
  await during(`ffmpeg loops the clip to ${seconds} s (${path})`, async () => {
    // ADTS frames have no times, so the demuxer numbers repeated frames on; -stream_loop would guess each repetition's length.
    const frames = await readFile(clip.audio);
    const file = await open(tone, 'w');
    try {
      for (let at = -TONE_SECONDS; at < seconds; at += TONE_SECONDS) await file.write(frames);
    } finally {
      await file.close();
    }
    const repetitions = String(Math.ceil(seconds / CLIP_SECONDS) - 1);
    const soundSeconds = String((Number(repetitions) + 1) * CLIP_SECONDS + PRIMING_SECONDS);
    await run(
      'ffmpeg',
      [
        ...['-v', 'error', '-nostdin', '-y', '-stream_loop', repetitions, '-i', clip.video],
        ...['-itsoffset', String(-PRIMING_SECONDS), '-t', soundSeconds, '-i', tone],
        ...['-map', '0:v', '-map', '1:a', '-c', 'copy', ...(fast ? ['-movflags', '+faststart'] : []), path],
      ],
      signal,
    );
    await rm(tone);
  });
}

/** Clocks of pictures that are a little off, as expressions of ffmpeg's setts. */
const CLOCKS = {
  /** Ten milliseconds more every 20 s: 29.985 frames a second on average. */
  'joined from parts': ['PTS+0.01/TB*floor(PTS*TB/20)', 'DTS+0.01/TB*floor(DTS*TB/20)'],
  /** 29.98 frames a second, each up to two milliseconds late. */
  'of a phone': ['PTS*30/29.98+0.001/TB*(1+sin(PTS*TB*50))', 'DTS*30/29.98'],
} as const;
export type Clock = keyof typeof CLOCKS;

/** Gives the pictures of an export another clock. */
export function changeClock(from: string, to: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const [pts, dts] = CLOCKS[clock];
  const times = `setts=pts='${pts}':dts='${dts}'`;
  const copy = ['-c', 'copy', '-bsf:v', times, '-movflags', '+faststart', to];
  return run('ffmpeg', ['-v', 'error', '-nostdin', '-y', '-i', from, ...copy], signal);
}

/** Copies an export into another container. */
export const remuxFile = (from: string, to: string, signal: AbortSignal): Promise<void> =>
  run('ffmpeg', ['-v', 'error', '-nostdin', '-y', '-i', from, '-c', 'copy', to], signal);

/** Makes an MP4 file another source by a box that players skip. An existing rendition is not prepared again. */
export async function makeDistinct(path: string): Promise<void> {
  const box = Buffer.alloc(8);
  box.writeUInt32BE(24);
  box.write('free', 4, 'latin1');
  await appendFile(path, Buffer.concat([box, randomBytes(16)]));
}

export interface FileServer {
  url: string;
  close(): void;
}

/** Passes on so many megabits a second. */
const limitRate = (mbps: number) =>
  async function* (body: AsyncIterable<Buffer>) {
    const from = performance.now();
    let sent = 0;
    for await (const piece of body) {
      for (let at = 0; at < piece.length; at += LINE_PIECE_BYTES) {
        const part = piece.subarray(at, at + LINE_PIECE_BYTES);
        yield part;
        sent += part.length;
        await sleep(Math.max(0, from + (sent * 8) / (mbps * 1000) - performance.now()));
      }
    }
  };

/** Serves the files in a directory, in whole or one range of them (RFC 9110, section 14); `?mbps=50` as slowly as that. */
export async function serveFiles(dir: string): Promise<FileServer> {
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
      const path = join(dir, pathname.slice(1));
      const { size, mtime } = await stat(path);
      const match = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
      const start = Number(match?.[1] ?? 0);
      const end = Math.min(size - 1, Number(match?.[2] || size - 1));
      if (start > end) return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
      response.writeHead(match ? 206 : 200, {
        'content-type': 'application/octet-stream',
        'content-length': end - start + 1,
        'accept-ranges': 'bytes',
        etag: `"${size}-${mtime.getTime()}"`,
        'last-modified': mtime.toUTCString(),
        ...(match && { 'content-range': `bytes ${start}-${end}/${size}` }),
      });
      if (request.method === 'HEAD') return void response.end();
      const body = createReadStream(path, { start, end, highWaterMark: BUFFER_BYTES });
      const mbps = Number(searchParams.get('mbps') ?? Number.NaN);
      await (Number.isNaN(mbps) ? pipeline(body, response) : pipeline(body, limitRate(mbps), response));
    };
    // A client may leave before the end: a parallel range is done, or the run is over.
    respond().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

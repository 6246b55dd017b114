/** Provides a storage and tiny media for the tests of the prepare Job. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { createLogger } from '../../../src/core/lib/log.ts';
import type { Sink } from '../../../src/core/pods/prepare/link/fetch.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { run } from '../run.ts';
import { makeMedia } from './made-media.ts';

export const quiet = createLogger('test', 'silent');

/** Makes an empty directory with a storage in it. */
export async function room() {
  const dir = await mkdtemp(join(tmpdir(), 'prepare-'));
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  return {
    dir,
    storageUrl,
    storage: await openStorage(storageUrl),
    path: (name: string) => join(dir, name),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Returns a sink for fetchInto() that writes an object. */
export const sinkTo =
  (storage: Storage, key = 'sources/x'): Sink =>
  async (bytes, signal) => {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const counted = async function* () {
      for await (const piece of bytes) {
        hash.update(piece);
        sizeBytes += piece.length;
        yield piece;
      }
    };
    await storage.write(key, Readable.from(counted(), { objectMode: false }), signal);
    return { sha256: hash.digest('hex'), sizeBytes };
  };

/** Lists partial writes in a storage's directory `media`, as paths below it. */
export async function halfWritten(media: string): Promise<string[]> {
  const directories = ['.', ...(await readdir(media).catch(() => []))].map((name) => join(name, '.tmp'));
  const found = await Promise.all(
    directories.map(async (directory) => {
      const names = await readdir(join(media, directory)).catch(() => []);
      return names.map((name) => join(directory, name));
    }),
  );
  return [...new Set(found.flat())];
}

/** Runs ffmpeg quietly. */
export const ffmpeg = (...args: string[]) => run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);

/** Returns ffprobe's JSON about a file. */
export async function ffprobe(path: string, ...args: string[]) {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-of', 'json', ...args, path]);
  return JSON.parse(stdout);
}

interface Packet {
  codec_type: 'video' | 'audio';
  pts_time: string;
  dts_time: string;
  flags: string;
}

/** Inspects a rendition with ffprobe, which knows nothing of our index. Times are in milliseconds. */
export async function inspect(path: string) {
  const { packets, streams } = await ffprobe(path, '-show_packets', '-show_streams');
  const build = (type: Packet['codec_type']) => (packets as Packet[]).filter((packet) => packet.codec_type === type);
  const times = (type: Packet['codec_type']) => build(type).map((packet) => Math.round(Number(packet.pts_time) * 1000));
  return {
    streams: (streams as unknown[]).length,
    video: streams.find((stream: { codec_type: string }) => stream.codec_type === 'video'),
    audio: streams.find((stream: { codec_type: string }) => stream.codec_type === 'audio'),
    videoTimes: times('video'),
    audioTimes: times('audio'),
    keyframes: build('video').flatMap((packet, frame) => (packet.flags.includes('K') ? [frame] : [])),
    decodeTimes: build('video').map((packet) => Math.round(Number(packet.dts_time) * 1000)),
  };
}

/** Makes a playable file: `video` and `audio` are lavfi sources, `output` the encoders' options. */
export async function media(
  path: string,
  { video, audio, output = [] }: { video?: string | undefined; audio?: string | undefined; output?: string[] },
): Promise<string> {
  const inputs = [video, audio]
    .filter((source) => source !== undefined)
    .flatMap((source) => ['-f', 'lavfi', '-i', source]);
  return makeMedia(path, ...inputs, '-preset', 'ultrafast', ...output);
}

/** Arguments that make a clip of eight seconds: a picture that fits into a rendition and is cheap to encode. */
export const FITTING_PICTURE = 'testsrc2=s=160x90:r=30:d=8,scale=1280:720:flags=neighbor';
export const encodeFitting = (gop: number): string[] => [
  '-profile:v',
  'main',
  '-pix_fmt',
  'yuv420p',
  '-bf',
  '0',
  '-g',
  String(gop),
  '-sc_threshold',
  '0',
];

/** Loops a clip of eight seconds to a MOV that is made to be played while it arrives. Its uncompressed sound has most of the bytes. */
export async function loopBesideHeavySound(clip: string, path: string, seconds: number): Promise<Buffer> {
  await ffmpeg(
    ...['-stream_loop', String(seconds / 8 - 1), '-i', clip],
    ...['-f', 'lavfi', '-i', `sine=440:r=96000:d=${seconds}`, '-map', '0:v', '-map', '1:a', '-c:v', 'copy'],
    ...['-c:a', 'pcm_s16le', '-ac', '2', '-movflags', '+faststart', path],
  );
  return readFile(path);
}

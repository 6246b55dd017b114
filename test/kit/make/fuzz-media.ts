/** Makes small media files, changes numbers in their headers at random, and checks the import of each. */
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PrepareError } from '../../../src/core/pods/prepare/failure/failure.ts';
import { checkHeader } from '../../../src/core/pods/prepare/inspect/check-limits.ts';
import { describeMedia, probe, scanPackets } from '../../../src/core/pods/prepare/inspect/probe.ts';
import { checkComplete, checkType } from '../../../src/core/pods/prepare/inspect/source.ts';
import { planRendition } from '../../../src/core/pods/prepare/transcode/plan.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import { ROOT } from '../system/system.ts';
import { ffmpeg } from './prepare.ts';

/** No header may make ffprobe use more processor seconds or more address space. */
const MAX_CPU_SECONDS = 20;
const MAX_KILOBYTES = 3 * 2 ** 20;
/** This limit only ends what would never end: the duration depends on the machine's load. */
const MAX_SECONDS = 300;

/** Returns a generator of numbers from 0 to 1, the same for the same seed (Mulberry32, public domain). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FORMATS: Record<string, string[]> = {
  mp4: ['-c:v', 'libx264', '-c:a', 'aac', '-movflags', '+faststart'],
  mov: ['-c:v', 'png', '-c:a', 'pcm_s16le', '-movflags', '+faststart'],
  m4v: ['-c:v', 'libx264', '-c:a', 'aac', '-f', 'mp4', '-movflags', 'frag_keyframe+empty_moov'],
  mkv: ['-c:v', 'libx264', '-c:a', 'libopus', '-ac', '2'],
  flv: ['-c:v', 'flv1', '-c:a', 'aac'],
  ts: ['-c:v', 'libx264', '-c:a', 'aac'],
  ogg: ['-vn', '-c:a', 'libvorbis', '-ac', '2'],
  wav: ['-vn', '-c:a', 'pcm_s16le'],
  avi: ['-c:v', 'mpeg4', '-c:a', 'mp3'],
  gif: ['-an'],
};

/** Makes one file of each format in a directory. */
export async function makeSeeds(dir: string): Promise<{ name: string; content: Buffer }[]> {
  const input = ['-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=10:d=1', '-f', 'lavfi', '-i', 'sine=d=1'];
  const making = Object.entries(FORMATS).map(async ([name, codecs]) => {
    const path = join(dir, `seed.${name}`);
    await ffmpeg(...input, '-strict', '-2', ...codecs, path);
    return { name, content: await readFile(path) };
  });
  return await Promise.all(making);
}

const NUMBERS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1e9];

/** A copy with one to eight numbers, bits or pieces changed, most of them in the header. */
export function mutate(content: Buffer, chance: () => number): Buffer {
  let copy = Buffer.from(content);
  const upTo = (count: number) => Math.floor(chance() * count);
  for (let changes = 1 + upTo(8); changes > 0; changes--) {
    const at = upTo(Math.max(1, (chance() < 0.8 ? Math.min(2048, copy.length) : copy.length) - 8));
    const number = NUMBERS[upTo(NUMBERS.length)] ?? 0;
    const way = upTo(6);
    if (way === 0) copy[at] = (copy[at] ?? 0) ^ (1 << upTo(8));
    else if (way === 1) copy[at] = number & 0xff;
    else if (way === 2) copy.writeUInt16BE(number & 0xffff, at);
    else if (way === 3) copy.writeUInt32BE(number, at);
    else if (way === 4) copy.writeUInt32LE(number, at);
    else {
      const piece = copy.subarray(at, at + 1 + upTo(64));
      copy = Buffer.concat([copy.subarray(0, at), piece, copy.subarray(chance() < 0.5 ? at : at + piece.length)]);
    }
  }
  return copy;
}

/** The image's own build (`make ffmpeg`), where there is one: it starts ten times as fast as Debian's. */
const BUILT = join(ROOT, 'dist/ffmpeg/ffprobe');
const PROBE = existsSync(BUILT) ? BUILT : 'ffprobe';

/** Writes a script that runs ffprobe with limits of time and address space; returns its path. */
export async function writeLimitedProbe(dir: string): Promise<string> {
  const path = join(dir, 'ffprobe');
  await writeFile(path, `#!/bin/sh\nulimit -v ${MAX_KILOBYTES}\nulimit -t ${MAX_CPU_SECONDS}\nexec ${PROBE} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

/** Returns `taken`, or the code of the refusal. Throws where reading the file, or its rendition, exceeds the caps. */
export async function checkFile(path: string, type: 'video' | 'audio', ffprobe: string): Promise<string> {
  const tools = { ffmpeg: 'ffmpeg', ffprobe };
  const signal = AbortSignal.timeout(MAX_SECONDS * 1000);
  try {
    const source = await probe(path, tools, signal);
    checkType(source, type);
    checkHeader(source, type, DEFAULT_LIMITS);
    const scan = await scanPackets(path, source, tools, signal, { limits: DEFAULT_LIMITS });
    checkComplete(source, scan);
    const media = describeMedia(source, scan);
    const shape = { quality: '720p', framerate: 30, canTonemap: false, allowCopy: true } as const;
    const plan = planRendition({ path, source, scan, type, ...shape, maxPixels: DEFAULT_LIMITS.pixels });
    const longest = DEFAULT_LIMITS.durationSeconds + 1;
    for (const seconds of [media.durationSeconds, plan.durationSeconds])
      if (!(seconds >= 0 && seconds <= longest)) throw new Error(`it would last ${seconds} s`);
    return 'taken';
  } catch (error) {
    if (error instanceof PrepareError) return error.code;
    throw error;
  }
}

/**
 * Reads 100,000 damaged renditions and indexes as a streamer would, and prints the outcomes as JSON. Run it with `--expose-gc`; it takes a
 * seed and the number of inputs, and the same seed makes the same inputs.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sleep } from '../../../../../src/lib/clock.ts';
import {
  compositionTimeMs,
  encodeHeader,
  encodeMetaData,
  encodeTag,
  FlvParser,
  findTag,
  isKeyframe,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../../../src/media/rendition/flv.ts';
import type { Storage } from '../../../../../src/media/storage/storage.ts';
import { ItemReader, READ_TIMEOUT_MS } from '../../../../../src/media/streamer/tracks/item-reader.ts';
import { loadRendition } from '../../../../../src/media/streamer/tracks/rendition-index.ts';
import { buildIndex } from '../../../../kit/make/streamer.ts';

export interface FuzzReport {
  inputs: number;
  /** Errors by name and code, and `sound` for complete reads. */
  outcomes: Record<string, number>;
  slowestMs: number;
  /** Growth between a hundredth of the run and its end, after time-outs and garbage collection. */
  grownBytes: number;
}

/** splitmix32. */
function random(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x9e3779b9) | 0;
    let x = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) % below;
  };
}

const picture = (keyframe: boolean, bytes: number) =>
  Buffer.concat([Buffer.from([keyframe ? 0x17 : 0x27, 1, 0, 0, 0]), Buffer.alloc(bytes, 7)]);
const clip = Buffer.concat([
  encodeHeader({ audio: true, video: true }),
  encodeTag(TAG_SCRIPT, 0, encodeMetaData({ width: 320 })),
  encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1, 100, 0, 31])),
  encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
  ...Array.from({ length: 30 }, (_, n) => [
    encodeTag(TAG_VIDEO, Math.round((n * 1000) / 30), picture(n % 10 === 0, 20 + n)),
    encodeTag(TAG_AUDIO, Math.round((n * 1024) / 48), Buffer.concat([Buffer.from([0xaf, 1]), Buffer.alloc(9, n)])),
  ]).flat(),
]);
const index = buildIndex(clip, 30);
const INTERESTING = [0, 1, 7, 8, 9, 18, 0x7f, 0x80, 0xff];
const VALUES = [null, true, -1, 0, 1, 1.5, 2 ** 31, 2 ** 53, 1e308, '', 'x', '\u0000', '\ud800', [], {}, [[]], [{}]];

/** Bytes overwritten, cut out, doubled or cut off. */
function damageBytes(source: Buffer, below: (n: number) => number): Buffer {
  let data = Buffer.from(source);
  for (let changes = 1 + below(4); changes > 0 && data.length > 0; changes--) {
    const at = below(data.length);
    const kind = below(6);
    if (kind < 2) data[at] = kind === 0 ? below(256) : (INTERESTING[below(INTERESTING.length)] ?? 0);
    else if (kind === 2) data.fill(below(256), at, Math.min(data.length, at + below(64)));
    else if (kind === 3) data = Buffer.concat([data.subarray(0, at), data.subarray(at + below(64))]);
    else if (kind === 4) data = Buffer.concat([data.subarray(0, at), data.subarray(below(data.length), at + 200)]);
    else data = data.subarray(0, at);
  }
  return data;
}

/** Replaces or removes a value anywhere in the document. */
function damageJson(document: unknown, below: (n: number) => number): unknown {
  const copy = structuredClone(document);
  let place: unknown = copy;
  for (let depth = 0; depth < 6 && typeof place === 'object' && place !== null; depth++) {
    const keys = Object.keys(place);
    const key = keys[below(Math.max(1, keys.length))];
    if (key === undefined) break;
    const holder = place as Record<string, unknown>;
    if (typeof holder[key] === 'object' && below(4) > 0) {
      place = holder[key];
      continue;
    }
    if (below(4) === 0) delete holder[key];
    else holder[key] = VALUES[below(VALUES.length)];
    break;
  }
  return copy;
}

const item = { id: 'a', name: 'A', rendition: 'a.flv' };
/** A storage of two objects in memory. */
function buildStorage(media: Buffer, json: Buffer): Storage {
  const build = (key: string) => (key === item.rendition ? media : json);
  return {
    head: async (key: string) => ({ sizeBytes: build(key).length, modifiedAt: new Date(0), version: '1' }),
    read: async (key: string, range: { start?: number; end?: number } = {}) =>
      Readable.from([build(key).subarray(range.start ?? 0, range.end ?? build(key).length)]),
  } as Partial<Storage> as Storage;
}

function parse(data: Buffer, below: (n: number) => number): void {
  const parser = new FlvParser();
  const size = 1 + below(data.length + 1);
  findTag(data.subarray(below(data.length + 1)));
  for (let at = 0; at < data.length; at += size)
    for (const tag of parser.push(data.subarray(at, at + size))) if (isKeyframe(tag)) compositionTimeMs(tag);
  parser.end();
}

/** Plays an item as a splicer would; an item without an end is a hang. */
async function play(media: Buffer, json: Buffer, offsetTicks: number): Promise<void> {
  let wake = () => {};
  const storage = buildStorage(media, json);
  const reader = await ItemReader.open({ storage, item, kind: 'video', offsetTicks, onData: () => wake() });
  try {
    for (let taken = 0; taken < 1000; ) {
      const tags = [reader.takeVideo(), reader.takeAudio()];
      taken += tags.filter((tag) => typeof tag !== 'string').length;
      if (tags.every((tag) => tag === 'end')) {
        if (reader.error) throw reader.error;
        return;
      }
      if (tags.includes('wait') && tags.every((tag) => typeof tag === 'string'))
        await new Promise<void>((resolve) => {
          wake = resolve;
          setImmediate(resolve);
        });
    }
    throw new Error('an item of 60 frames does not end');
  } finally {
    reader.close();
  }
}

/** One input in ten is played, the others are read. */
async function once(n: number, below: (n: number) => number): Promise<void> {
  if (n % 10 === 0) {
    const media = damageBytes(clip, below);
    // The index fits its size, so that the reader examines the file.
    const { sha256: _, ...rest } = index;
    const fitting = { ...rest, sizeBytes: media.length, sha256: createHash('sha256').update(media).digest('hex') };
    const told = below(2) === 0 ? fitting : damageJson(fitting, below);
    return play(media, Buffer.from(JSON.stringify(told)), below(2) * below(200_000));
  }
  if (n % 2 === 0) return parse(damageBytes(clip, below), below);
  const json = Buffer.from(JSON.stringify(damageJson(index, below)));
  await loadRendition(buildStorage(clip, below(3) === 0 ? damageBytes(json, below) : json), item, 'video');
}

/** The runtime's own growth over a hundred times as many inputs: compiled code and the like. */
export const NOISE_BYTES = 4 * 2 ** 20;

const used = () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Returns the memory in use after the time-outs of the last reads: until then each keeps its data. */
async function usedAtRest(atMost: number): Promise<number> {
  for (const end = performance.now() + 3 * READ_TIMEOUT_MS; used() > atMost && performance.now() < end; )
    await sleep(100);
  return used();
}

async function fuzz(seed: number, inputs: number): Promise<FuzzReport> {
  const below = random(seed);
  const outcomes: Record<string, number> = {};
  let slowestMs = 0;
  let before = 0;
  for (let n = 0; n < inputs; n++) {
    if (n === Math.floor(inputs / 100)) before = used();
    const start = performance.now();
    const outcome = await once(n, below).then(
      () => 'sound',
      (error: Error & { code?: string }) => `${error.name} ${error.code ?? error.stack}`,
    );
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    slowestMs = Math.max(slowestMs, performance.now() - start);
  }
  return { inputs, outcomes, slowestMs, grownBytes: (await usedAtRest(before + NOISE_BYTES)) - before };
}

if (import.meta.main) {
  const [seed = '1', inputs = '100000'] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(await fuzz(Number(seed), Number(inputs)))}\n`);
}

/**
 * Reads 100,000 damaged renditions and indexes as a streamer would, and prints the outcomes as JSON. Run it with `--expose-gc`; it takes a
 * seed and the number of inputs, and the same seed makes the same inputs.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sleep } from '../../../../../../src/core/lib/clock.ts';
import {
  compositionTimeMs,
  encodeHeader,
  encodeMetaData,
  encodeTag,
  FlvParser,
  isKeyframe,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { chunkKey, entryKey, indexKey } from '../../../../../../src/core/pods/rendition/format.ts';
import type { Chunk } from '../../../../../../src/core/pods/rendition/index.ts';
import { type Storage, StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { ItemReader, READ_TIMEOUT_MS } from '../../../../../../src/core/pods/streamer/tracks/item-reader.ts';
import { loadRendition } from '../../../../../../src/core/pods/streamer/tracks/rendition-index.ts';
import { cutRendition } from '../../../../../kit/make/chunks.ts';
import { buildIndex } from '../../../../../kit/make/streamer.ts';

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
/** Three chunks of ten frames. */
const cut = cutRendition(clip, { fps: 30, frames: 10 });
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
type Objects = Record<string, Buffer>;

/** A storage in memory. */
function buildStorage(objects: Objects): Storage {
  return {
    head: async (key: string) => {
      const sizeBytes = objects[key]?.length;
      return sizeBytes === undefined ? undefined : { sizeBytes, modifiedAt: new Date(0), version: '1' };
    },
    read: async (key: string, range: { start?: number; end?: number } = {}) => {
      const object = objects[key];
      if (!object) throw new StorageError('not_found', 'It is not there.');
      return Readable.from([object.subarray(range.start ?? 0, range.end ?? object.length)]);
    },
    list: async function* (prefix: string) {
      for (const key of Object.keys(objects)) if (key.startsWith(prefix)) yield key;
    },
  } as Partial<Storage> as Storage;
}

const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const encode = (document: unknown) => Buffer.from(JSON.stringify(document));

/** A damaged rendition of an earlier release, with an index that fits its size, so that the reader examines the file. */
function damageWhole(below: (n: number) => number): Objects {
  const media = damageBytes(clip, below);
  const fitting = { ...index, sizeBytes: media.length, sha256: hash(media) };
  return {
    [item.rendition]: media,
    [indexKey(item.rendition)]: encode(below(2) === 0 ? fitting : damageJson(fitting, below)),
  };
}

/** A rendition with one damaged chunk, complete or growing, with documents that fit. */
function damageChunk(below: (n: number) => number): Objects {
  const damaged = below(cut.bodies.length);
  const bodies = cut.bodies.map((body, at) => (at === damaged ? damageBytes(body, below) : body));
  const chunks = cut.index.chunks.map((chunk, at) => {
    const body = bodies[at] as Buffer;
    return at === damaged && below(4) > 0 ? { ...chunk, sizeBytes: body.length, sha256: hash(body) } : chunk;
  });
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
  const told = (document: unknown) => encode(below(4) === 0 ? damageJson(document, below) : document);
  const objects = chunks.map((chunk, at) => [chunkKey(item.rendition, chunk), bodies[at] as Buffer]);
  const entries = chunks.map((chunk, at) => [
    entryKey(item.rendition, chunk.firstFrame),
    told({ ...cut.entries[at], chunk }),
  ]);
  const isComplete = below(2) === 0;
  return {
    ...Object.fromEntries(objects),
    ...Object.fromEntries(entries),
    ...(isComplete && { [indexKey(item.rendition)]: told({ ...cut.index, sizeBytes, chunks }) }),
  };
}

/** A rendition of which one document is damaged. */
function damageDocument(below: (n: number) => number): Objects {
  const damage = (document: unknown) => {
    const json = encode(damageJson(document, below));
    return below(3) === 0 ? damageBytes(json, below) : json;
  };
  const kind = below(3);
  if (kind === 0) return { [item.rendition]: clip, [indexKey(item.rendition)]: damage(index) };
  if (kind === 1) return { [indexKey(item.rendition)]: damage(cut.index) };
  const [first] = cut.index.chunks as [Chunk];
  return {
    [entryKey(item.rendition, 0)]: damage(cut.entries[0]),
    [chunkKey(item.rendition, first)]: cut.bodies[0] as Buffer,
  };
}

function parse(data: Buffer, below: (n: number) => number): void {
  const parser = new FlvParser();
  const size = 1 + below(data.length + 1);
  for (let at = 0; at < data.length; at += size)
    for (const tag of parser.push(data.subarray(at, at + size))) if (isKeyframe(tag)) compositionTimeMs(tag);
  parser.end();
}

/** Plays an item as a splicer would; an item without an end is a hang. */
async function play(objects: Objects, offsetTicks: number): Promise<void> {
  let wake = () => {};
  const storage = buildStorage(objects);
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
  if (n % 10 === 0) return play(n % 20 === 0 ? damageWhole(below) : damageChunk(below), below(2) * below(200_000));
  if (n % 2 === 0) return parse(damageBytes(clip, below), below);
  await loadRendition(buildStorage(damageDocument(below)), item, 'video');
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

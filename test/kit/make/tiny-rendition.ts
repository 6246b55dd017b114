/** Writes a rendition of tiny frames by the parts of the Job that write into storage, for tests of what goes wrong there. */
import { createHash } from 'node:crypto';
import { buffer, text } from 'node:stream/consumers';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { listChunks } from '../../../src/core/pods/prepare/transcode/chunk-writer.ts';
import { RenditionOutput } from '../../../src/core/pods/prepare/transcode/rendition-output.ts';
import {
  encodedBytes,
  encodeTags,
  fileHeader,
  type NewTag,
} from '../../../src/core/pods/prepare/transcode/rewriter.ts';
import { TAG_AUDIO, TAG_VIDEO } from '../../../src/core/pods/rendition/flv.ts';
import { audioFramesFor, audioSlotMs, videoSlotMs } from '../../../src/core/pods/rendition/frame-times.ts';
import {
  type Chunk,
  ChunkEntry,
  chunkKey,
  entryKey,
  type RenditionIndex,
} from '../../../src/core/pods/rendition/index.ts';
import { type Storage, StorageError } from '../../../src/core/pods/storage/storage.ts';

export const FPS = 24;
export const KEY = 'renditions/x/video-720p24.flv';

const tag = (type: NewTag['type'], timestampMs: number, body: Buffer): NewTag => ({ type, timestampMs, body });
const hex = (...digits: string[]) => Buffer.from(digits.join(''), 'hex');

interface FlvOptions {
  gopSeconds?: number;
  /** A byte of each picture, which tells one rendition from another. */
  mark?: string;
  /** Bytes that each picture has besides. */
  pad?: number;
}

/** Builds a rendition of two-second GOPs. */
export function buildFlv(seconds: number, { gopSeconds = 2, mark = 'ff', pad = 0 }: FlvOptions = {}): Buffer {
  const frames = seconds * FPS;
  const rest = Buffer.alloc(pad, mark, 'hex');
  const keyframe = Buffer.concat([hex('170100000000000002', '65', mark), rest]);
  const other = Buffer.concat([hex('270100000000000002', '41', mark), rest]);
  const pictures = Array.from({ length: frames }, (_, i) =>
    tag(TAG_VIDEO, videoSlotMs(i, FPS), i % (gopSeconds * FPS) === 0 ? keyframe : other),
  );
  const sound = Array.from({ length: audioFramesFor(frames, FPS) }, (_, i) =>
    tag(TAG_AUDIO, audioSlotMs(i), hex('af01aabb')),
  );
  const headers = [tag(TAG_VIDEO, 0, hex('17000000000164001effe100')), tag(TAG_AUDIO, 0, hex('af001190'))];
  const tags = [...headers, ...[...pictures, ...sound].sort((a, b) => a.timestampMs - b.timestampMs)];
  const bytes = Buffer.alloc(encodedBytes(tags));
  encodeTags(tags, bytes);
  return Buffer.concat([fileHeader(FPS), bytes]);
}

interface OutputOptions {
  provisional?: boolean;
  keepsSameOnly?: boolean;
  onPrepared?: (frames: number) => void;
}

export const openOutput = (storage: Storage, { provisional = false, ...options }: OutputOptions = {}) =>
  new RenditionOutput({
    storage,
    renditionKey: KEY,
    profile: '720p24',
    framerate: FPS,
    expectedFrames: 1680,
    provisional,
    ...options,
  });

const PIECE_BYTES = 4000;

/** Hands over bytes in pieces, as a Job does, up to `end`. */
export async function writeFlv(output: RenditionOutput, flv: Buffer, end = flv.length): Promise<void> {
  let rest = Buffer.alloc(0);
  for (let at = 0; at < end; at += PIECE_BYTES) {
    const data = Buffer.concat([rest, flv.subarray(at, Math.min(at + PIECE_BYTES, end))]);
    rest = data.subarray(await output.write(data));
  }
}

/** Writes all chunks as a Job does, which stops when it fails. */
export async function makeChunks(storage: Storage, flv: Buffer, options?: OutputOptions): Promise<RenditionIndex> {
  const output = openOutput(storage, options);
  try {
    await writeFlv(output, flv);
    return await output.end();
  } catch (error) {
    await output.stop();
    throw error;
  }
}

export async function listKeys(storage: Storage): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of listChunks(storage, KEY)) keys.push(key);
  return keys;
}

/** Reads what an index refers to, as one file. */
export async function readAll(storage: Storage, { chunks }: RenditionIndex): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const chunk of chunks) parts.push(await readChunk(storage, chunk));
  return Buffer.concat(parts);
}

/** Reads a chunk, which must be what its description says. */
async function readChunk(storage: Storage, chunk: Chunk): Promise<Buffer> {
  const bytes = await buffer(await storage.read(chunkKey(KEY, chunk)));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(chunk.sha256);
  return bytes;
}

/** Reads as a stream does, from entry to entry, as far as they go. Returns the frames; no chunk may differ from its entry. */
export async function followEntries(storage: Storage): Promise<number> {
  for (let frame = 0; ; ) {
    const json = await storage.read(entryKey(KEY, frame)).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'not_found') return undefined;
      throw error;
    });
    if (!json) return frame;
    const entry: unknown = JSON.parse(await text(json));
    if (!Value.Check(ChunkEntry, entry)) throw new Error('not an entry');
    await readChunk(storage, entry.chunk);
    frame += entry.chunk.frames;
  }
}

/** Returns the storage with some of its methods replaced. */
export const override = (storage: Storage, methods: Partial<Storage>): Storage =>
  new Proxy(storage, {
    get: (target, name: keyof Storage) => methods[name] ?? target[name]?.bind(target),
  });

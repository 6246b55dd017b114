/** Tests what a rendition's chunks in storage are while Jobs are interrupted, meet each other, or find what others have left. */
import { buffer, text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deleteChunks, listChunks } from '../../../../../src/media/prepare/transcode/chunk-writer.ts';
import { RenditionOutput } from '../../../../../src/media/prepare/transcode/rendition-output.ts';
import {
  encodedBytes,
  encodeTags,
  fileHeader,
  type NewTag,
} from '../../../../../src/media/prepare/transcode/rewriter.ts';
import { TAG_AUDIO, TAG_VIDEO } from '../../../../../src/media/rendition/flv.ts';
import { audioFramesFor, audioSlotMs, videoSlotMs } from '../../../../../src/media/rendition/frame-times.ts';
import { chunkKey, entryKey, type RenditionIndex } from '../../../../../src/media/rendition/index.ts';
import type { Storage } from '../../../../../src/media/storage/storage.ts';
import { halfWritten, room } from '../../../../kit/make/prepare.ts';

const FPS = 24;
const KEY = 'renditions/x/video-720p24.flv';
type Room = Awaited<ReturnType<typeof room>>;

const tag = (type: NewTag['type'], timestampMs: number, hex: string): NewTag => ({
  type,
  timestampMs,
  body: Buffer.from(hex, 'hex'),
});

/** Builds a rendition of two-second GOPs; `mark` is a byte of each picture. */
function buildFlv(seconds: number, { gopSeconds = 2, mark = 'ff' } = {}): Buffer {
  const frames = seconds * FPS;
  const pictures = Array.from({ length: frames }, (_, i) =>
    tag(
      TAG_VIDEO,
      videoSlotMs(i, FPS),
      i % (gopSeconds * FPS) === 0 ? `17010000000000000265${mark}` : `27010000000000000241${mark}`,
    ),
  );
  const sound = Array.from({ length: audioFramesFor(frames, FPS) }, (_, i) =>
    tag(TAG_AUDIO, audioSlotMs(i), 'af01aabb'),
  );
  const headers = [tag(TAG_VIDEO, 0, '17000000000164001effe100'), tag(TAG_AUDIO, 0, 'af001190')];
  const tags = [...headers, ...[...pictures, ...sound].sort((a, b) => a.timestampMs - b.timestampMs)];
  const bytes = Buffer.alloc(encodedBytes(tags));
  encodeTags(tags, bytes);
  return Buffer.concat([fileHeader(FPS), bytes]);
}

const openOutput = (storage: Storage, { provisional = false, onPrepared = (_: number) => {} } = {}) =>
  new RenditionOutput({
    storage,
    renditionKey: KEY,
    profile: '720p24',
    framerate: FPS,
    expectedFrames: 1680,
    provisional,
    onPrepared,
  });

/** Hands over bytes in pieces, as a Job does, up to `end`. */
async function writeFlv(output: RenditionOutput, flv: Buffer, end = flv.length): Promise<void> {
  const PIECE = 4000;
  let rest = Buffer.alloc(0);
  for (let at = 0; at < end; at += PIECE) {
    const data = Buffer.concat([rest, flv.subarray(at, Math.min(at + PIECE, end))]);
    rest = data.subarray(await output.write(data));
  }
}

async function make(storage: Storage, flv: Buffer): Promise<RenditionIndex> {
  const output = openOutput(storage);
  await writeFlv(output, flv);
  return output.end();
}

async function listKeys({ storage }: Room): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of listChunks(storage, KEY)) keys.push(key);
  return keys;
}

async function readAll({ storage }: Room, { chunks }: RenditionIndex): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const { firstFrame } of chunks) parts.push(await buffer(await storage.read(chunkKey(KEY, firstFrame))));
  return Buffer.concat(parts);
}

const keysOf = (...frames: number[]) => frames.flatMap((frame) => [chunkKey(KEY, frame), entryKey(KEY, frame)]);

describe('chunks in storage', () => {
  const flv = buildFlv(70);

  test('are the rendition, and each has an entry as soon as it can be played', async () => {
    await using place = await room();
    const prepared: number[] = [];
    const output = openOutput(place.storage, { onPrepared: (frames) => prepared.push(frames) });
    await writeFlv(output, flv);
    const index = await output.end();
    expect(prepared).toEqual([720, 1440, 1680]);
    expect(await listKeys(place)).toEqual(keysOf(0, 720, 1440));
    expect(await readAll(place, index)).toEqual(flv);
  });

  test('stay when a Job ends anywhere, and the next one ends with the same index and touches none of them', async () => {
    await using whole = await room();
    const expected = await make(whole.storage, flv);
    const property = fc.asyncProperty(fc.integer({ min: 1, max: flv.length - 1 }), async (end) => {
      await using place = await room();
      const killed = openOutput(place.storage);
      await writeFlv(killed, flv, end);
      await killed.stop();
      expect(await halfWritten(place.path('media'))).toEqual([]);
      const left = await listKeys(place);
      const versions = await Promise.all(left.map((key) => place.storage.head(key)));
      expect(await make(place.storage, flv)).toEqual(expected);
      expect(await Promise.all(left.map((key) => place.storage.head(key)))).toEqual(versions);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test('are kept as they are, also where the next Job would make others of the same frames', async () => {
    await using place = await room();
    const first = openOutput(place.storage);
    await writeFlv(first, flv, Math.floor(flv.length / 2));
    await first.stop();
    const index = await make(place.storage, buildFlv(70, { mark: 'ee' }));
    const bytes = await readAll(place, index);
    expect(bytes.includes(Buffer.from('0265ff', 'hex'))).toBe(true);
    expect(bytes.includes(Buffer.from('0265ee', 'hex'))).toBe(true);
    expect(index.sizeBytes).toBe(bytes.length);
  });

  test('of another division go, and so do those behind them', async () => {
    await using place = await room();
    await make(place.storage, buildFlv(70, { gopSeconds: 4 }));
    expect(await listKeys(place)).toEqual(keysOf(0, 768, 1536));
    const index = await make(place.storage, flv);
    expect(await listKeys(place)).toEqual(keysOf(0, 720, 1440));
    expect(await readAll(place, index)).toEqual(flv);
  });

  test('whose entry cannot be read are made again', async () => {
    await using place = await room();
    const expected = await make(place.storage, flv);
    await place.storage.write(entryKey(KEY, 720), Buffer.from('{'));
    expect(await make(place.storage, flv)).toEqual(expected);
    expect(JSON.parse(await text(await place.storage.read(entryKey(KEY, 720))))).toMatchObject({
      chunk: { firstFrame: 720 },
    });
  });

  test('that two Jobs make at once are the same for both', async () => {
    await using place = await room();
    const [one, other] = await Promise.all([make(place.storage, flv), make(place.storage, flv)]);
    expect(one).toEqual(other);
    expect(await readAll(place, one)).toEqual(flv);
    expect(await halfWritten(place.path('media'))).toEqual([]);
  });

  test('that are provisional cannot be played before they are approved', async () => {
    await using place = await room();
    const prepared: number[] = [];
    const output = openOutput(place.storage, {
      provisional: true,
      onPrepared: (frames) => prepared.push(frames),
    });
    await writeFlv(output, flv, Math.floor(flv.length / 2));
    expect((await listKeys(place)).filter((key) => key.endsWith('.json'))).toEqual([]);
    expect(prepared).toEqual([]);
    await output.approve();
    expect(prepared).toEqual([720]);
    await output.stop();
    expect(await listKeys(place)).toEqual(keysOf(0));
    await deleteChunks(place.storage, KEY);
    expect(await listKeys(place)).toEqual([]);
  });

  test('that cannot be written end the work with the storage’s error, and leave nothing half', async () => {
    await using place = await room();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const storage: Storage = Object.create(place.storage, {
      write: { value: () => Promise.reject(full) },
      publish: { value: place.storage.publish.bind(place.storage) },
      head: { value: place.storage.head.bind(place.storage) },
    });
    const output = openOutput(storage);
    await expect(writeFlv(output, flv).then(() => output.end())).rejects.toBe(full);
    await output.stop();
    expect(await halfWritten(place.path('media'))).toEqual([]);
    expect((await listKeys(place)).filter((key) => key.endsWith('.json'))).toEqual([]);
  });
});

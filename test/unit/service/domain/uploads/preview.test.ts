/** Tests the bytes of an upload's preview. */
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  chunkKey,
  INDEX_VERSION,
  type RenditionIndex,
  type RenditionIndexV1,
} from '../../../../../src/core/pods/rendition/index.ts';
import { DirectoryStorage } from '../../../../../src/core/pods/storage/directory.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { renditionKey } from '../../../../../src/core/resources/upload/spec.ts';
import { openPreview, previewParts } from '../../../../../src/service/domain/uploads/preview.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const indexV1 = (durationSeconds: number, more: Partial<RenditionIndexV1> = {}): RenditionIndexV1 => ({
  version: 1,
  profile: '720p30',
  sizeBytes: 1000,
  sha256: 'a'.repeat(64),
  durationSeconds,
  bitrateKbps: 1,
  ...more,
});
/** A keyframe every 2 s, ten bytes each. */
const video: NonNullable<RenditionIndexV1['video']> = {
  frameRateNum: 30_000,
  frameRateDen: 1001,
  frames: 3000,
  header: '',
  keyframes: Array.from({ length: 50 }, (_, i) => ({ frame: i * 60, offset: 13 + i * 10 })),
};

/** Chunks of `keyframes` keyframes each, of the same video or of sound alone. */
function index(keyframes: number, hasVideo = true): RenditionIndex {
  const total = hasVideo ? 3000 : 5600;
  const step = (total / 50) * keyframes;
  const chunks = Array.from({ length: Math.ceil(total / step) }, (_, at): RenditionIndex['chunks'][number] => ({
    firstFrame: at * step,
    frames: Math.min(step, total - at * step),
    sizeBytes: 10 * keyframes,
    sha256: 'a'.repeat(64),
    audio: { header: '' },
    ...(hasVideo && {
      video: {
        header: '',
        delayFrames: 0,
        keyframes: Array.from({ length: keyframes }, (_, i) => ({ frame: at * step + i * 60, offset: i * 10 })),
      },
    }),
  }));
  return {
    version: INDEX_VERSION,
    profile: '720p30',
    sizeBytes: 500,
    durationSeconds: 100,
    bitrateKbps: 1,
    ...(hasVideo && { video: { frameRateNum: 30_000, frameRateDen: 1001, frames: total } }),
    audio: { frames: total },
    chunks,
  };
}

test('a preview is the first minute, ends in front of a keyframe, and is all of a shorter upload', () => {
  const short = { ...video, frames: 1200, keyframes: video.keyframes.slice(0, 20) };
  expect(previewParts('k', indexV1(40, { video: short }))).toEqual([{ key: 'k', end: 1000 }]);
  // The 30th keyframe is the first after a minute: 1800 frames at 29.97 are 60.06 s.
  expect(previewParts('k', indexV1(100, { video }))).toEqual([{ key: 'k', end: 13 + 30 * 10 }]);
  const sound = { frames: 5625, header: '' };
  expect(previewParts('k', indexV1(120, { audio: sound }))).toEqual([{ key: 'k', end: 500 }]);
});

test('a preview of chunks has as many bytes, however long they are', () => {
  const bytes = (parts: { end: number }[]) => parts.reduce((sum, { end }) => sum + end, 0);
  for (const keyframes of [1, 7, 10, 25, 50]) {
    const made = index(keyframes);
    const parts = previewParts('k', made);
    expect(bytes(parts)).toBe(300);
    const chunks = made.chunks.slice(0, parts.length);
    expect(parts.map(({ key }) => key)).toEqual(chunks.map((chunk) => chunkKey('k', chunk)));
    expect(chunks.map(({ firstFrame }) => firstFrame)).toEqual(parts.map((_, at) => at * keyframes * 60));
  }
  // 2813 of 5600 AAC frames begin in the first minute.
  for (const keyframes of [1, 7, 25, 50]) {
    const size = bytes(previewParts('k', index(keyframes, false)));
    expect(size).toBeGreaterThanOrEqual(251);
    expect(size).toBeLessThanOrEqual(252);
  }
});

test('it is read from the smallest rendition that is ready; where there is none, or it is gone, that is said', async () => {
  const dir = tempDir();
  const storage = new DirectoryStorage(dir);
  const sha256 = 'b'.repeat(64);
  const rendition = (profile: string) => ({
    profile,
    state: 'ready' as const,
    key: renditionKey(sha256, 'video', profile),
  });
  const upload = (...profiles: string[]) =>
    ({
      metadata: { uid: 'uid' },
      spec: { track: 'video', source: {} },
      status: { media: { sha256 }, renditions: profiles.map(rendition) },
    }) as unknown as Upload;
  for (const [profile, body] of [
    ['1080p30', 'the large one'],
    ['720p30', 'the small one'],
    ['preview', 'made to be seen'],
  ] as const) {
    const { key } = rendition(profile);
    await storage.write(key, Buffer.from(body));
    await storage.write(`${key}.json`, Buffer.from(JSON.stringify(indexV1(1, { sizeBytes: body.length }))));
  }
  expect(await text((await openPreview(storage, upload('1080p30', '720p30'))).media)).toBe('the small one');
  expect(await text((await openPreview(storage, upload('1080p30', '720p30', 'preview'))).media)).toBe(
    'made to be seen',
  );
  const aside = upload('1080p30', 'sound-14-1-6', '720p30-labc123');
  expect(await text((await openPreview(storage, aside)).media)).toBe('the large one');
  const chunked = index(25);
  const { key } = rendition('preview');
  await storage.write(`${key}.json`, Buffer.from(JSON.stringify(chunked)));
  for (const [at, chunk] of chunked.chunks.entries())
    await storage.write(chunkKey(key, chunk), Buffer.alloc(chunk.sizeBytes, at));
  const bytes = await buffer((await openPreview(storage, upload('720p30', 'preview'))).media);
  expect(bytes).toEqual(Buffer.concat([Buffer.alloc(250, 0), Buffer.alloc(50, 1)]));
  const unprepared = { code: 'upload_not_prepared' };
  await expect(openPreview(storage, upload())).rejects.toMatchObject(unprepared);
  await expect(openPreview(storage, upload('2160p60'))).rejects.toMatchObject(unprepared);
  await expect(openPreview(undefined, upload('720p30'))).rejects.toMatchObject(unprepared);
});

test('a preview that nobody takes is ended, and one that is read is not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const pieces = Array.from({ length: 40 }, () => Buffer.alloc(64 * 1024));
  const storage = {
    read: async (key: string) => Readable.from(key.endsWith('.json') ? [JSON.stringify(indexV1(1))] : pieces),
  } as unknown as DirectoryStorage;
  const sha256 = 'a'.repeat(64);
  const renditions = [{ profile: 'preview', state: 'ready', key: renditionKey(sha256, 'video', 'preview') }];
  const upload = {
    metadata: { uid: 'uid' },
    spec: { track: 'video', source: {} },
    status: { media: { sha256 }, renditions },
  };
  const open = async () => (await openPreview(storage, upload as unknown as Upload)).media;
  const stuck = await open();
  stuck.once('readable', () => undefined);
  const seen = await open();
  const bytes = buffer(seen);
  await vi.waitFor(() => expect(stuck.readableLength).toBeGreaterThan(0));
  await vi.advanceTimersByTimeAsync(15_000);
  expect(stuck.destroyed).toBe(true);
  expect((await bytes).length).toBe(40 * 64 * 1024);
});

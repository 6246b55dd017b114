/** Tests the bytes of an upload's preview. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openPreview, previewBytes } from '../../../../src/domain/uploads/preview.ts';
import type { RenditionIndex } from '../../../../src/media/rendition/index.ts';
import { DirectoryStorage } from '../../../../src/media/storage/directory.ts';
import type { Upload } from '../../../../src/resources/upload/resource.ts';
import { renditionKey } from '../../../../src/resources/upload/spec.ts';

const index = (durationSeconds: number, more: Partial<RenditionIndex> = {}): RenditionIndex => ({
  version: 1,
  profile: '720p30',
  sizeBytes: 1000,
  sha256: 'a'.repeat(64),
  durationSeconds,
  bitrateKbps: 1,
  ...more,
});
/** A keyframe every 2 s, ten bytes each. */
const video: RenditionIndex['video'] = {
  frameRateNum: 30_000,
  frameRateDen: 1001,
  frames: 3000,
  header: '',
  keyframes: Array.from({ length: 50 }, (_, i) => ({ frame: i * 60, offset: 13 + i * 10 })),
};

test('a preview is the first minute, ends in front of a keyframe, and is all of a shorter upload', () => {
  expect(previewBytes(index(40, { video: video as NonNullable<typeof video> }))).toBe(1000);
  // The 30th keyframe is the first after a minute: 1800 frames at 29.97 are 60.06 s.
  expect(previewBytes(index(100, { video: video as NonNullable<typeof video> }))).toBe(13 + 30 * 10);
  expect(previewBytes(index(120))).toBe(500);
});

test('it is read from the smallest rendition that is ready; where there is none, or it is gone, that is said', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-preview-'));
  try {
    const storage = new DirectoryStorage(dir);
    const sha256 = 'b'.repeat(64);
    const rendition = (profile: string) => ({
      profile,
      state: 'ready' as const,
      key: renditionKey(sha256, 'video', profile),
    });
    const upload = (...profiles: string[]) =>
      ({
        spec: { type: 'video', source: {} },
        status: { media: { sha256 }, renditions: profiles.map(rendition) },
      }) as unknown as Upload;
    for (const [profile, body] of [
      ['1080p30', 'the large one'],
      ['720p30', 'the small one'],
      ['preview', 'made to be seen'],
    ] as const) {
      const { key } = rendition(profile);
      await storage.write(key, Buffer.from(body));
      await storage.write(`${key}.json`, Buffer.from(JSON.stringify(index(1, { sizeBytes: body.length }))));
    }
    expect(await text(await openPreview(storage, upload('1080p30', '720p30')))).toBe('the small one');
    expect(await text(await openPreview(storage, upload('1080p30', '720p30', 'preview')))).toBe('made to be seen');
    const unprepared = { code: 'upload_not_prepared' };
    await expect(openPreview(storage, upload())).rejects.toMatchObject(unprepared);
    await expect(openPreview(storage, upload('2160p60'))).rejects.toMatchObject(unprepared);
    await expect(openPreview(undefined, upload('720p30'))).rejects.toMatchObject(unprepared);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

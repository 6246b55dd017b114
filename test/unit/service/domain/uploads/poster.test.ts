/** Tests what of a storage is sent as the poster of an upload. */
import { expect, test } from 'vitest';
import { DirectoryStorage } from '../../../../../src/core/pods/storage/directory.ts';
import { StorageError } from '../../../../../src/core/pods/storage/storage.ts';
import { MAX_POSTER_BYTES, posterKey } from '../../../../../src/core/resources/upload/poster.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { importContent } from '../../../../../src/core/resources/upload/spec.ts';
import { nameVersion, readPoster } from '../../../../../src/service/domain/uploads/poster.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const KEY = posterKey(importContent('uid'), 'video', 'a'.repeat(24));
const upload = (poster: string | undefined = KEY) =>
  ({ metadata: { uid: 'uid' }, spec: { track: 'video', source: {} }, status: { poster } }) as unknown as Upload;
const jpeg = (bytes: number) => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(bytes - 4)]);
const none = { code: 'upload_has_no_poster' };

test('a poster is read with a tag of its content', async () => {
  const storage = new DirectoryStorage(tempDir());
  await storage.write(KEY, jpeg(100));
  const first = await readPoster(storage, upload());
  expect(first.bytes.equals(jpeg(100))).toBe(true);
  await storage.write(KEY, jpeg(101));
  expect((await readPoster(storage, upload())).tag).not.toBe(first.tag);
  expect(nameVersion(KEY)).not.toBe(nameVersion(posterKey('b'.repeat(64), 'video')));
});

test('an upload without one, without storage, or whose object is gone has none', async () => {
  const storage = new DirectoryStorage(tempDir());
  await expect(readPoster(undefined, upload())).rejects.toMatchObject(none);
  await expect(readPoster(storage, { ...upload(), status: {} })).rejects.toMatchObject(none);
  await expect(readPoster(storage, upload())).rejects.toMatchObject(none);
});

test.each([
  ['a page', Buffer.from('<html><script>alert(1)</script>')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
  ['nothing', Buffer.alloc(0)],
  ['more than a poster has', jpeg(MAX_POSTER_BYTES + 1)],
])('what a Job has put in its place is not sent: %s', async (_, bytes) => {
  const storage = new DirectoryStorage(tempDir());
  await storage.write(KEY, bytes);
  await expect(readPoster(storage, upload())).rejects.toMatchObject(none);
});

test('a storage that does not respond is named as the reason', async () => {
  const away = { head: () => Promise.reject(new StorageError('unavailable', 'It is away.')) };
  await expect(readPoster(away as never, upload())).rejects.toMatchObject({ code: 'upstream_unavailable' });
});

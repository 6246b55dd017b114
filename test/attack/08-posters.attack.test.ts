/** Attacks posters: they are strangers' bytes, which a Job that a stranger's file has taken over may have chosen. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../src/core/pods/storage/open.ts';
import type { Storage } from '../../src/core/pods/storage/storage.ts';
import { posterKey } from '../../src/core/resources/upload/poster.ts';
import { UPLOADS } from '../../src/core/resources/upload/resource.ts';
import { importContent, sourceKey } from '../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../kit/system/api.ts';
import { tempDir } from '../kit/temp-dir.ts';

const MEDIA = { sha256: 'a'.repeat(64), sizeBytes: 1, durationSeconds: 1 };
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(500, 7)]);

const dir = tempDir();
let api: TestApi;
let ada: Client;
let eve: Client;
let storage: Storage;
beforeAll(async () => {
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  api = await startTestApi({ storageUrl });
  [ada, eve] = [await api.client('ada'), await api.client('eve')];
  storage = await openStorage(storageUrl);
});
afterAll(() => api?.stop());

/** Makes an imported upload; `poster` is the key in its status, by its own UID. */
async function makeImported(as: Client, poster: (uid: string) => string) {
  const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
  const id = String((await as.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const { uid } = (await api.kube.get(UPLOADS, NAMESPACE, id)).metadata;
  const key = poster(uid);
  await api.observeUpload(id, { phase: 'ready', progress: 1, media: MEDIA, poster: key });
  await expect.poll(async () => (await as.call('GET', `/v1/uploads/${id}`)).body).toMatchObject({ state: 'ready' });
  const { posterUrl } = (await as.call<{ posterUrl: string | null }>('GET', `/v1/uploads/${id}`)).body;
  return { id, uid, key, posterUrl };
}
const own = (uid: string) => posterKey(importContent(uid), 'video');

const see = (path: string | null, as?: Client, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { headers: { ...(as && { 'x-api-key': as.key }), ...headers }, redirect: 'manual' });

describe('the poster of an upload', () => {
  test('is for its own account: a stranger finds nothing, and neither does who has no key', async () => {
    const { posterUrl, key } = await makeImported(ada, own);
    await storage.write(key, JPEG);
    const seen = await see(posterUrl, ada);
    expect(seen.status).toBe(200);
    expect(Buffer.from(await seen.arrayBuffer()).equals(JPEG)).toBe(true);
    expect(Object.fromEntries(seen.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    const stranger = await see(posterUrl, eve);
    expect([stranger.status, await stranger.json()]).toMatchObject([404, { code: 'upload_not_found' }]);
    expect(stranger.headers.get('cache-control')).toBe('no-store');
    expect((await see(posterUrl)).status).toBe(401);
  });

  test('is sent once to a browser that keeps it, and to no stranger who knows its tag', async () => {
    const { posterUrl, key } = await makeImported(ada, own);
    await storage.write(key, JPEG);
    const tag = (await see(posterUrl, ada)).headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[0-9a-f]+"$/);
    const again = await see(posterUrl, ada, { 'if-none-match': `"other", W/${tag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
    expect((await see(posterUrl, eve, { 'if-none-match': tag })).status).toBe(404);
  });

  test.each([
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['a large object', Buffer.concat([JPEG, Buffer.alloc(2 ** 20)])],
  ])('is never what a Job that was taken over has put there: %s', async (_, bytes) => {
    const { posterUrl, key } = await makeImported(ada, own);
    await storage.write(key, bytes);
    const seen = await see(posterUrl, ada);
    expect(seen.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect([seen.status, await seen.json()]).toMatchObject([404, { code: 'upload_has_no_poster' }]);
  });

  test('is no other object of the storage, whatever a status names', async () => {
    const victim = await makeImported(ada, own);
    await storage.write(victim.key, JPEG);
    await storage.write(sourceKey(victim.uid), JPEG);
    for (const key of [victim.key, sourceKey(victim.uid), 'installation.json', '../../etc/passwd']) {
      const { id, posterUrl } = await makeImported(eve, () => key);
      expect(posterUrl).toBeNull();
      expect((await see(`/v1/uploads/${id}/poster`, eve)).status).toBe(404);
    }
  });
});

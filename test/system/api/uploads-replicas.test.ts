/** Tests uploads with two servers: each upload has one sender at a time across both, and together they keep to the quota. */
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { indexKey } from '../../../src/core/pods/rendition/index.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { joinedPieces } from '../../../src/core/pods/storage/pieces.ts';
import { PREVIEW_ANNOTATION } from '../../../src/core/resources/common/names.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { incomingKey, PREVIEW_PROFILE, renditionKey } from '../../../src/core/resources/upload/spec.ts';
import { withOverrides } from '../../../src/service/settings/limits.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const QUOTA = { count: 6, bytes: 2 ** 30 };
const LIMITS = withOverrides({ full: { uploads: QUOTA.count, uploadBytes: QUOTA.bytes } });
const MEGA = 2 ** 20;

const dir = tempDir();
let storageUrl: string;
let api: TestApi;
let ada: Client;
/** The address of each server. */
let urls: [string, string];
beforeAll(async () => {
  storageUrl = pathToFileURL(join(dir, 'media')).href;
  api = await startTestApi({ storageUrl, limits: LIMITS });
  ada = await api.client('ada');
  urls = [api.url, (await api.replica()).url];
});
afterAll(() => api?.stop());

const PROTOCOL = { 'tus-resumable': '1.0.0' };
const BYTES = { 'content-type': 'application/offset+octet-stream' };
const PATH = '/v1/uploads/resumable';
const begin = (url: string, length: number, as = ada) =>
  call<Record<string, string>>(`${url}${PATH}`, 'POST', undefined, {
    ...PROTOCOL,
    'x-api-key': as.key,
    'upload-length': String(length),
    'upload-metadata': `type ${btoa('VIDEO')}`,
  });
const getId = ({ headers }: { headers: Headers }) => headers.get('location')?.split('/').at(-1) ?? '';

const head = (url: string, id: string) =>
  call(`${url}${PATH}/${id}`, 'HEAD', undefined, { ...PROTOCOL, 'x-api-key': ada.key });
const readOffset = async (url: string, id: string) => Number((await head(url, id)).headers.get('upload-offset'));
/** Makes an upload that all servers know. */
async function anUpload(size: number): Promise<string> {
  const id = getId(await begin(urls[0], size));
  for (const url of urls) await until('every server knows it', async () => (await head(url, id)).status === 200);
  return id;
}

interface Patch {
  /** Resolves to the answer's status and the stored offset, or to `broken`. */
  answer: Promise<{ status: number | 'broken'; offset: number }>;
  write(bytes: Buffer): void;
  destroy(): void;
}
/** Starts to send `length` bytes from `offset` on; `write` sends them. */
function patch(url: string, id: string, offset: number, length: number): Patch {
  const { promise: answer, resolve } = Promise.withResolvers<Awaited<Patch['answer']>>();
  const headers = { ...PROTOCOL, ...BYTES, 'x-api-key': ada.key, 'upload-offset': offset, 'content-length': length };
  const sending = request(`${url}${PATH}/${id}`, { method: 'PATCH', headers }, (response) => {
    response.resume();
    resolve({ status: response.statusCode ?? 0, offset: Number(response.headers['upload-offset'] ?? 0) });
  });
  sending.on('error', () => resolve({ status: 'broken', offset: 0 }));
  sending.flushHeaders();
  return { answer, write: (bytes) => void sending.write(bytes), destroy: () => void sending.destroy() };
}

async function stored(id: string): Promise<Buffer> {
  const { uid } = (await api.kube.get(UPLOADS, NAMESPACE, id)).metadata;
  const storage = await openStorage(storageUrl);
  const parts: Buffer[] = [];
  for await (const part of joinedPieces(storage, incomingKey(uid), new AbortController().signal)) parts.push(part);
  return Buffer.concat(parts);
}

describe('one upload, sent to two servers', () => {
  test('at once: one sender’s bytes are kept, and the other one is refused', async () => {
    const size = 24 * MEGA;
    for (let round = 0; round < 3; round += 1) {
      const id = await anUpload(size);
      const senders = urls.map((url) => patch(url, id, 0, size));
      // The bytes go in steps, so that both senders are at work for longer than a turn.
      for (let sent = 0; sent < size; sent += MEGA) {
        for (const [i, sender] of senders.entries()) sender.write(Buffer.alloc(MEGA, 'ab'[i]));
        await setTimeout(50);
      }
      const answers = await Promise.all(senders.map(({ answer }) => answer));
      const kept = await stored(id);
      const what = `${JSON.stringify(answers)} after ${kept.length} bytes`;
      expect(new Set(kept).size, what).toBe(1);
      for (const { status } of answers) expect([204, 409, 'broken'], what).toContain(status);
      // The refused sender gets the offset of its kept bytes, which may be 0.
      const taken = answers.filter(({ status, offset }) => status === 204 && offset > 0);
      expect(
        taken.map(({ offset }) => offset),
        what,
      ).toEqual(taken.length > 0 ? [kept.length] : []);
      // Either server continues where the other one ended.
      for (const url of urls) expect(await readOffset(url, id)).toBe(kept.length);
      expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
    }
  });

  test('a sender that hangs at one server gives way at the other one, and its bytes are kept', async () => {
    const id = await anUpload(100);
    let hung = patch(urls[0], id, 0, 100);
    onTestFinished(() => hung.destroy());
    await until('what was sent is kept', async () => {
      hung.write(Buffer.alloc(40, 'x'));
      const offset = await readOffset(urls[1], id);
      // A query of the offset interrupts the current sender, also before its first byte was read.
      if (offset === 0) {
        hung.destroy();
        hung = patch(urls[0], id, 0, 100);
      }
      return offset === 40;
    });
    const rest = patch(urls[1], id, 40, 60);
    rest.write(Buffer.alloc(60, 'y'));
    expect(await rest.answer).toEqual({ status: 204, offset: 100 });
    expect((await stored(id)).toString()).toBe('x'.repeat(40) + 'y'.repeat(60));
    expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
  });

  test('of a server that is killed, or stands still, another one takes over; when that one wakes, it keeps no more', async () => {
    const size = 16 * MEGA;
    const id = await anUpload(size);
    const server: ApiProcess = await startApiProcess({ ...api.environment, LOOPSTREAM_STORAGE_URL: storageUrl });
    onTestFinished(async () => {
      server.signal('SIGKILL');
      await server.ended;
    });
    const frozen = patch(server.url, id, 0, size);
    frozen.write(Buffer.alloc(5 * MEGA, 'f'));
    await until('pieces have come', async () => (await stored(id)).length >= 3 * MEGA);
    server.signal('SIGSTOP');
    // The next request works as soon as the lease is over.
    const at = await readOffset(urls[0], id);
    expect(at).toBeGreaterThanOrEqual(3 * MEGA);
    const other = patch(urls[0], id, at, size - at);
    other.write(Buffer.alloc(6 * MEGA, 'o'));
    await until('the other one is at work', async () => (await stored(id)).length > at);
    frozen.write(Buffer.alloc(11 * MEGA, 'f'));
    server.signal('SIGCONT');
    expect([409, 'broken']).toContain((await frozen.answer).status);
    other.write(Buffer.alloc(size - at - 6 * MEGA, 'o'));
    expect(await other.answer).toEqual({ status: 204, offset: size });
    const kept = await stored(id);
    expect(kept.equals(Buffer.concat([Buffer.alloc(at, 'f'), Buffer.alloc(size - at, 'o')]))).toBe(true);
    expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
  });
});

describe('the quota of an account, over two servers', () => {
  const link = (url: string, { key }: Client, headers = {}) =>
    call(
      `${url}/v1/uploads/from-link`,
      'POST',
      { type: 'VIDEO', url: 'https://example.com/a.mp4' },
      { 'x-api-key': key, ...headers },
    );

  test('holds for twenty that are begun at once, links and sent ones', async () => {
    for (const name of ['zoe', 'zac', 'zed']) {
      const owner = await api.client(name);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => {
          const url = urls[i % 2] ?? '';
          return i % 4 < 2 ? link(url, owner) : begin(url, 1, owner);
        }),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(QUOTA.count).fill(201), ...Array(20 - QUOTA.count).fill(403)]);
      const { data } = (await owner.call<{ data: unknown[] }>('GET', '/v1/uploads')).body;
      expect(data).toHaveLength(QUOTA.count);
    }
  });

  test('does not block a retry whose first try has taken the last place', async () => {
    const owner = await api.client('zia');
    const proxy = await startFaultyProxy(api.kubernetes);
    const replica = await api.replica({ kubeconfig: await writeKubeconfig(join(dir, 'config'), proxy.url) });
    onTestFinished(async () => {
      await replica.stop();
      await proxy.close();
    });
    for (let i = 1; i < QUOTA.count; i += 1) expect((await link(urls[0], owner)).status).toBe(201);
    const last = () => link(replica.url, owner, { 'idempotency-key': 'last' });
    proxy.set('write lost');
    expect((await last()).status).toBe(502);
    proxy.set('none');
    expect((await last()).status).toBe(201);
    expect((await owner.call<{ data: unknown[] }>('GET', '/v1/uploads')).body.data).toHaveLength(QUOTA.count);
    expect((await link(replica.url, owner)).status).toBe(403);
  });

  test('has room at every server as soon as something is deleted', async () => {
    const owner = await api.client('zul');
    for (let i = 0; i < QUOTA.count; i += 1) expect((await link(urls[0], owner)).status).toBe(201);
    expect((await link(urls[1], owner)).status).toBe(403);
    const { data } = (await owner.call<{ data: { objectID: string }[] }>('GET', '/v1/uploads')).body;
    expect((await owner.call('DELETE', `/v1/uploads/${data[0]?.objectID}`)).status).toBe(204);
    await expect.poll(async () => (await link(urls[1], owner)).status).toBe(201);
    expect((await link(urls[0], owner)).status).toBe(403);
  });
});

test('a preview request without a rendition prepares the first minute; a stranger’s does not, and no request does so twice', async () => {
  const { body } = await ada.call('POST', '/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/a.mp4' });
  const id = String(body.objectID);
  const [storage, eve] = await Promise.all([openStorage(storageUrl), api.client('eve')]);
  const see = (as = ada) => as.call('GET', `/v1/uploads/${id}/preview.flv`);
  const wish = async () => (await api.kube.get(UPLOADS, NAMESPACE, id)).metadata.annotations?.[PREVIEW_ANNOTATION];
  const unprepared = { status: 409, body: { code: 'upload_not_prepared' } };
  expect(await see()).toMatchObject(unprepared);
  expect(await wish()).toBeUndefined();
  const media = { sha256: 'a'.repeat(64), sizeBytes: 1, durationSeconds: 1 };
  await api.observeUpload(id, { phase: 'ready', progress: 1, media });
  const state = async () => (await ada.call('GET', `/v1/uploads/${id}`)).body;
  await expect.poll(state).toMatchObject({ state: 'ready', preview: null });
  expect((await see(eve)).status).toBe(404);
  expect(await wish()).toBeUndefined();
  expect(await see()).toMatchObject(unprepared);
  const asked = await wish();
  expect(Date.now() - Date.parse(String(asked))).toBeLessThan(60_000);
  await expect.poll(() => see()).toMatchObject({ body: { detail: expect.stringContaining('is being prepared') } });
  expect(await wish()).toBe(asked);

  const error = { code: 'prepare_failed' as const, message: 'Nothing came of it.' };
  const failed = { profile: PREVIEW_PROFILE, state: 'failed' as const, error };
  await api.observeUpload(id, { phase: 'ready', progress: 1, media, renditions: [failed] });
  await expect.poll(state).toMatchObject({ state: 'ready', preview: 'failed', error: null });
  expect((await see()).body.detail).toContain('Nothing came of it.');
  const key = renditionKey(media.sha256, 'video', PREVIEW_PROFILE);
  const index = { version: 1, profile: PREVIEW_PROFILE, sizeBytes: 13, sha256: media.sha256, durationSeconds: 1 };
  await storage.write(key, Buffer.from('the beginning'));
  await storage.write(indexKey(key), Buffer.from(JSON.stringify({ ...index, bitrateKbps: 1 })));
  const ready = { profile: PREVIEW_PROFILE, state: 'ready' as const, key };
  await api.observeUpload(id, { phase: 'ready', progress: 1, media, renditions: [ready] });
  await expect.poll(state).toMatchObject({ preview: 'ready' });
  const seen = await fetch(`${api.url}/v1/uploads/${id}/preview.flv`, { headers: { 'x-api-key': ada.key } });
  expect([seen.status, seen.headers.get('content-type'), await seen.text()]).toEqual([
    200,
    'video/x-flv',
    'the beginning',
  ]);
});

/**
 * Attacks the limits of uploads through a deferred length and through parts: neither is a way around an account's quota. Two API servers
 * run on a real Kubernetes and a real PostgreSQL.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '../../src/core/pods/storage/open.ts';
import type { AccountLimits } from '../../src/service/domain/accounts/record.ts';
import { withOverrides } from '../../src/service/settings/limits.ts';
import { parseUploadId, TUS_PATH, type TusWire, tusWire } from '../kit/make/tus-wire.ts';
import { type Client, startTestApi, type TestApi } from '../kit/system/api.ts';
import { tempDir } from '../kit/temp-dir.ts';

const MIB = 2 ** 20;
const QUOTA = { uploads: 6, uploadBytes: 64 * MIB, largestUploadBytes: 40 * MIB };

const dir = tempDir();
let api: TestApi;
let urls: string[];
let victim: Client;
beforeAll(async () => {
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  api = await startTestApi({ storageUrl, billing: true, limits: withOverrides({ trial: QUOTA }) });
  urls = [api.url, (await api.replica()).url];
  victim = await api.client('victim');
});
afterAll(() => api?.stop());

const openWires = (as: Client): TusWire[] => urls.map((url) => tusWire(url, as));
const usedBy = async (as: Client, name: string): Promise<number> => {
  const { body } = await as.call<AccountLimits>('GET', '/v1/limits');
  return body.limits.find((limit) => limit.name === name)?.used ?? Number.NaN;
};

test('uploads of no length, sent at once to two servers, end at the bytes that the account may keep', async () => {
  const mallory = await api.client('mallory-open-ended');
  const wires = openWires(mallory);
  const begun = await Promise.all(
    Array.from({ length: 12 }, (_, i) => wires[i % 2]?.create({ 'Upload-Defer-Length': '1' })),
  );
  const ids = begun.filter((answer) => answer?.status === 201).map((answer) => parseUploadId(answer as never));
  expect(ids).toHaveLength(QUOTA.uploads);
  const flood = Buffer.alloc(30 * MIB, 'x');
  const answers = await Promise.all(ids.map((id, i) => (wires[i % 2] as TusWire).append(id, 0, flood)));
  const codes = answers.map(({ status, body }) => (status === 204 ? 'taken' : body.code));
  expect(codes).toContain('upload_quota_exceeded');
  expect(codes.filter((code) => !['taken', 'upload_quota_exceeded'].includes(code))).toEqual([]);
  const stored = await Promise.all(ids.map(async (id) => Number(await wires[0]?.offset(id))));
  const total = stored.reduce((sum, bytes) => sum + bytes, 0);
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(QUOTA.uploadBytes);
  // A server learns a moment later what the other one has given back.
  await expect.poll(() => usedBy(mallory, 'uploadBytes')).toBeLessThanOrEqual(QUOTA.uploadBytes);
  // No upload may exceed its own limit either.
  const [one = '', ...others] = ids;
  for (const id of others) expect((await wires[0]?.send('DELETE', id))?.status).toBe(204);
  const rest = Buffer.alloc(QUOTA.largestUploadBytes, 'y');
  const beyond = await wires[0]?.append(one, Number(await wires[0]?.offset(one)), rest);
  expect(beyond).toMatchObject({ status: 413, body: { code: 'media_too_large' } });
  expect(Number(await wires[0]?.offset(one))).toBeLessThanOrEqual(QUOTA.largestUploadBytes);
  expect((await openWires(victim)[0]?.create({ 'Upload-Length': '5' }, { type: 'VIDEO' }, 'hello'))?.status).toBe(201);
});

test('a length that is said late is no more than there is room for', async () => {
  const mallory = await api.client('mallory-late');
  const [wire] = openWires(mallory) as [TusWire];
  const made = [await wire.create({ 'Upload-Defer-Length': '1' }), await wire.create({ 'Upload-Defer-Length': '1' })];
  const say = (answer: { headers: Headers }, bytes: number) =>
    wire.append(parseUploadId(answer), 0, '', { 'Upload-Length': String(bytes) });
  expect((await say(made[0] as never, QUOTA.largestUploadBytes)).status).toBe(204);
  expect(await say(made[1] as never, QUOTA.largestUploadBytes)).toMatchObject({
    body: { code: 'upload_quota_exceeded' },
  });
  expect(await usedBy(mallory, 'uploadBytes')).toBe(QUOTA.largestUploadBytes);
});

test('parts count with their own size, and concurrent concatenations are no way around it', async () => {
  const mallory = await api.client('mallory-parts');
  const wires = openWires(mallory);
  const part = async (bytes: number) => {
    const headers = { 'Upload-Concat': 'partial', 'Upload-Length': String(bytes) };
    const made = await wires[0]?.send('POST', '', headers);
    if (made?.status !== 201) return made?.body.code as string;
    expect((await wires[0]?.append(parseUploadId(made), 0, Buffer.alloc(bytes)))?.status).toBe(204);
    return parseUploadId(made);
  };
  const [a, b] = [await part(20 * MIB), await part(20 * MIB)];
  expect(await part(30 * MIB)).toBe('upload_quota_exceeded');
  // A final upload has no more bytes than one upload may.
  const ways = [[a, b], [b, a], [a], [b], [a, a], [b, b], [a, b, a], [b, a, b], [a, a, a], [b, b, b]];
  const join = (ids: string[], i: number) =>
    wires[i % 2]?.create({ 'Upload-Concat': `final;${ids.map((id) => `${TUS_PATH}/${id}`).join(' ')}` });
  const answers = await Promise.all(ways.map(join));
  expect(answers.some((answer) => answer?.status === 201)).toBe(true);
  for (const answer of answers) expect(answer?.status).toBeLessThan(500);
  expect(await usedBy(mallory, 'uploadBytes')).toBeLessThanOrEqual(QUOTA.uploadBytes);
  expect(await usedBy(mallory, 'uploads')).toBeLessThanOrEqual(QUOTA.uploads);
});

test('at the limit of uploads, parts can still be put together, and leave room then', async () => {
  const wires = openWires(await api.client('ada-parts'));
  const ids: string[] = [];
  for (let i = 0; i < QUOTA.uploads; i++) {
    const headers = { 'Upload-Concat': 'partial', 'Upload-Length': '1' };
    ids.push(parseUploadId((await wires[0]?.send('POST', '', headers)) as never));
    await wires[0]?.append(ids[i] ?? '', 0, 'x');
  }
  expect((await wires[0]?.create({ 'Upload-Length': '1' }))?.status).toBe(403);
  const concat = `final;${ids.map((id) => `${TUS_PATH}/${id}`).join(' ')}`;
  expect((await wires[0]?.create({ 'Upload-Concat': concat }))?.status).toBe(201);
  expect((await wires[0]?.create({ 'Upload-Length': '1' }))?.status).toBe(201);
});

test('a wrong sum leaves nothing in the storage', async () => {
  const [wire] = openWires(await api.client('mallory-sums')) as [TusWire];
  const id = parseUploadId(await wire.create({ 'Upload-Length': String(40 * MIB) }));
  const storage = await openStorage(pathToFileURL(join(dir, 'media')).href);
  const count = async () => {
    let keys = 0;
    for await (const _ of storage.list('incoming/')) keys += 1;
    return keys;
  };
  const before = await count();
  const wrong = { 'Upload-Checksum': `sha1 ${'A'.repeat(27)}=` };
  for (let i = 0; i < 3; i++) expect((await wire.append(id, 0, Buffer.alloc(20 * MIB), wrong)).status).toBe(460);
  expect(await count()).toBe(before);
});

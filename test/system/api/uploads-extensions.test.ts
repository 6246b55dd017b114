/** Tests the extensions of tus: concatenation, a deferred length, and checksums. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { joinedPieces } from '../../../src/core/pods/storage/pieces.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { incomingKeys } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { buildChecksum, parseUploadId, TUS_PATH, type TusWire, tusWire } from '../../kit/make/tus-wire.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();
let storage: Storage;
let api: TestApi;
let ada: Client;
let eve: Client;
let tus: TusWire;

beforeAll(async () => {
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  storage = await openStorage(storageUrl);
  api = await startTestApi({ storageUrl, maxSourceBytes: 100 * 2 ** 20 });
  [ada, eve] = [await api.client('ada'), await api.client('eve')];
  tus = tusWire(api.url, ada);
});
afterAll(() => api?.stop());

const upload = (id: string) => api.kube.get(UPLOADS, NAMESPACE, id);
const readSent = async (id: string) => (await upload(id)).spec.source.sent;
/** Returns all bytes of an upload, as its import reads them. */
async function readContent(id: string): Promise<string> {
  let text = '';
  for (const key of incomingKeys(await upload(id)))
    for await (const chunk of joinedPieces(storage, key, new AbortController().signal)) text += chunk;
  return text;
}
const listed = async () => {
  const { body } = await ada.call<{ data: { objectID: string }[] }>('GET', '/v1/uploads?limit=100');
  return body.data.map(({ objectID }) => objectID);
};

describe('parts', () => {
  /** Sends a whole part without a kind. */
  async function sendPart(content: string, wire = tus): Promise<string> {
    const made = await wire.send('POST', '', { 'Upload-Concat': 'partial', 'Upload-Length': String(content.length) });
    expect(made.status).toBe(201);
    expect((await wire.append(parseUploadId(made), 0, content)).status).toBe(204);
    return parseUploadId(made);
  }
  const join = (ids: readonly string[], metadata: Record<string, string> = { filename: 'film.mp4' }) =>
    tus.create({ 'Upload-Concat': `final;${ids.map((id) => `${TUS_PATH}/${id}`).join(' ')}` }, metadata);

  test('are put together in the order that was said, are not listed, and are gone then', async () => {
    const [first, second] = await Promise.all([sendPart('hello, '), sendPart('world')]);
    expect(await listed()).not.toContain(first);
    expect((await tus.send('HEAD', first)).headers.get('upload-concat')).toBe('partial');
    const made = await join([first, second]);
    expect(made.status).toBe(201);
    const id = parseUploadId(made);
    const head = await tus.send('HEAD', id);
    const told = ['upload-offset', 'upload-length', 'upload-concat'].map((name) => head.headers.get(name));
    expect(told).toEqual(['12', '12', `final;${TUS_PATH}/${first} ${TUS_PATH}/${second}`]);
    expect(await readContent(id)).toBe('hello, world');
    expect((await upload(id)).spec).toMatchObject({
      track: 'video',
      displayName: 'film.mp4',
      source: { sent: { sizeBytes: 12, receivedBytes: 12 } },
    });
    expect((await ada.call('GET', `/v1/uploads/${id}`)).body).toMatchObject({ state: 'importing', sizeBytes: 12 });
    expect((await tus.send('HEAD', first)).status).toBe(404);
    // A client whose answer was lost retries, and gets the result of its first try.
    expect(parseUploadId(await join([first, second]))).toBe(id);
    expect(await tus.append(id, 12, 'more')).toMatchObject({ status: 403, body: { code: 'upload_is_final' } });
    expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
    const left: string[] = [];
    for await (const key of storage.list('incoming/')) left.push(key);
    expect(left).toEqual([]);
  });

  test('may be named by any URL that ends in their id', async () => {
    const ids = await Promise.all([sendPart('a'), sendPart('b')]);
    const urls = [`https://cdn.example.com/api${TUS_PATH}/${ids[0]}?x=1`, `${TUS_PATH}/${ids[1]}/`];
    const made = await tus.create({ 'Upload-Concat': `final; ${urls.join('  ')}` }, { type: 'audio/mpeg' });
    expect(made.status).toBe(201);
    expect(await readContent(parseUploadId(made))).toBe('ab');
    expect((await upload(parseUploadId(made))).spec.track).toBe('audio');
  });

  test('are refused where one is missing, half sent, another account’s, or no part', async () => {
    const whole = await sendPart('abc');
    const stolen = await sendPart('abc', tusWire(api.url, eve));
    const half = parseUploadId(await tus.send('POST', '', { 'Upload-Concat': 'partial', 'Upload-Length': '10' }));
    await tus.append(half, 0, 'hello');
    const plain = parseUploadId(await tus.create({ 'Upload-Length': '3' }, { type: 'VIDEO' }, 'abc'));
    for (const [other, status, code] of [
      ['upl-none', 404, 'upload_not_found'],
      [stolen, 404, 'upload_not_found'],
      [half, 409, 'upload_conflict'],
      [plain, 422, 'validation_failed'],
    ] as const)
      expect(await join([whole, other]), code).toMatchObject({ status, body: { code } });
    for (const wrong of ['final;', 'final', 'whole', 'partial;x'])
      expect(await tus.create({ 'Upload-Concat': wrong }), wrong).toMatchObject({
        status: 422,
        body: { errors: [{ path: '/Upload-Concat' }] },
      });
    expect(await join([whole], {})).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(await tus.offset(whole)).toBe('3');
  });
});

describe('a length that is said later', () => {
  const begin = () => tus.create({ 'Upload-Defer-Length': '1' });

  test('is said with the last bytes, and the import begins then', async () => {
    const id = parseUploadId(await begin());
    const head = await tus.send('HEAD', id);
    expect(['upload-defer-length', 'upload-length'].map((name) => head.headers.get(name))).toEqual(['1', null]);
    expect((await tus.append(id, 0, 'hello')).headers.get('upload-offset')).toBe('5');
    expect((await ada.call('GET', `/v1/uploads/${id}`)).body).toMatchObject({ state: 'importing', sizeBytes: null });
    expect((await tus.append(id, 5, ', world', { 'Upload-Length': '12' })).status).toBe(204);
    expect(await readSent(id)).toEqual({ sizeBytes: 12, receivedBytes: 12 });
    expect(await readContent(id)).toBe('hello, world');
  });

  test('may come alone, before or after all bytes, and again when a client goes on', async () => {
    const [early, late] = [parseUploadId(await begin()), parseUploadId(await begin())];
    expect((await tus.append(early, 0, '', { 'Upload-Length': '5' })).status).toBe(204);
    expect((await tus.send('HEAD', early)).headers.get('upload-length')).toBe('5');
    expect((await tus.append(early, 0, 'hel', { 'Upload-Length': '5' })).status).toBe(204);
    expect((await tus.append(early, 3, 'lo', { 'Upload-Length': '5' })).status).toBe(204);
    await tus.append(late, 0, 'hello');
    expect((await tus.append(late, 5, '', { 'Upload-Length': '5' })).status).toBe(204);
    for (const id of [early, late]) expect(await readSent(id)).toEqual({ sizeBytes: 5, receivedBytes: 5 });
  });

  test('stays as it was said, and is none that cannot be', async () => {
    const id = parseUploadId(await begin());
    await tus.append(id, 0, 'hello');
    for (const length of ['4', '0'])
      expect(await tus.append(id, 5, '', { 'Upload-Length': length }), length).toMatchObject({ status: 422 });
    expect((await tus.append(id, 5, '', { 'Upload-Length': String(2 ** 40) })).status).toBe(413);
    expect((await tus.append(id, 5, '', { 'Upload-Length': '9' })).status).toBe(204);
    expect(await tus.append(id, 5, '', { 'Upload-Length': '10' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: '/Upload-Length' }] },
    });
    for (const wrong of [{ 'Upload-Defer-Length': '2' }, { 'Upload-Defer-Length': '1', 'Upload-Length': '5' }, {}])
      expect((await tus.create(wrong as Record<string, string>)).status).toBe(422);
  });

  test('is known on another server at once', async () => {
    const id = parseUploadId(await begin());
    const other = tusWire((await api.replica()).url, ada);
    await tus.append(id, 0, 'hel', { 'Upload-Length': '5' });
    expect((await other.append(id, 3, 'lo')).status).toBe(204);
    expect(await readSent(id)).toEqual({ sizeBytes: 5, receivedBytes: 5 });
  });
});

describe('a sum', () => {
  test('that matches lets the bytes count, with each advertised algorithm', async () => {
    const { headers } = await tus.send('OPTIONS');
    const algorithms = headers.get('tus-checksum-algorithm')?.split(',') ?? [];
    expect(algorithms).toContain('sha1');
    expect(headers.get('tus-extension')?.split(',')).toEqual(
      expect.arrayContaining(['checksum', 'concatenation', 'creation-defer-length', 'creation-with-upload']),
    );
    const id = parseUploadId(await tus.create({ 'Upload-Length': String(algorithms.length) }));
    for (const [at, algorithm] of algorithms.entries())
      expect((await tus.append(id, at, 'x', buildChecksum('x', algorithm))).status, algorithm).toBe(204);
    expect(await readSent(id)).toMatchObject({ receivedBytes: algorithms.length });
  });

  test('that is wrong keeps nothing of the request, nor of a creation', async () => {
    const content = Buffer.alloc(2 ** 20, 'a');
    const id = parseUploadId(await tus.create({ 'Upload-Length': String(2 * content.length) }));
    expect((await tus.append(id, 0, content, buildChecksum(content))).status).toBe(204);
    const refused = { status: 460, body: { code: 'upload_checksum_mismatch' } };
    expect(await tus.append(id, content.length, content, buildChecksum('b'))).toMatchObject(refused);
    expect(await tus.offset(id)).toBe(String(content.length));
    expect((await tus.append(id, content.length, content, buildChecksum(content))).status).toBe(204);
    expect(await readContent(id)).toBe('a'.repeat(2 * content.length));
    const before = await listed();
    const headers = { 'Upload-Length': '5', ...buildChecksum('world') };
    expect(await tus.create(headers, { type: 'VIDEO' }, 'hello')).toMatchObject(refused);
    expect(await listed()).toEqual(before);
  });

  test('that is none is 400', async () => {
    const id = parseUploadId(await tus.create({ 'Upload-Length': '5' }));
    for (const value of ['crc7 AAAA', 'sha1', 'sha1 AAAA', '__proto__ AAAA', `SHA1 ${'A'.repeat(27)}=`])
      expect(await tus.append(id, 0, 'hello', { 'Upload-Checksum': value }), value).toMatchObject({
        status: 400,
        body: { code: 'malformed_request' },
      });
    expect(await tus.offset(id)).toBe('0');
  });
});

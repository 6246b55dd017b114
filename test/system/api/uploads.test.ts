/** Tests clients' uploads (tus) with a stock client: an interrupted one continues, and no other account can take part. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { appendPieces, joinedPieces } from '../../../src/core/pods/storage/pieces.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { incomingKey } from '../../../src/core/resources/upload/spec.ts';
import { withOverrides } from '../../../src/service/settings/limits.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { type Sending, send } from '../../kit/make/tus-client.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const SIZE = 48 * 2 ** 20;
const QUOTA = { count: 6, bytes: 200 * 2 ** 20 };
const LIMITS = withOverrides({ full: { uploads: QUOTA.count, uploadBytes: QUOTA.bytes } });

const dir = tempDir();
let storage: Storage;
let api: TestApi;
let ada: Client;
let eve: Client;

beforeAll(async () => {
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  storage = await openStorage(storageUrl);
  api = await startTestApi({ storageUrl, limits: LIMITS, maxSourceBytes: 100 * 2 ** 20 });
  ada = await api.client('ada');
  eve = await api.client('eve');
});
afterAll(() => api?.stop());

const meta = (given: Record<string, string>) =>
  Object.entries(given)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

/** Sends one request of the protocol by hand. */
async function tus(method: string, path = '', headers: Record<string, string> = {}, { body = '', as = ada } = {}) {
  const response = await fetch(`${api.url}/v1/uploads/resumable${path}`, {
    method,
    headers: { 'Tus-Resumable': '1.0.0', 'X-API-Key': as.key, ...headers },
    ...(body && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
}
const begin = (length: number, as = ada, metadata: Record<string, string> = { type: 'VIDEO' }) =>
  tus('POST', '', { 'Upload-Length': String(length), 'Upload-Metadata': meta(metadata) }, { as });
const BYTES = { 'Content-Type': 'application/offset+octet-stream' };
const getId = ({ headers }: { headers: Headers }) => headers.get('location')?.split('/').at(-1) ?? '';
const upload = (id: string) => api.kube.get(UPLOADS, NAMESPACE, id);
const keysBelow = async (prefix: string) => {
  const keys: string[] = [];
  for await (const key of storage.list(prefix)) keys.push(key);
  return keys;
};

test('a file arrives complete although its client is killed at 30 % and at 60 %, and then the server is', async () => {
  const content = randomBytes(SIZE);
  const path = join(dir, 'film.mp4');
  await writeFile(path, content);
  const port = await reserveFreePort();
  const environment = {
    ...api.environment,
    LOOPSTREAM_STORAGE_URL: pathToFileURL(join(dir, 'media')).href,
    LOOPSTREAM_PORT: String(port),
  };
  let server: ApiProcess = await startApiProcess(environment);
  try {
    const endpoint = `${server.url}/v1/uploads/resumable`;
    const sending: Sending = { endpoint, apiKey: ada.key, path, memory: join(dir, 'memory') };
    const client = join(import.meta.dirname, '../../kit/make/tus-client.ts');
    for (const part of [0.3, 0.6]) {
      const child = spawn(process.execPath, [client, JSON.stringify(sending), String(part)], { stdio: 'inherit' });
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    }
    let restarting: Promise<ApiProcess> | undefined;
    // The interruption is at the first bytes of the rest: a client's socket is far ahead of the server.
    const onProgress = () => {
      if (restarting) return;
      server.signal('SIGKILL');
      restarting = server.ended.then(() => startApiProcess(environment));
    };
    const { url, offsets } = await send({ ...sending, onProgress });
    server = (await restarting) ?? server;
    expect(restarting).toBeDefined();
    const parts = offsets.map((offset) => offset / SIZE);
    // Bytes in the client's socket may be lost when it dies.
    expect(parts[0]).toBeGreaterThan(0.4);
    expect(parts.at(-1)).toBeGreaterThanOrEqual(parts[0] ?? 1);
    expect(offsets.length).toBeGreaterThanOrEqual(2);

    const id = url.split('/').at(-1) ?? '';
    const made = await upload(id);
    expect(made.spec).toEqual({
      displayName: 'my film.mp4',
      track: 'video',
      maxDurationSeconds: 24 * 3600,
      source: { sent: { sizeBytes: SIZE, receivedBytes: SIZE } },
    });
    const hash = createHash('sha256');
    const { signal } = new AbortController();
    for await (const chunk of joinedPieces(storage, incomingKey(made.metadata.uid), signal)) hash.update(chunk);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
    const { body } = await ada.call('GET', `/v1/uploads/${id}`);
    expect(body).toMatchObject({
      objectID: id,
      type: 'VIDEO',
      name: 'my film.mp4',
      state: 'importing',
      sizeBytes: SIZE,
    });
    expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
    expect(await keysBelow('incoming/')).toEqual([]);
  } finally {
    server.signal('SIGTERM');
    await server.ended;
  }
}, 240_000);

/** Announces a hundred bytes and sends forty. */
function sendPart(id: string): Socket {
  const { hostname, port } = new URL(api.url);
  const head = ['Host: x', `X-API-Key: ${ada.key}`, 'Tus-Resumable: 1.0.0', 'Upload-Offset: 0', 'Content-Length: 100'];
  const lines = [`PATCH /v1/uploads/resumable/${id} HTTP/1.1`, ...head, `Content-Type: ${BYTES['Content-Type']}`];
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(`${lines.join('\r\n')}\r\n\r\n${'x'.repeat(40)}`);
  return socket;
}

test.each([
  ['breaks off', (socket: Socket) => socket.end()],
  ['hangs, and gives way to the next one', (socket: Socket) => socket],
])('received bytes are kept when the connection %s, and the resource has the offset', async (_what, end) => {
  const id = getId(await begin(100));
  let socket = end(sendPart(id));
  const offset = () => tus('HEAD', `/${id}`).then(({ headers }) => headers.get('upload-offset'));
  await until('forty bytes are kept', async () => {
    const at = await offset();
    // A query of the offset interrupts the current sender, also before its first byte was read.
    if (at === '0') {
      socket.destroy();
      socket = end(sendPart(id));
    }
    return at === '40';
  });
  socket.destroy();
  expect((await upload(id)).spec.source).toEqual({ sent: { sizeBytes: 100, receivedBytes: 40 } });
  const rest = await tus('PATCH', `/${id}`, { ...BYTES, 'Upload-Offset': '40' }, { body: 'y'.repeat(60) });
  expect([rest.status, rest.headers.get('upload-offset')]).toEqual([204, '100']);
  expect((await upload(id)).spec.source).toEqual({ sent: { sizeBytes: 100, receivedBytes: 100 } });
  expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
});

test.each([
  ...['http://127.0.0.1/a', 'http://2130706433/a', 'http://0x7f.1/a', 'http://0177.0.0.1/a', 'http://localhost/a'],
  ...['http://[::ffff:127.0.0.1]/a', 'http://[fe80::1%25eth0]/a', 'http://169.254.169.254/latest/meta-data/'],
  ...['http://[fd00:ec2::254]/a', 'http://[64:ff9b::a9fe:a9fe]/a', 'https://example.com:22/a', 'ftp://example.com/a'],
])('%s is link_forbidden at once, in REST and GraphQL', async (url) => {
  const { status, body } = await ada.call('POST', '/v1/uploads/from-link', { type: 'VIDEO', url });
  expect({ status, body }).toMatchObject({
    status: 422,
    body: { code: 'link_forbidden', errors: [{ path: '/url' }] },
  });
  const query = 'mutation($input: UploadFromLinkInput!) { createUploadFromLink(input: $input) { upload { id } } }';
  const variables = { input: { type: 'VIDEO', url } };
  const { body: answer } = await ada.call('POST', '/graphql', { query, variables });
  expect(answer).toMatchObject({
    errors: [{ extensions: { code: 'link_forbidden', errors: [{ path: '/input/url' }] } }],
  });
});

test('a link is taken with what came along as it was pasted, in REST and GraphQL', async () => {
  const url = 'https://example.com/x/100%.mp4';
  const { status, body } = await ada.call('POST', '/v1/uploads/from-link', { type: 'VIDEO', url: `\u00a0<${url}>\n` });
  expect({ status, body }).toMatchObject({ status: 201, body: { name: '100%.mp4' } });
  const query = 'mutation($input: UploadFromLinkInput!) { createUploadFromLink(input: $input) { upload { id name } } }';
  const variables = { input: { type: 'VIDEO', url: `"${url}" ` } };
  const { body: answer } = await ada.call('POST', '/graphql', { query, variables });
  expect(answer).toMatchObject({ data: { createUploadFromLink: { upload: { name: '100%.mp4' } } } });
  const { upload: other } = (answer as { data: { createUploadFromLink: { upload: { id: string } } } }).data
    .createUploadFromLink;
  for (const id of [body.objectID, other.id]) expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
});

test('a server that died before it could say that all had come is made up for', async () => {
  const id = getId(await begin(5));
  const { uid } = (await upload(id)).metadata;
  await appendPieces(storage, incomingKey(uid), 0, Readable.from([Buffer.from('whole')]), async () => undefined);
  expect((await tus('HEAD', `/${id}`)).headers.get('upload-offset')).toBe('5');
  expect((await upload(id)).spec.source).toEqual({ sent: { sizeBytes: 5, receivedBytes: 5 } });
  expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
});

test('an Idempotency-Key makes one upload, and belongs to its metadata', async () => {
  const again = (length: string) =>
    tus('POST', '', { 'Idempotency-Key': 'one', 'Upload-Length': length, 'Upload-Metadata': meta({ type: 'VIDEO' }) });
  const ids = (await Promise.all([again('7'), again('7')])).map(getId);
  expect(ids[0]).toMatch(/^upl-/);
  expect(ids[1]).toBe(ids[0]);
  expect((await again('8')).body.code).toBe('idempotency_key_reused');
  expect((await tus('DELETE', `/${ids[0]}`)).status).toBe(204);
});

describe('the protocol', () => {
  test('tells its features to everybody', async () => {
    const { status, headers } = await tus('OPTIONS', '', { 'X-API-Key': '' });
    const told = ['tus-version', 'tus-extension', 'tus-max-size'].map((name) => headers.get(name));
    expect([status, ...told]).toEqual([
      204,
      '1.0.0',
      'creation,creation-with-upload,creation-defer-length,expiration,termination,concatenation,checksum',
      String(100 * 2 ** 20),
    ]);
  });

  test('takes the first bytes with the creation, has an expiry, and returns the file’s metadata', async () => {
    const metadata = meta({ type: 'AUDIO', name: 'Song', colour: 'blue' });
    const headers = { ...BYTES, 'Upload-Length': '10', 'Upload-Metadata': metadata };
    const made = await tus('POST', '', headers, { body: 'hello' });
    const id = getId(made);
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/uploads/resumable/${id}`]);
    const { creationTimestamp } = (await upload(id)).metadata;
    const expires = Date.parse(made.headers.get('upload-expires') ?? '') - Date.parse(creationTimestamp);
    expect(Math.abs(expires / 3_600_000 - 72)).toBeLessThan(0.1);
    const head = await tus('HEAD', `/${id}`);
    const shown = ['upload-offset', 'upload-length', 'upload-metadata', 'cache-control'].map((name) =>
      head.headers.get(name),
    );
    expect([head.status, ...shown]).toEqual([200, '5', '10', metadata, 'no-store']);
    expect((await upload(id)).spec).toMatchObject({ track: 'audio', displayName: 'Song' });
    expect((await tus('DELETE', `/${id}`)).status).toBe(204);
    expect((await tus('HEAD', `/${id}`)).status).toBe(404);
    expect(await keysBelow('incoming/')).toEqual([]);
  });

  test('accepts a creation with any content type, whose body is then no part of the upload', async () => {
    for (const type of [
      'application/octet-stream',
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
    ]) {
      for (const body of ['', 'hello']) {
        const said = { 'Upload-Length': '5', 'Upload-Metadata': meta({ filetype: 'audio/mpeg' }) };
        const made = await tus('POST', '', { 'Content-Type': type, ...said }, { body });
        expect([made.status, made.headers.get('upload-offset')]).toEqual([201, null]);
        expect((await upload(getId(made))).spec).toMatchObject({
          track: 'audio',
          source: { sent: { receivedBytes: 0 } },
        });
        expect((await tus('DELETE', `/${getId(made)}`)).status).toBe(204);
      }
    }
  });

  test('by POST alone, with the method in a header', async () => {
    const id = getId(await begin(5));
    const as = (method: string, headers = {}, body = '') =>
      tus('POST', `/${id}`, { 'X-HTTP-Method-Override': method, ...headers }, { body });
    expect((await as('HEAD')).headers.get('upload-offset')).toBe('0');
    expect((await as('PATCH', { ...BYTES, 'Upload-Offset': '0' }, 'hel')).headers.get('upload-offset')).toBe('3');
    expect((await as('HEAD')).headers.get('upload-offset')).toBe('3');
    expect((await as('DELETE')).status).toBe(204);
    expect((await as('HEAD')).status).toBe(404);
  });

  test('another account finds nothing, and disturbs nothing', async () => {
    const id = getId(await begin(10));
    for (const [method, headers, body] of [
      ['HEAD', {}, ''],
      ['PATCH', { ...BYTES, 'Upload-Offset': '0' }, 'stolen'],
      ['DELETE', {}, ''],
    ] as const) {
      expect((await tus(method, `/${id}`, headers, { body, as: eve })).status).toBe(404);
    }
    expect((await tus('HEAD', `/${id}`, { 'X-API-Key': '' })).status).toBe(401);
    expect((await tus('HEAD', `/${id}`)).headers.get('upload-offset')).toBe('0');
    expect((await tus('DELETE', `/${id}`)).status).toBe(204);
  });

  test('reports each mistake as a problem with a code', async () => {
    const id = getId(await begin(10));
    const refused = async (code: string, status: number, ...args: Parameters<typeof tus>) => {
      const answer = await tus(...args);
      const { 'content-type': type, 'tus-resumable': version } = Object.fromEntries(answer.headers);
      expect({ args, status: answer.status, code: answer.body?.code, type, version }).toMatchObject({
        status,
        code,
        version: '1.0.0',
        type: expect.stringContaining('application/problem+json'),
      });
    };
    const creation = (metadata: Record<string, string>, length = '10') =>
      ['POST', '', { 'Upload-Length': length, 'Upload-Metadata': meta(metadata) }] as const;
    await refused('validation_failed', 422, ...creation({ type: 'FONT' }));
    await refused('validation_failed', 422, ...creation({ name: 'x' }));
    await refused('validation_failed', 422, ...creation({ type: 'VIDEO' }, '0'));
    await refused('validation_failed', 422, ...creation({ type: 'VIDEO' }, 'many'));
    await refused('media_too_large', 413, ...creation({ type: 'VIDEO' }, String(2 ** 40)));
    await refused('validation_failed', 422, 'POST', '', { 'Upload-Length': '5', 'Upload-Metadata': 'type ***' });
    await refused('validation_failed', 422, 'POST', '', { 'Upload-Metadata': meta({ type: 'VIDEO' }) });
    await refused('tus_version_unsupported', 412, 'POST', '', { 'Tus-Resumable': '0.2.2', 'Upload-Length': '5' });
    await refused('upload_conflict', 409, 'PATCH', `/${id}`, { ...BYTES, 'Upload-Offset': '3' }, { body: 'x' });
    await refused(
      'media_too_large',
      413,
      'PATCH',
      `/${id}`,
      { ...BYTES, 'Upload-Offset': '0' },
      { body: 'x'.repeat(11) },
    );
    await refused('validation_failed', 422, 'PATCH', `/${id}`, BYTES, { body: 'x' });
    for (const type of ['text/plain', 'application/json', 'application/octet-stream']) {
      const headers = { 'Content-Type': type, 'Upload-Offset': '0' };
      await refused('unsupported_media_type', 415, 'PATCH', `/${id}`, headers, { body: 'x' });
      const { body, headers: told } = await tus('PATCH', `/${id}`, headers, { body: 'x' });
      expect([body.detail, told.get('accept-patch')]).toEqual([
        expect.stringContaining(BYTES['Content-Type']),
        BYTES['Content-Type'],
      ]);
    }
    await refused('upload_not_found', 404, 'PATCH', '/upl-none', { ...BYTES, 'Upload-Offset': '0' }, { body: 'x' });
    await tus('PATCH', `/${id}`, { ...BYTES, 'Upload-Offset': '0' }, { body: 'x'.repeat(10) });
    await refused('upload_conflict', 409, 'DELETE', `/${id}`);
    expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
  });
});

describe('an account may keep so much and no more', () => {
  const link = (as = ada) =>
    as.call('POST', '/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/a.mp4' });
  const REFUSED = { status: 403, body: { code: 'upload_quota_exceeded' } };

  test('uploads, also when many are asked for at once; another account has its own', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? link() : begin(1))));
    const byStatus = Map.groupBy(answers, ({ status }) => status);
    expect([...byStatus].map(([status, { length }]) => [status, length]).sort()).toEqual([
      [201, QUOTA.count],
      [403, 20 - QUOTA.count],
    ]);
    expect(await link()).toMatchObject(REFUSED);
    expect((await link()).body.detail).toContain(`may have ${QUOTA.count} uploads`);
    expect((await link(eve)).status).toBe(201);
    const { data } = (await ada.call<{ data: { objectID: string }[] }>('GET', '/v1/uploads')).body;
    for (const { objectID } of data) expect((await ada.call('DELETE', `/v1/uploads/${objectID}`)).status).toBe(204);
    expect((await link()).status).toBe(201);
  });

  test('bytes, those that are announced and those that have been imported', async () => {
    const [mega, zoe] = [2 ** 20, await api.client('zoe')];
    const build = async (size: number) => {
      const { status, body } = await begin(size * mega, zoe);
      return { status, body };
    };
    expect(await build(90)).toMatchObject({ status: 201 });
    const { body } = await link(zoe);
    // A link may bring no more than the remaining space.
    expect((await upload(String(body.objectID))).spec.maxSizeBytes).toBeUndefined();
    const media = { sha256: 'b'.repeat(64), sizeBytes: 60 * mega, durationSeconds: 1 };
    await api.observeUpload(String(body.objectID), { phase: 'ready', media });
    // A request before the API has seen these bytes would be accepted.
    const show = () => zoe.call<{ sizeBytes: number | null }>('GET', `/v1/uploads/${body.objectID}`);
    await expect.poll(async () => (await show()).body.sizeBytes).toBe(media.sizeBytes);
    expect(await build(51)).toMatchObject(REFUSED);
    expect((await build(51)).body.detail).toContain('has 150 MiB; this request needs 51 MiB');
    const next = await link(zoe);
    expect((await upload(String(next.body.objectID))).spec.maxSizeBytes).toBe(50 * mega);
    expect(await build(50)).toMatchObject({ status: 201 });
    expect(await link(zoe)).toMatchObject(REFUSED);
  });
});

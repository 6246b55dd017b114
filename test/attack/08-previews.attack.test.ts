/** Attacks previews: an account must not watch whole streams and uploads without end and without payment. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PODS } from '../../src/core/kube/core.ts';
import { encodeHeader, encodeTag, TAG_VIDEO } from '../../src/core/pods/rendition/flv.ts';
import { indexKey } from '../../src/core/pods/rendition/index.ts';
import { openStorage } from '../../src/core/pods/storage/open.ts';
import { STREAM_LABEL, STREAMER_PORT } from '../../src/core/resources/common/names.ts';
import { PREVIEW_PROFILE, renditionKey } from '../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { makeStreamHelpers, type StreamsApi, startStreamsApi } from '../kit/make/streams.ts';
import type { Client } from '../kit/system/api.ts';
import { startApiProcess } from '../kit/system/api-process.ts';
import { tempDir } from '../kit/temp-dir.ts';

const POD_IP = '127.0.78.1';
const AT_ONCE = 300;

const dir = tempDir();
let storageUrl: string;
let started: StreamsApi;
let pod: Server;
/** Connections that the pod serves now, and their maximum. */
let served = 0;
let most = 0;

beforeAll(async () => {
  storageUrl = pathToFileURL(join(dir, 'media')).href;
  started = await startStreamsApi({ config: { storageUrl } });
  const flv = Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 1, 0, 0, 0, 7, 7])),
  ]);
  pod = createServer((_request, response) => {
    most = Math.max(most, ++served);
    response.writeHead(200, { 'content-type': 'video/x-flv' }).write(flv);
    const timer = setInterval(() => response.write(flv.subarray(13)), 100);
    response.once('close', () => {
      clearInterval(timer);
      served--;
    });
  });
  await new Promise<void>((resolve) => pod.listen(STREAMER_PORT, POD_IP, resolve));
});
afterAll(async () => {
  pod?.closeAllConnections();
  pod?.close();
  await started?.api.stop();
});

async function goOnAir(id: string): Promise<void> {
  const object = {
    metadata: { name: `${id}-onair`, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id } },
    spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
  };
  await started.api.kube.create(PODS, NAMESPACE, object as never);
  const status = { phase: 'Running', podIP: POD_IP, podIPs: [{ ip: POD_IP }] };
  await started.api.kube.mergePatch(PODS, NAMESPACE, object.metadata.name, { status }, { subresource: 'status' });
}

/** Opens a preview and holds it until the end of the test. */
async function watch(id: string, as: Client, noun = 'streams', url = started.api.url): Promise<Response> {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  return fetch(`${url}/v1/${noun}/${id}/preview.flv`, {
    headers: { 'x-api-key': as.key },
    signal: gone.signal,
  });
}
const isOnAir = (id: string, as: Client) =>
  expect
    .poll(async () => {
      const { status, body } = await watch(id, as);
      await body?.cancel();
      return status;
    })
    .toBe(200);

const count = (answers: Response[], status: number) => answers.filter((answer) => answer.status === status).length;

describe(`${AT_ONCE} previews at once`, () => {
  test('of one stream: a few are shown over one connection to the pod, the others are refused for a while', async () => {
    const { id } = await started.create();
    await goOnAir(id);
    await isOnAir(id, started.ada);
    most = 0;
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => watch(id, started.ada)));
    expect([count(answers, 200), count(answers, 429)]).toEqual([4, AT_ONCE - 4]);
    expect(most).toBeLessThanOrEqual(2);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused?.json()).toMatchObject({ code: 'too_many_previews' });
  });

  test('of many streams of one account: another account sees its own all the same', async () => {
    const streams = await Promise.all(Array.from({ length: 4 }, () => started.create()));
    for (const { id } of streams) await goOnAir(id);
    for (const { id } of streams) await isOnAir(id, started.ada);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => watch(streams[n % streams.length]?.id ?? '', started.ada)),
    );
    expect(count(answers, 200)).toBe(8);
    const { create } = await makeStreamHelpers(started.api, started.eve);
    const { id } = await create({}, started.eve);
    await goOnAir(id);
    await isOnAir(id, started.eve);
  });
});

/** More than the sockets of a client that does not read take. */
const FILM_BYTES = 32 * 2 ** 20;
/** A server that shows as many previews as an account may have keeps some of this. */
const MAY_GROW_BYTES = 60 * 2 ** 20;

/** Makes an upload whose preview is ready, in the place of the operator and of the Job. */
async function makeSeen(as: Client): Promise<string> {
  const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
  const id = String((await as.call('POST', '/v1/uploads/from-link', link)).body.objectID);
  const media = { sha256: 'a'.repeat(64), sizeBytes: 1, durationSeconds: 1 };
  const key = renditionKey(media.sha256, 'video', PREVIEW_PROFILE);
  const storage = await openStorage(storageUrl);
  const index = { version: 1, profile: PREVIEW_PROFILE, sizeBytes: FILM_BYTES, sha256: media.sha256 };
  await storage.write(key, Buffer.alloc(FILM_BYTES, 7));
  await storage.write(indexKey(key), Buffer.from(JSON.stringify({ ...index, durationSeconds: 1, bitrateKbps: 1 })));
  const ready = { profile: PREVIEW_PROFILE, state: 'ready' as const, key };
  await started.api.observeUpload(id, { phase: 'ready', progress: 1, media, renditions: [ready] });
  await expect.poll(async () => (await as.call('GET', `/v1/uploads/${id}`)).body).toMatchObject({ preview: 'ready' });
  return id;
}

const readResidentBytes = async (pid: number): Promise<number> =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);

describe('previews of uploads', () => {
  test('take the same places as live ones', async () => {
    const mallory = await started.api.client('mallory');
    const ids = await Promise.all(Array.from({ length: 3 }, () => makeSeen(mallory)));
    const films = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => watch(ids[n % ids.length] ?? '', mallory, 'uploads')),
    );
    expect([count(films, 200), count(films, 429)]).toEqual([8, AT_ONCE - 8]);
    expect(await films.find(({ status }) => status === 429)?.json()).toMatchObject({ code: 'too_many_previews' });
    const { create } = await makeStreamHelpers(started.api, mallory);
    const { id } = await create({}, mallory);
    await goOnAir(id);
    await expect.poll(async () => (await watch(id, mallory)).status).toBe(429);
    const eve = await makeSeen(started.eve);
    expect((await watch(eve, started.eve, 'uploads')).status).toBe(200);
  });

  test('450 that nobody reads leave the server its memory', async () => {
    const server = await startApiProcess({ ...started.api.environment, LOOPSTREAM_STORAGE_URL: storageUrl });
    onTestFinished(async () => {
      server.signal('SIGKILL');
      await server.ended;
    });
    const mallory = await started.api.client('mallory-450');
    const id = await makeSeen(mallory);
    expect(await (await watch(id, mallory, 'uploads', server.url)).arrayBuffer()).toHaveProperty(
      'byteLength',
      FILM_BYTES,
    );
    const before = await readResidentBytes(server.pid);
    const answers = await Promise.all(Array.from({ length: 450 }, () => watch(id, mallory, 'uploads', server.url)));
    expect([count(answers, 200), count(answers, 429)]).toEqual([4, 446]);
    const after = await readResidentBytes(server.pid);
    expect(after - before).toBeLessThan(MAY_GROW_BYTES);
  });
});

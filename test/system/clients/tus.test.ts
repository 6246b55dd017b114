/// <reference lib="dom" />
/** Tests tus clients of others, with their defaults and all their features: old and new versions of each. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import type * as Tus from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { joinedPieces } from '../../../src/core/pods/storage/pieces.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { incomingKeys } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { launchBrowser } from '../../kit/real/page.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { installNpm, installPython, must } from './install.ts';

const MIB = 2 ** 20;
const SIZE = 5 * MIB + 123;
const DIRECTORY = join(import.meta.dirname, 'tus');
const VERSIONS = ['new', 'old'] as const;

const dir = tempDir();
let path: string;
let content: Buffer;
let storage: Storage;
let api: TestApi;
let server: ApiProcess;
let ada: Client;
let endpoint: string;
/** Serves a page of another origin, which the service allows. */
const site = createServer((request, response) => {
  const script = scripts.get(request.url?.slice(1) ?? '');
  response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
  response.end(script ?? '<!doctype html><title>another page</title>');
});
const scripts = new Map<string, string>();

beforeAll(async () => {
  path = join(dir, 'film.mp4');
  content = randomBytes(SIZE);
  await writeFile(path, content);
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  storage = await openStorage(storageUrl);
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  api = await startTestApi({ storageUrl });
  server = await startApiProcess({
    ...api.environment,
    LOOPSTREAM_STORAGE_URL: storageUrl,
    LOOPSTREAM_CORS_ORIGINS: origin(),
  });
  ada = await api.client('ada');
  endpoint = `${server.url}/v1/uploads/resumable`;
});
afterAll(async () => {
  site.close();
  server?.signal('SIGTERM');
  await server?.ended;
  await api?.stop();
});

const origin = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
const hashBytes = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Expects the whole file, as a film, from any sender. */
async function expectWhole(url: string | null | undefined): Promise<void> {
  const id = url?.split('/').at(-1) ?? '';
  const made = await api.kube.get(UPLOADS, NAMESPACE, id);
  expect(made.spec).toMatchObject({
    track: 'video',
    displayName: 'film.mp4',
    source: { sent: { sizeBytes: SIZE, receivedBytes: SIZE } },
  });
  const hash = createHash('sha256');
  for (const key of incomingKeys(made))
    for await (const chunk of joinedPieces(storage, key, new AbortController().signal)) hash.update(chunk);
  expect(hash.digest('hex')).toBe(hashBytes(content));
  expect((await ada.call('DELETE', `/v1/uploads/${id}`)).status).toBe(204);
}

describe.each(VERSIONS)('tus-js-client, %s', (version) => {
  let tus: typeof Tus & { FileUrlStorage: new (path: string) => Tus.UrlStorage };
  beforeAll(async () => {
    const installed = await installNpm(`tus-${version}`, join(DIRECTORY, version));
    tus = createRequire(join(installed, 'package.json'))('tus-js-client');
  });

  type Options = Partial<Tus.UploadOptions>;
  interface Way {
    options?: Options;
    /** The number of interruptions, each with a resumption. */
    pauses?: number;
  }

  async function send({ options = {}, pauses = 0 }: Way): Promise<Tus.Upload> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = pauses;
    // The client knows a file's length and would not defer it: a deferred length is for streams.
    const source = options.uploadLengthDeferred ? Readable.from(createReadStream(path)) : createReadStream(path);
    const upload: Tus.Upload = new tus.Upload(source as never, {
      endpoint,
      headers: { 'X-API-Key': ada.key },
      metadata: { filename: 'film.mp4', filetype: 'video/mp4' },
      onChunkComplete: () => {
        if (left-- <= 0) return;
        void upload.abort().then(() => upload.start());
      },
      onSuccess: () => resolve(),
      onError: reject,
      ...options,
    });
    upload.start();
    await promise;
    return upload;
  }

  const FILE = { metadata: { filename: 'film.mp4', filetype: 'video/mp4' } };
  test.each<[way: string, given: Way]>([
    ['as it is', {}],
    ['with a MIME type as `filetype`', { options: FILE }],
    ['with a MIME type as `type`', { options: { metadata: { filename: 'film.mp4', type: 'video/mp4' } } }],
    ['with our own word', { options: { metadata: { name: 'film.mp4', type: 'VIDEO' } } }],
    ['with a name alone', { options: { metadata: { filename: 'film.mp4' } } }],
    ['in chunks', { options: { chunkSize: MIB } }],
    ['with one pause', { options: { chunkSize: MIB }, pauses: 1 }],
    ['with two pauses', { options: { chunkSize: MIB }, pauses: 2 }],
    ['with bytes in the creation', { options: { uploadDataDuringCreation: true } }],
    ['with bytes in the creation, in chunks', { options: { uploadDataDuringCreation: true, chunkSize: MIB } }],
    ['with ids of requests', { options: { addRequestId: true } }],
    ['by POST alone', { options: { overridePatchMethod: true, chunkSize: MIB } }],
    ['with a length that is said late', { options: { uploadLengthDeferred: true, chunkSize: MIB } }],
    [
      'with a length that is said late, and bytes in the creation',
      { options: { uploadLengthDeferred: true, uploadDataDuringCreation: true, chunkSize: MIB } },
    ],
    ['in two parts', { options: { parallelUploads: 2 } }],
    ['in five parts, with chunks', { options: { parallelUploads: 5, chunkSize: MIB } }],
  ])('%s', async (_way, given) => {
    await expectWhole((await send(given)).url);
  });

  test('remembers an unfinished upload, and forgets it', async () => {
    const urlStorage = new tus.FileUrlStorage(join(dir, `memory-${version}`));
    const options = { urlStorage, fingerprint: async () => path, removeFingerprintOnSuccess: true };
    const upload = await send({ options });
    await expect.poll(() => upload.findPreviousUploads()).toEqual([]);
    await expectWhole(upload.url);
  });

  test('aborts an unfinished upload', async () => {
    const begun = Promise.withResolvers<void>();
    const upload = new tus.Upload(createReadStream(path), {
      endpoint,
      headers: { 'X-API-Key': ada.key },
      ...FILE,
      uploadSize: SIZE,
      chunkSize: MIB,
      onChunkComplete: () => begun.resolve(),
      onError: begun.reject,
    });
    upload.start();
    await begun.promise;
    // A request that is under way when the client aborts may make it begin another upload.
    const id = upload.url?.split('/').at(-1);
    await upload.abort(true);
    expect((await ada.call('GET', `/v1/uploads/${id}`)).status).toBe(404);
  });

  test.runIf(version === 'new')('gets a clear error for a draft of the IETF, which is another protocol', async () => {
    for (const protocol of ['ietf-draft-03', 'ietf-draft-05'] as const) {
      const failed = send({ options: { protocol, retryDelays: [] } as Options });
      await expect(failed).rejects.toThrow('tus_version_unsupported');
    }
  });
});

describe.each(VERSIONS)('Uppy in a browser, %s', (version) => {
  let browser: Browser;
  beforeAll(async () => {
    const installed = await installNpm(`tus-${version}`, join(DIRECTORY, version));
    const { outputFiles } = await build({
      stdin: {
        contents: `import Uppy from '@uppy/core'; import Tus from '@uppy/tus'; Object.assign(window, { Uppy, Tus });`,
        resolveDir: installed,
      },
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      logLevel: 'silent',
    });
    scripts.set(`${version}.js`, outputFiles[0]?.text ?? '');
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.each<[way: string, options: object]>([
    ['with its defaults', {}],
    ['in chunks, with bytes in the creation', { chunkSize: MIB, uploadDataDuringCreation: true }],
    ['in three parts', { parallelUploads: 3 }],
    ['by POST alone', { overridePatchMethod: true }],
  ])('%s', async (_way, options) => {
    const page = await browser.newPage();
    await page.goto(origin());
    await page.addScriptTag({ url: `/${version}.js` });
    const base64 = content.toString('base64');
    const outcome = await page.evaluate(
      async ({ given, file }) => {
        // biome-ignore lint/suspicious/noExplicitAny: the versions have types of their own.
        const { Uppy, Tus } = window as any;
        const uppy = new Uppy().use(Tus, { retryDelays: [], ...given });
        const bytes = await (await fetch(`data:video/mp4;base64,${file}`)).arrayBuffer();
        uppy.addFile({
          name: 'film.mp4',
          type: 'video/mp4',
          data: new File([bytes], 'film.mp4', { type: 'video/mp4' }),
        });
        const { successful, failed } = await uppy.upload();
        return { url: successful[0]?.uploadURL, errors: failed.map(({ error }: { error: unknown }) => String(error)) };
      },
      { given: { endpoint, headers: { 'X-API-Key': ada.key }, ...options }, file: base64 },
    );
    expect(outcome.errors).toEqual([]);
    await expectWhole(outcome.url);
    await page.close();
  });
});

describe.each(VERSIONS)('tuspy, %s', (version) => {
  let python: string;
  beforeAll(async () => {
    const name = `python-${version}`;
    python = join(await installPython(`tus-${name}`, join(DIRECTORY, name)), 'bin/python3');
  });

  test.each(['sync', 'sync with checksum', 'sync resume', 'async', 'async with checksum'])('%s', async (way) => {
    const url = await must(python, [join(DIRECTORY, 'send.py'), endpoint, ada.key, path, way]);
    await expectWhole(url.trim());
  });
});

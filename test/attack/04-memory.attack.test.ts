/** Attacks the memory of the API server: unfinished bytes of one account must not push out all others' requests. */
import { readFile, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as tus from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, call, startTestApi, type TestApi } from '../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../kit/system/api-process.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const MIB = 2 ** 20;
const PATH = '/v1/uploads/resumable';
const PROTOCOL = { 'tus-resumable': '1.0.0' };
/** One byte less than the server once kept together. */
const HELD_BYTES = 4 * MIB - 1024;
const HALF_SENT = 150;
/** The chart’s limit is 512 MiB, and a server that has taken one upload has about 230 MB. */
const MAY_GROW_BYTES = 150 * MIB;

const dir = tempDir();
let api: TestApi;
let mallory: Client;
let victim: Client;

const startServer = async (more: Record<string, string> = {}): Promise<ApiProcess> => {
  const server = await startApiProcess({
    ...api.environment,
    LOOPSTREAM_STORAGE_URL: pathToFileURL(join(dir, 'media')).href,
    ...more,
  });
  onTestFinished(async () => {
    server.signal('SIGKILL');
    await server.ended;
  });
  return server;
};

beforeAll(async () => {
  api = await startTestApi();
  mallory = await api.client('mallory');
  victim = await api.client('victim');
  await writeFile(join(dir, 'film'), Buffer.alloc(24 * MIB, 'f'));
});
afterAll(() => api?.stop());

async function begin({ url }: ApiProcess, as: Client, length: number): Promise<string> {
  const { status, headers } = await call(`${url}${PATH}`, 'POST', undefined, {
    ...PROTOCOL,
    'x-api-key': as.key,
    'upload-length': String(length),
    'upload-metadata': `type ${btoa('VIDEO')}`,
  });
  expect(status).toBe(201);
  return headers.get('location')?.split('/').at(-1) ?? '';
}

interface Held {
  sending: ClientRequest;
  /** 0 before the answer, and after a broken connection. */
  status: number;
}

/** Announces `length` bytes, sends a part of them and holds the connection. */
function hold({ url }: ApiProcess, as: Client, id: string, length: number, bytes: Buffer): Held {
  const headers = {
    ...PROTOCOL,
    'x-api-key': as.key,
    'upload-offset': 0,
    'content-length': length,
    'content-type': 'application/offset+octet-stream',
  };
  const held: Held = { status: 0, sending: request(`${url}${PATH}/${id}`, { method: 'PATCH', headers, agent: false }) };
  held.sending.on('response', (response) => {
    held.status = response.statusCode ?? 0;
    response.resume();
  });
  held.sending.on('error', () => undefined);
  held.sending.write(bytes);
  return held;
}

/** Returns the resident memory in bytes. */
const residentBytes = async ({ pid }: ApiProcess): Promise<number> =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Sends the film with a stock client and its default retries. Resolves to the number of its requests. */
async function sendByStockClient({ url }: ApiProcess, as: Client, bytes = 24 * MIB): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let requests = 0;
  const upload = new tus.Upload((await readFile(join(dir, 'film'))).subarray(0, bytes), {
    endpoint: `${url}${PATH}`,
    headers: { 'X-API-Key': as.key },
    metadata: { type: 'VIDEO', filename: 'film.mp4' },
    onBeforeRequest: () => void requests++,
    onSuccess: () => resolve(),
    onError: reject,
  });
  upload.start();
  await promise;
  return requests;
}

describe('uploads that are sent in part and held', () => {
  test('leave the server’s memory as it was, and other accounts’ uploads go through meanwhile', async () => {
    const server = await startServer();
    // The first upload loads code and buffers that stay: they do not count.
    await sendByStockClient(server, victim);
    const ids: string[] = [];
    for (let i = 0; i < HALF_SENT; i++) ids.push(await begin(server, mallory, 64 * MIB));
    const before = await residentBytes(server);
    const bytes = Buffer.alloc(HELD_BYTES, 'x');
    const held = ids.map((id) => hold(server, mallory, id, 64 * MIB, bytes));
    let most = 0;
    const look = async () => {
      most = Math.max(most, await residentBytes(server));
    };
    const watching = setInterval(() => void look(), 100);
    onTestFinished(() => {
      clearInterval(watching);
      for (const { sending } of held) sending.destroy();
    });
    await until('most are refused', () => held.filter(({ status }) => status === 429).length > 50);
    await sendByStockClient(server, victim);
    await sendByStockClient(server, victim);
    await look();
    expect(most - before).toBeLessThan(MAY_GROW_BYTES);
  });

  test('at a trickle do not keep the places from an account that has none', async () => {
    const server = await startServer({ LOOPSTREAM_UPLOADS_AT_ONCE: '8' });
    const held: Held[] = [];
    onTestFinished(() => {
      for (const { sending } of held) sending.destroy();
    });
    for (let i = 0; i < 16; i++)
      held.push(hold(server, mallory, await begin(server, mallory, 64 * MIB), 64 * MIB, Buffer.alloc(20_000)));
    const trickle = setInterval(() => {
      for (const { sending } of held) if (sending.writable) sending.write(Buffer.alloc(10_000));
    }, 1000);
    onTestFinished(() => clearInterval(trickle));
    await sendByStockClient(server, victim);
  });

  test('are ended when they are too slow, and go on from where they were', async () => {
    const server = await startServer();
    const id = await begin(server, mallory, 1000);
    const held = hold(server, mallory, id, 1000, Buffer.alloc(400));
    await until('it is ended', () => held.status !== 0);
    expect(held.status).toBe(204);
    const { headers } = await call(`${server.url}${PATH}/${id}`, 'HEAD', undefined, {
      ...PROTOCOL,
      'x-api-key': mallory.key,
    });
    expect(headers.get('upload-offset')).toBe('400');
  });
});

test('a person’s thirty files, dropped into a stock client at once, are all sent', async () => {
  const server = await startServer();
  await Promise.all(Array.from({ length: 30 }, () => sendByStockClient(server, victim, 3 * MIB)));
});

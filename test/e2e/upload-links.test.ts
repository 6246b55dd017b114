/** Tests failing links on real parts: they wait without a Job while their server is away, and every API can retry them. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectl } from '../kit/kubectl.ts';
import { makeClip } from '../kit/make/media.ts';
import { sendFile, serve, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const dir = tempDir();
let system: SharedSystem;
let files: WebServer;
let base: string;
/** The server's answers in place of the file, by path. */
const faults = new Map<string, [status: number, headers?: Record<string, string>]>();

beforeAll(async () => {
  await makeClip(join(dir, 'show.mp4'), { seconds: 1 });
  files = await serve((request, response) => {
    const [status, headers] = faults.get(request.url ?? '') ?? [];
    if (status !== undefined) response.writeHead(status, headers).end();
    else sendFile(join(dir, 'show.mp4'), response);
  });
  base = files.url;
  system = await shareSystem();
});
afterAll(async () => {
  await files?.close();
});

const importFrom = async (path: string) =>
  (await system.client.uploads.fromLink({ type: 'VIDEO', url: base + path })).objectID;
const expectState = (id: string, state: 'ready' | 'failed') =>
  until(`${id} is ${state}`, async () => (await system.client.uploads.get(id)).state === state, 120_000);

test('a server that is away is waited for without a Job, which the Upload says, and then the link is imported', async () => {
  faults.set('/away.mp4', [503, { 'retry-after': '1' }]);
  const id = await importFrom('/away.mp4');
  const waiting = await until('it waits', async () => (await system.client.uploads.get(id)).waiting ?? false, 60_000);
  expect(waiting).toMatchObject({ message: 'The server returned status 503.', tries: 1 });
  expect(Date.parse(waiting.until) - Date.parse(waiting.since)).toBe(30 * 60_000);
  expect(Date.parse(waiting.nextTryAt)).toBeGreaterThan(Date.parse(waiting.since));
  await until('it has no Job', async () => !(await kubectl(system, 'get', 'jobs', '-o', 'name')).includes(id));
  const table = await kubectl(system, 'get', 'upload', id, '-o', 'wide');
  expect(table).toMatch(/STATE .* NEXT TRY .* IMPORT/);
  expect(table).toContain(waiting.nextTryAt);
  expect(table).toContain('The server returned status 503. The import retries the link at');
  faults.delete('/away.mp4');
  await expectState(id, 'ready');
  expect(await system.client.uploads.get(id)).toMatchObject({ objectID: id, waiting: null, error: null });
});

/** Ways to retry a failed link; those with an answer return the objectID. */
const RETRIES: Record<string, (id: string) => Promise<unknown>> = {
  REST: async (id) => {
    const headers = { 'x-api-key': system.facts.apiKey };
    return await (await fetch(`${system.facts.apiUrl}/uploads/${id}/retry`, { method: 'POST', headers })).json();
  },
  GraphQL: async (id) => {
    const query = 'mutation ($id: ID!) { retryUpload(id: $id) { upload { objectID } } }';
    const answer = await fetch(new URL('/graphql', system.facts.apiUrl), {
      method: 'POST',
      headers: { 'x-api-key': system.facts.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { id } }),
    });
    const { data } = (await answer.json()) as { data?: { retryUpload?: { upload?: unknown } } };
    return data?.retryUpload?.upload;
  },
  'the client': (id) => system.client.uploads.retry(id),
  kubectl: async (id) => {
    const now = new Date().toISOString();
    await kubectl(system, 'annotate', 'upload', id, '--overwrite', `loopstream.dev/retry=${now}`);
    return await system.client.uploads.get(id);
  },
};

test('a failed link is retried by each API, and becomes ready under its objectID', async () => {
  const uploads = await Promise.all(
    Object.keys(RETRIES).map(async (way, index) => {
      const path = `/gone-${index}.mp4`;
      faults.set(path, [404]);
      return { way, path, id: await importFrom(path) };
    }),
  );
  for (const { id } of uploads) await expectState(id, 'failed');
  for (const { way, path, id } of uploads) {
    faults.delete(path);
    expect(await RETRIES[way]?.(id), way).toMatchObject({ objectID: id });
  }
  for (const { id } of uploads) await expectState(id, 'ready');
});

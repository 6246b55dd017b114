/**
 * Tests valid and invalid requests of the description. Invalid ones: each kind of wrong value for each parameter and field
 * (test/kit/make/bad-input.ts). An independent program sends both kinds (schemathesis, all its checks). It tries every operation with its
 * examples, each bound and just beyond, generated values, and sequences that begin with a creation.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONTROLLER_REVISIONS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { SCENES } from '../../../src/core/resources/scene/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { money } from '../../../src/service/billing/setup/settings.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import type { Problem } from '../../../src/service/domain/problem/record.ts';
import type { OpenApi } from '../../../src/service/server/openapi/document.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { passTests } from '../../kit/fake/destination-tests.ts';
import { standIn } from '../../kit/fake/standin.ts';
import { type StripeStub, startStripeStub, stripeSettings } from '../../kit/fake/stripe.ts';
import { type BadRequest, listBadRequests } from '../../kit/make/bad-input.ts';
import { beginScanning, CRYPTO_SETTINGS } from '../../kit/make/crypto-settings.ts';
import { makeEndpoint } from '../../kit/make/endpoints.ts';
import { giveCredit } from '../../kit/make/ledger.ts';
import { makeSessionHeaders } from '../../kit/make/oauth.ts';
import { type List, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { ensureSchemathesis } from '../../kit/real/schemathesis/program.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { type BadOperation, badLists, badMutations } from './bad-graphql.ts';

const FILES = join(import.meta.dirname, '../../kit/real/schemathesis');
/** Generation and sequences have no end of their own. Each part has a time, so that none is left out. */
const SECONDS = 25;

/** A problem document, or GraphQL's answer. */
interface Refusal {
  code?: string;
  data?: Record<string, unknown> | null;
  errors?: { path?: unknown; extensions?: { code?: string; errors?: { path: string }[] } }[];
}

let started: StreamsApi;
let program: string;
let stripe: StripeStub;
const dir = tempDir();
const over = new AbortController();

beforeAll(async () => {
  program = await ensureSchemathesis();
  stripe = await startStripeStub();
  const storageUrl = pathToFileURL(join(dir, 'media')).href;
  // All kinds of payment are set up, so that every operation is available.
  const settings = money({ ...stripeSettings(stripe), ...CRYPTO_SETTINGS });
  started = await startStreamsApi({ config: { storageUrl, billing: true, ...settings } });
  const { databaseUrl } = started.api;
  await Promise.all([beginScanning(databaseUrl), giveCredit(databaseUrl, started.ada.accountId)]);
  await Promise.all([standIn(started.api, over.signal), passTests(started.api, over.signal)]);
}, 300_000);

afterAll(async () => {
  over.abort();
  await started?.api.stop();
  await stripe?.stop();
});

/**
 * Returns all objects of the account and the system with their state, except leftovers of deleted ones, which Kubernetes removes in its own
 * time.
 */
async function everything(): Promise<string[]> {
  const { kube } = started.api;
  const kinds: Resource[] = [LOOPSTREAMS, DESTINATIONS, UPLOADS, PLAYLISTS, SCENES, SECRETS, CONTROLLER_REVISIONS];
  const lists = await Promise.all(kinds.map((kind) => kube.list(kind, { namespace: NAMESPACE })));
  const all = lists.flat();
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const kept = all.filter(({ metadata }) => (metadata.ownerReferences ?? []).every(({ uid }) => uids.has(uid)));
  return kept.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
}

describe('requests that the description forbids', () => {
  let person: Record<string, string>;
  beforeAll(async () => {
    person = await makeSessionHeaders(started.api, 'ada');
  });

  const send = async ({ method, path, headers, body, byPerson }: BadRequest) => {
    const who = byPerson ? person : { 'x-api-key': started.ada.key };
    const init = { method, headers: { ...who, ...headers }, ...(body !== undefined && { body }) };
    const answer = await fetch(`${started.api.url}${path}`, init as RequestInit);
    const text = await answer.text();
    const isProblem = text !== '' && /^application\/problem\+json/.test(answer.headers.get('content-type') ?? '');
    return { status: answer.status, problem: isProblem ? (JSON.parse(text) as Problem) : undefined };
  };

  /** The description, one existing id of each noun, and a function that makes a valid body of an example. */
  const prepareInput = async () => {
    const { ada, create, destinationID, videoUploadObjectID, videoList } = started;
    const { id } = await create();
    await expect.poll(async () => (await ada.call('GET', `/v1/streams/${id}/readiness`)).body.ready).toBe(true);
    const doc = (await ada.call<OpenApi>('GET', '/v1/openapi.json')).body;
    const db = createDb(createPool(started.api.databaseUrl, { searchPath: 'loopstream' }));
    const endpoints = await makeEndpoint(db, ada.accountId, `of-${id}`).finally(() => db.destroy());
    const objects = { streams: id, destinations: destinationID, uploads: videoUploadObjectID, playlists: videoList };
    const scene = await ada.call('POST', '/v1/scenes', { name: 'Evening', layers: [{ text: 'On air' }] });
    const scenes = String(scene.body.id);
    const ids = { ...objects, endpoints, scenes };
    const media = { upl: videoUploadObjectID, pls: videoList, scn: scenes };
    const nouns: Record<string, string> = { str: id, dst: destinationID, ...media };
    const good = (example: unknown) =>
      JSON.parse(JSON.stringify(example), (name, value) => {
        if (name === 'version') return 1;
        return typeof value === 'string' ? (nouns[/^(str|dst|upl|pls|scn)-/.exec(value)?.[1] ?? ''] ?? value) : value;
      });
    return { doc, ids, good };
  };

  test('each wrong value of each parameter and field is 4xx with its code and its place, and changes nothing', async () => {
    const { doc, ids, good } = await prepareInput();
    const requests = listBadRequests(doc, ids, good);
    expect(requests.length).toBeGreaterThan(1_000);
    const before = await everything();
    const wrong: unknown[] = [];
    for (const request of requests) {
      const { status, problem } = await send(request);
      const at = problem?.errors?.map(({ path }) => path) ?? [];
      const { field = '' } = request;
      const isRight =
        status >= 400 &&
        status < 500 &&
        (problem !== undefined || request.method === 'HEAD') &&
        (request.status === undefined || request.status === status) &&
        // An answer to HEAD has no body.
        (request.code === undefined || request.code === problem?.code || request.method === 'HEAD') &&
        (status !== 422 ||
          request.method === 'HEAD' ||
          at.some((path) => path.startsWith(field) || field.startsWith(path)));
      if (!isRight)
        wrong.push({ what: request.what, expected: request.status, field, status, code: problem?.code, at });
    }
    expect(wrong).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  test('each wrong value of each argument and input of GraphQL is refused with its code and its place, and changes nothing', async () => {
    const { ada } = started;
    const { doc, ids, good } = await prepareInput();
    const { body } = await ada.call<{ data: IntrospectionQuery }>('POST', '/graphql', {
      query: getIntrospectionQuery(),
    });
    const schema = buildClientSchema(body.data);
    const operations = [...badMutations(schema, doc, ids, good), ...badLists(schema, ids)];
    expect(operations.length).toBeGreaterThan(1_000);
    const before = await everything();
    const wrong: unknown[] = [];
    for (const operation of operations) {
      const told = await readRefusal(operation);
      if (!told.isRight) wrong.push({ what: operation.what, ...told });
    }
    expect(wrong).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  /** Returns the error about a wrong operation, and whether it is the expected one. */
  async function readRefusal({ body, field }: BadOperation) {
    const { ada } = started;
    const answer = await ada.call<Refusal>('POST', '/graphql', body, { 'content-type': 'application/json' });
    const { errors = [], data, code } = answer.body;
    // Invalid JSON is refused before the server knows that it is GraphQL.
    const isProblem = code !== undefined;
    const codes = isProblem ? [code] : errors.map(({ extensions }) => extensions?.code);
    const at = (isProblem ? errors : errors.flatMap(({ extensions }) => extensions?.errors ?? [])).map(
      ({ path }) => path,
    );
    const done = Object.values(data ?? {}).some((value) => value !== null);
    const isRight =
      answer.status < 500 &&
      !done &&
      codes.length > 0 &&
      codes.every((one) => one === 'validation_failed') &&
      at.length > 0 &&
      at.some((path) => typeof path === 'string' && path.includes(field));
    return { status: answer.status, codes, at, isRight };
  }

  test('a cursor is of one list: of another one, or with a letter changed, it is refused', async () => {
    const { ada, create, videoList, audioList, destinationID } = started;
    await Promise.all([create(), create()]);
    const rename = (list: string, version: number) =>
      ada.call('PATCH', `/v1/playlists/${list}`, { version, name: `Version ${version + 1}` });
    await Promise.all([rename(videoList, 1), rename(audioList, 1)]);
    const { body } = await ada.call('GET', `/v1/destinations/${destinationID}`);
    await ada.call('POST', '/v1/destinations', { name: body.name, rtmpUrl: body.rtmpUrl, rtmpKey: 'k-123456' });
    const lists = ['streams', 'uploads', 'playlists', 'destinations'].concat(
      [videoList, audioList].map((list) => `playlists/${list}/versions`),
    );
    const cursors = await Promise.all(
      lists.map(async (list) => {
        const { page } = (await ada.call<List>('GET', `/v1/${list}?limit=1`)).body;
        expect(page.nextCursor, list).toEqual(expect.any(String));
        return String(page.nextCursor);
      }),
    );
    for (const [i, list] of lists.entries()) {
      const own = cursors[i] ?? '';
      expect((await ada.call('GET', `/v1/${list}?cursor=${own}`)).status, list).toBe(200);
      const others = cursors.filter((cursor) => cursor !== own);
      const changed = [`A${own.slice(1)}`, `${own}A`, own.toLowerCase(), `${own}=`, own.split('').reverse().join('')];
      for (const cursor of [...others, ...changed])
        expect((await ada.call('GET', `/v1/${list}?cursor=${cursor}`)).body, `${list} ${cursor}`).toMatchObject({
          code: 'validation_failed',
          errors: [{ path: '/cursor' }],
        });
    }
  });
});

test('names of any script come back as they were given, and are found in either normal form', async () => {
  const { ada, create } = started;
  const names = [
    'Caf\u00e9',
    'Cafe\u0301',
    '\u{1f600}'.repeat(200),
    '\u202e\u05e9\u05dc\u05d5\u05dd',
    '\u1e9b\u0323',
    '\ufb01',
  ];
  for (const name of names) expect((await create({ name })).name).toBe(name);
  for (const q of ['caf\u00e9', 'CAFE\u0301'])
    expect((await ada.call<List>('GET', `/v1/streams?q=${encodeURIComponent(q)}`)).body.data).toHaveLength(2);
});

/** Bytecode stands in the cache (scripts/test-lane), and never beside the hooks. */
const { PYTHONPYCACHEPREFIX } = process.env;
const BYTECODE = PYTHONPYCACHEPREFIX ? { PYTHONPYCACHEPREFIX } : { PYTHONDONTWRITEBYTECODE: '1' };

/** Runs it in an environment without our secrets; returns its exit status and its output. */
async function schemathesis(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, ['--config-file', join(FILES, 'schemathesis.toml'), 'run', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...BYTECODE, ...env },
    // The program leaves files in its working directory.
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Runs some of its phases; fails with the whole output when it found something. */
async function findsNothing(phases: string, more: string[], seenFile: string): Promise<string> {
  const { api, ada, destinationID, videoUploadObjectID, audioUpload, videoList, audioList } = started;
  const ids = { destinationID, videoUploadObjectID, audioUploadObjectID: audioUpload, videoList, audioList };
  const { code, output } = await schemathesis(
    [
      `${api.url}/v1/openapi.json`,
      ...['--url', api.url],
      ...['--exclude-path-regex', APART.source],
      ...['--phases', phases, '--mode', 'all', '--checks', 'all', '--max-examples', '5', '--seed', '6', '--no-color'],
      ...more,
    ],
    {
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: FILES,
      SCHEMATHESIS_IDS: JSON.stringify(ids),
      SCHEMATHESIS_API_KEY: ada.key,
      SCHEMATHESIS_SEEN: seenFile,
    },
  );
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  return output;
}

/**
 * Resumable uploads are a protocol: their valid headers depend on earlier requests, which no schema expresses. No schema expresses the
 * signature of a webhook's events either.
 */
const APART = /^\/v1\/(uploads\/resumable|webhooks)/;

/** Untested operations, with the reason. */
const UNTESTED: Record<string, string> = { getOpenApi: 'it is read to know the others, and left out then' };
const CREATING = ['createDestination', 'createUploadFromLink', 'createPlaylist', 'createStream'];

/** Phases, and their time limits. */
const PARTS: [phases: string, ...more: string[]][] = [
  ['examples,coverage'],
  ['fuzzing', '--max-time', String(SECONDS)],
  ['stateful', '--max-time', String(SECONDS)],
];

interface Seen {
  operation: string;
  mode: 'right' | 'wrong';
  phase: string;
  status: number;
}

test('schemathesis finds nothing: all checks, both kinds of data, authenticated, stateful, every operation', async () => {
  const { ada } = started;
  const seenFile = join(dir, 'seen');
  const told: string[] = [];
  for (const [phases, ...more] of PARTS) told.push(await findsNothing(phases, more, seenFile));
  const lines = (await readFile(seenFile, 'utf8')).trim().split('\n');
  const seen = lines.map((line) => JSON.parse(line) as Seen);
  const doc = (await ada.call<OpenApi>('GET', '/v1/openapi.json')).body;
  const operations = Object.entries(doc.paths)
    .filter(([path]) => !APART.test(path))
    .flatMap(([, item]) => Object.values(item));
  const asked = new Set(seen.map(({ operation }) => operation));
  const untested = operations.map(({ operationId }) => operationId).filter((id) => !asked.has(id));
  expect(untested).toEqual(Object.keys(UNTESTED));
  // Both kinds of data occurred: valid requests were accepted, invalid ones were not. Their number depends on the time.
  const accepted = seen.filter(({ mode, status }) => mode === 'right' && status === 201);
  expect(accepted.map(({ operation }) => operation)).toEqual(expect.arrayContaining(CREATING));
  const refused = seen.filter(({ mode, status }) => mode === 'wrong' && status >= 400 && status < 500);
  expect(refused.length).toBeGreaterThan(0);
  // Sequences: a creation, then the operations on its result.
  expect(Number(/API Links:\s+(\d+) covered/.exec(told.at(-1) ?? '')?.[1])).toBeGreaterThan(0);
  expect(seen.filter(({ phase, status }) => phase === 'stateful' && status < 300).length).toBeGreaterThan(0);
}, 900_000);

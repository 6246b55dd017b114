/**
 * Tests every read of the description while the API server of Kubernetes is down: the answers match the description, and all recovers
 * afterwards.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { ERRORS, type ErrorCode } from '../../../src/service/lib/errors.ts';
import type { OpenApi } from '../../../src/service/server/openapi/document.ts';
import { resolveResponse } from '../../../src/service/server/openapi/openapi.ts';
import type { Operation } from '../../../src/service/server/operations/list.ts';
import { isForPerson, OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { makeEndpoint } from '../../kit/make/endpoints.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { createRestarts } from '../../kit/real/restarts.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();
let started: StreamsApi;
let restarts: ReturnType<typeof createRestarts>;
beforeAll(async () => {
  const config = { storageUrl: pathToFileURL(join(dir, 'media')).href };
  started = await startStreamsApi({ config });
  restarts = createRestarts(started.api.kubernetes);
});
afterAll(async () => {
  await restarts?.end();
  await started?.api.stop();
});

/** These operations ask Kubernetes itself: no cache has their data. */
const DIRECT = ['listStreamEvents', 'listPlaylistVersions', 'getPlaylistVersion', 'diffPlaylistVersion'];
/** These operations need no Kubernetes. */
const APART = [
  ...['getStatus', 'getOpenApi', 'getMe', 'getSignInOptions', 'watchEvents'],
  ...['listEndpoints', 'getEndpoint', 'getEndpointSecret', 'listEndpointDeliveries'],
];
/** The feed never ends, and badges and public addresses cannot be guessed: these have tests of their own. */
const ELSEWHERE = ['watchChanges', 'getUptimeBadge', 'getPublicNow'];
/** No pod has media to show, and no media was prepared. */
const NOTHING = new Map([
  ['getStreamPreview', 'stream_not_live'],
  ['getUploadPreview', 'upload_not_prepared'],
  ['getUploadPoster', 'upload_has_no_poster'],
] satisfies [string, ErrorCode][]);
const OFF_AIR = [...NOTHING.keys()];
const nothing = (id: string) => {
  const code = NOTHING.get(id) as ErrorCode;
  return { status: ERRORS[code].status, code };
};

const description = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'),
) as OpenApi;
const reads = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, operation]) => {
    if (method !== 'get' && method !== 'head') return [];
    // A key cannot read a person's own data; that needs no Kubernetes either.
    if (ELSEWHERE.includes(operation.operationId) || isForPerson(operation.operationId)) return [];
    // Money is in the database alone.
    if (OPERATION_SCOPES[operation.operationId as Operation] === 'billing' || operation.operationId === 'getPrices')
      return [];
    const ok = resolveResponse(description, operation.responses['200'] ?? {});
    const away = resolveResponse(description, operation.responses['502'] ?? {});
    return [{ id: operation.operationId, method: method.toUpperCase(), path, ok, away }];
  }),
);

test('the description promises Age of exactly those reads that go on from the caches, and 502 of the others', () => {
  const aged = reads.filter(({ ok }) => ok.headers?.Age !== undefined).map(({ id }) => id);
  const ids = reads.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([...DIRECT, ...APART, ...OFF_AIR]));
  expect(aged).toEqual(ids.filter((id) => ![...DIRECT, ...APART, ...OFF_AIR].includes(id)));
  const refused = reads.filter(({ away }) => JSON.stringify(away).includes('"upstream_unavailable"'));
  expect(refused.map(({ id }) => id)).toEqual(expect.arrayContaining(DIRECT));
});

test('with kube-apiserver killed each read returns its documented answer, status says degraded, and all of it recovers', async () => {
  const { api, ada, create, destinationID, videoUploadObjectID, videoList } = started;
  const { id: stream } = await create();
  await api.observe(stream, { phase: 'idle' });
  const tus = { 'tus-resumable': '1.0.0' };
  const sent = { ...tus, 'upload-length': '10', 'upload-metadata': `type ${btoa('VIDEO')}` };
  const db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  onTestFinished(() => db.destroy());
  const { headers } = await ada.call('POST', '/v1/uploads/resumable', undefined, sent);
  const resumable = headers.get('location') ?? '';
  const ids: Record<string, string> = {
    streams: stream,
    destinations: destinationID,
    uploads: videoUploadObjectID,
    playlists: videoList,
    scenes: String((await ada.call('POST', '/v1/scenes', { name: 'Evening', layers: [{ text: 'On air' }] })).body.id),
    endpoints: await makeEndpoint(db, ada.accountId, 'hers'),
  };
  const read = async ({ method, path }: (typeof reads)[number]) => {
    const query = path.endsWith('/explain') ? `?uploadObjectID=${videoUploadObjectID}` : '';
    const own = path.replace('{id}', ids[path.split('/')[2] ?? ''] ?? '') + query;
    const name = path.includes('resumable/') ? resumable : own;
    const { status, headers, body } = await ada.call(
      method,
      name.replace('{version}', '1').replace('{format}', 'csv'),
      undefined,
      tus,
    );
    const age = headers.get('age');
    return {
      status,
      code: body.code,
      age: age === null ? null : Number(age),
      body,
      retryAfter: headers.get('retry-after'),
    };
  };
  const withAge = expect.toSatisfy((age) => typeof age === 'number' && age > 0, 'an age');
  const readStatus = async () => (await ada.call('GET', '/v1/status')).body;
  const well = (one: (typeof reads)[number]) =>
    OFF_AIR.includes(one.id) ? { ...nothing(one.id), age: null } : { status: 200, age: null };

  await expect.poll(async () => (await ada.call('GET', `/v1/streams/${stream}`)).body.ready).toBe(true);
  // On a busy machine, an answer of kube-apiserver may take a moment.
  for (const one of reads)
    await expect.poll(() => read(one), { message: one.id, timeout: 30_000 }).toMatchObject(well(one));
  await restarts.kill('kube-apiserver');
  try {
    const list = reads.find(({ id }) => id === 'listStreams') as (typeof reads)[number];
    await expect.poll(async () => (await read(list)).age).toEqual(withAge);
    for (const one of reads) {
      const answer = await read(one);
      if (DIRECT.includes(one.id)) {
        expect(answer, one.id).toMatchObject({ status: 502, code: 'upstream_unavailable', age: null });
        expect(Number(answer.retryAfter), one.id).toBeGreaterThan(0);
      } else if (APART.includes(one.id) || OFF_AIR.includes(one.id)) {
        expect(answer, one.id).toMatchObject(well(one));
      } else expect(answer, one.id).toMatchObject({ status: 200, age: withAge });
    }
    const degraded = { status: 'degraded', components: { kubernetes: 'unavailable', database: 'ok' } };
    await expect.poll(readStatus).toMatchObject(degraded);
    const known = await createQuery(ada)(`{ stream(id: "${stream}") { readiness { ready } } }`);
    expect(known).toEqual({ data: { stream: { readiness: { ready: true } } } });
    const { errors } = await createQuery(ada)(`{ streamEvents(id: "${stream}") { totalCount } }`);
    expect(errors).toMatchObject([{ path: ['streamEvents'], extensions: { code: 'upstream_unavailable' } }]);
  } finally {
    await restarts.start('kube-apiserver');
  }
  for (const one of reads)
    await expect.poll(() => read(one), { timeout: 60_000, interval: 200 }).toMatchObject(well(one));
  await expect.poll(readStatus).toMatchObject({ status: 'ok' });
}, 180_000);

/** Tests the test of a destination from the client's side; the test writes the operator's status. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_ANNOTATION } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import type { TestStatus } from '../../../src/core/resources/destination/spec.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { call } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const PASSED = { ok: true, stage: 'publish' as const, message: 'The destination accepts media.', tookMs: 2600 };
const REFUSED = { ok: false, stage: 'connect' as const, code: 'connection_refused', message: 'No.', tookMs: 3 };

async function make(): Promise<string> {
  const body = { name: 'T', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
  return (await started.ada.call<{ id: string }>('POST', '/v1/destinations', body)).body.id;
}
const ask = (id: string, headers?: Record<string, string>, client = started.ada) =>
  client.call('POST', `/v1/destinations/${id}/test`, undefined, headers);
const get = (id: string) => started.api.kube.get(DESTINATIONS, NAMESPACE, id);
/** Returns the pending request, other than `before`. */
const waitForRequest = (id: string, before?: string): Promise<string> =>
  until('it is asked for', async () => {
    const { metadata, status } = await get(id);
    const wish = metadata.annotations?.[TEST_ANNOTATION];
    return wish !== status?.test?.id && wish !== before && wish;
  });
const answer = (id: string, test: string, told: Omit<TestStatus, 'id' | 'finishedAt'>) => {
  // The status replaces the earlier code, as the operator's does.
  const status = { test: { code: null, ...told, id: test, finishedAt: '2026-01-01T00:00:00Z' } };
  return started.api.kube.mergePatch(DESTINATIONS, NAMESPACE, id, { status }, { subresource: 'status' });
};

describe('the answer', () => {
  test('is the result of the test, passed or not', async () => {
    const id = await make();
    const passing = ask(id);
    await answer(id, await waitForRequest(id), PASSED);
    expect(await passing).toMatchObject({ status: 200, body: { ...PASSED, code: null } });
    const failing = ask(id);
    await answer(id, await waitForRequest(id), REFUSED);
    expect((await failing).body).toEqual(REFUSED);
  });

  test('is the same in GraphQL', async () => {
    const id = await make();
    const query = `mutation { testDestination(id: "${id}") { test { ok stage code message tookMs } } }`;
    const asking = started.ada.call('POST', '/graphql', { query });
    await answer(id, await waitForRequest(id), REFUSED);
    expect((await asking).body).toEqual({ data: { testDestination: { test: REFUSED } } });
  });

  test('is an error with the reason when the test could not run, and the same key asks for another', async () => {
    const id = await make();
    const key = { 'idempotency-key': randomUUID() };
    const first = ask(id, key);
    const wish = await waitForRequest(id);
    const told = { ok: false, stage: 'resolve' as const, code: 'not_run', message: 'No node takes it.', tookMs: 0 };
    await answer(id, wish, told);
    const { status, body } = await first;
    expect({ status, body }).toMatchObject({
      status: 502,
      body: { code: 'upstream_unavailable', detail: 'The test did not run. No node takes it.' },
    });
    const second = ask(id, key);
    await answer(id, await waitForRequest(id, wish), PASSED);
    expect(await second).toMatchObject({ status: 200, body: { ok: true } });
  });

  test('is not found for another account, nor after the destination was deleted', async () => {
    const id = await make();
    expect(await ask(id, {}, started.eve)).toMatchObject({ status: 404, body: { code: 'destination_not_found' } });
    expect((await get(id)).metadata.annotations?.[TEST_ANNOTATION]).toBeUndefined();
    const asking = ask(id);
    await waitForRequest(id);
    await started.ada.call('DELETE', `/v1/destinations/${id}`);
    expect(await asking).toMatchObject({ status: 404, body: { code: 'destination_not_found' } });
  });
});

describe('many at once', () => {
  test('with one Idempotency-Key ask once and have one answer', async () => {
    const id = await make();
    const key = { 'idempotency-key': randomUUID() };
    const all = Promise.all(Array.from({ length: 20 }, () => ask(id, key)));
    const wish = await waitForRequest(id);
    await answer(id, wish, PASSED);
    for (const { status, body } of await all)
      expect({ status, body }).toEqual({ status: 200, body: { ...PASSED, code: null } });
    expect((await get(id)).metadata.annotations?.[TEST_ANNOTATION]).toBe(wish);
  });

  test('without one all have the answer of the one test that is made', async () => {
    const id = await make();
    const first = ask(id);
    const wish = await waitForRequest(id);
    let over = false;
    const all = Promise.all([first, ask(id), ask(id)]).finally(() => {
      over = true;
    });
    // Another request replaces the first one, which never gets an answer under its own name.
    await waitForRequest(id, wish);
    await until('all are answered', async () => {
      const last = (await get(id)).metadata.annotations?.[TEST_ANNOTATION] ?? '';
      await answer(id, last, PASSED);
      return over;
    });
    for (const { status, body } of await all) expect({ status, ok: body.ok }).toEqual({ status: 200, ok: true });
  });
});

describe('while a stream is on air there', () => {
  test('it is refused and the streams are named: by the API server and, should it not know yet, by the operator', async () => {
    const { ada, api, create } = started;
    const stream = await create();
    const id = stream.destinationID as string;
    await api.observe(stream.id, { phase: 'live' });
    const live = async () => (await ada.call('GET', `/v1/streams/${stream.id}`)).body.status === 'live';
    await until('it is live', live);
    const refused = await ask(id);
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 409,
      body: { code: 'destination_on_air', streamIDs: [stream.id] },
    });
    expect((await get(id)).metadata.annotations?.[TEST_ANNOTATION]).toBeUndefined();

    await api.observe(stream.id, { phase: 'stopped' });
    await until(
      'it is stopped',
      async () =>
        (await api.kube.get(LOOPSTREAMS, NAMESPACE, stream.id)).status?.phase === 'stopped' && !(await live()),
    );
    const asking = ask(id);
    await answer(id, await waitForRequest(id), {
      ...REFUSED,
      stage: 'resolve',
      code: 'on_air',
      message: 'Streams are on air.',
    });
    expect(await asking).toMatchObject({ status: 409, body: { code: 'destination_on_air' } });
  });
});

test('a body that is no empty object is refused', async () => {
  const id = await make();
  const { key } = started.ada;
  const answered = await call(`${started.api.url}/v1/destinations/${id}/test`, 'POST', { a: 1 }, { 'x-api-key': key });
  expect(answered).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ path: '/a' }] } });
});

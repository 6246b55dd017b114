/** Tests traces on the whole product: a collector receives one trace from a request to a stream on air, and nothing while they are off. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { PODS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { podName, TRACEPARENT_ANNOTATION } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startStreamsApi } from '../../kit/make/streams.ts';
import { type System, startSystem } from '../../kit/system/system.ts';
import { until } from '../../kit/wait.ts';
import { type Collector, type ReceivedSpan, startCollector } from './otlp.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const AUTHORIZATION = 'Bearer a-secret-of-the-collector';

/** Sends a request as a part of the caller's trace. */
async function call<T>(
  { facts }: Pick<System, 'facts'>,
  method: string,
  path: string,
  body: unknown = {},
  traceparent = `00-${TRACE}-${CALLER}-01`,
): Promise<T> {
  const headers = { 'x-api-key': facts.apiKey, 'content-type': 'application/json', traceparent };
  const response = await fetch(new URL(path, facts.apiUrl), { method, headers, body: JSON.stringify(body) });
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

/** Returns what the demo stream plays, with another key at its receiver, for a stream of the test. */
async function copyDemo({ client, facts }: Pick<System, 'client' | 'facts'>) {
  const { destinationID: demo, videoUploadObjectID } = await client.streams.get(facts.demoStreamId ?? '');
  const { rtmpUrl } = await client.destinations.get(demo);
  const { id: destinationID } = await client.destinations.create({ name: 'traced', rtmpUrl, rtmpKey: 'traced' });
  return { name: 'traced', quality: '720p', framerate: 30, destinationID, videoUploadObjectID };
}

describe('with a collector', () => {
  let collector: Collector;
  let system: System;
  let kube: Kube;
  let id: string;

  const find = (name: string): readonly ReceivedSpan[] =>
    collector.spans.filter((span) => span.traceID === TRACE && span.name === name);
  const findOne = (name: string, parentID: string): Promise<ReceivedSpan> =>
    until(`the span ${name}`, () => find(name).find((span) => span.parentID === parentID));

  beforeAll(async () => {
    collector = await startCollector(AUTHORIZATION);
    system = await startSystem([], undefined, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=${encodeURIComponent(AUTHORIZATION)}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    kube = createKube({ kubeconfig: system.facts.kubeconfig });
    ({ id } = await call<{ id: string }>(system, 'POST', '/v1/streams', await copyDemo(system)));
    await until('the stream can start', async () => (await system.client.streams.readiness(id)).ready);
    await call(system, 'POST', `/v1/streams/${id}/start`);
    await until('it is on air', async () => (await system.client.streams.get(id)).status === 'live', 120_000);
  }, 300_000);

  afterAll(async () => {
    await kube?.close();
    await system?.close();
    await collector?.stop();
  });

  test('one trace leads from the requests of a client over the operator to the stream on air', async () => {
    const [created, started] = await Promise.all([
      findOne('POST /v1/streams', CALLER),
      findOne('POST /v1/streams/:id/start', CALLER),
    ]);
    for (const request of [created, started])
      expect(request).toMatchObject({ kind: 'Server', resource: { 'service.name': 'loopstream-api' } });
    expect(created.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/streams',
      'http.response.status_code': 201,
      'loopstream.operation': 'createStream',
    });
    expect(created.resource).toMatchObject({ 'deployment.environment.name': 'test' });

    const collection = `/apis/${LOOPSTREAMS.group}/${LOOPSTREAMS.version}/namespaces/{namespace}/loopstreams`;
    const write = await findOne(`POST ${collection}`, created.spanID);
    expect(write).toMatchObject({ kind: 'Client', attributes: { 'k8s.namespace.name': NAMESPACE } });
    await findOne(`PATCH ${collection}/{name}`, started.spanID);

    const pod = await until('the pod is made in a reconcile', () => {
      const [made] = find('POST /api/v1/namespaces/{namespace}/pods');
      return made;
    });
    const reconcile = await until('its reconcile', () =>
      find('reconcile stream').find(({ spanID }) => spanID === pod.parentID),
    );
    expect(reconcile).toMatchObject({
      parentID: started.spanID,
      resource: { 'service.name': 'loopstream-operator' },
      attributes: { 'k8s.namespace.name': NAMESPACE, 'loopstream.stream.name': id },
    });
    const start = await findOne('pod start', reconcile.spanID);
    const live = await findOne('go live', reconcile.spanID);
    expect(start.attributes).toMatchObject({ 'k8s.pod.name': podName(id), 'loopstream.stream.name': id });
    expect(start.endNanos).toBe(live.startNanos);
    expect(live.endNanos).toBeGreaterThanOrEqual(live.startNanos);
    expect(start.startNanos).toBeGreaterThanOrEqual(started.startNanos);
  });

  test('a request of GraphQL has a span that says what was asked', async () => {
    await call(system, 'POST', '/graphql', { query: '{ me { id } }' });
    const [graph] = await until('the span', () => find('POST /graphql').length > 0 && find('POST /graphql'));
    expect(graph?.attributes).toMatchObject({ 'graphql.operation.type': 'query' });
  });

  test('the annotation changes no pod, and the pod has the span that made it', async () => {
    const before = await kube.get(PODS, NAMESPACE, podName(id));
    expect(before.metadata.annotations?.[TRACEPARENT_ANNOTATION]).toContain(TRACE);
    await call(system, 'PATCH', `/v1/streams/${id}`, { name: 'renamed' }, `00-${'a'.repeat(32)}-${CALLER}-01`);
    await until('the annotation is of the last write', async () =>
      (await kube.get(LOOPSTREAMS, NAMESPACE, id)).metadata.annotations?.[TRACEPARENT_ANNOTATION]?.includes(
        'a'.repeat(32),
      ),
    );
    await until('the operator has seen it', async () => {
      const { metadata, status } = await kube.get(LOOPSTREAMS, NAMESPACE, id);
      return status?.observedGeneration === metadata.generation;
    });
    const after = await kube.get(PODS, NAMESPACE, podName(id));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.deletionTimestamp).toBeUndefined();
  });

  test('no span contains a credential', () => {
    const text = JSON.stringify(collector.spans);
    expect(collector.spans.length).toBeGreaterThan(10);
    const { apiKey, rtmpUrl } = system.facts;
    for (const secret of [apiKey, rtmpUrl, AUTHORIZATION, 'rtmp://']) expect(text).not.toContain(secret);
  });
});

test('while traces are off, nothing is written for one, even where a request belongs to a trace', async () => {
  const { api, ada, create, resource } = await startStreamsApi();
  try {
    const { id } = await create();
    await api.observe(id, { phase: 'idle' });
    const traceparent = `00-${TRACE}-${CALLER}-01`;
    expect((await ada.call('POST', `/v1/streams/${id}/start`, {}, { traceparent })).status).toBe(202);
    const { metadata, spec } = await resource(id);
    expect(spec.replicas).toBe(1);
    expect(metadata.annotations?.[TRACEPARENT_ANNOTATION]).toBeUndefined();
  } finally {
    await api.stop();
  }
});

/** Tests that a start and a stop by REST name what Kubernetes refuses and when it is tried again, and that each tries it at once. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { READINESS_ISSUES, REFUSED_CHANGES } from '../../../src/core/lib/codes/streams.ts';
import type { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { renditionKey } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { createRefusals, NEEDS_TEAM, type Refusals } from '../../kit/make/refusals.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { createOwned, startApiOperator } from '../../kit/system/api-operator.ts';
import { createKubelet, type Kubelet } from '../../kit/system/kubelet.ts';
import { until } from '../../kit/wait.ts';

interface Shown {
  status: string;
  degraded: { code: string; message: string; fix: string; since: string } | null;
}

let api: TestApi;
let ada: Client;
let kubelet: Kubelet;
let refusals: Refusals;
let operator: Lifecycle | undefined;

const create = (resource: Resource, name: string, more: object) => createOwned(api, ada, resource, name, more);

beforeAll(async () => {
  api = await startTestApi({}, { alone: true });
  ada = await api.client('ada');
  kubelet = await createKubelet(api.kube, NAMESPACE);
  refusals = createRefusals(api.kube, NAMESPACE);
  await create(SECRETS, 'tv-secret', { stringData: { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'live_s3cr3t' } });
  await create(DESTINATIONS, 'tv', { spec: { secretName: 'tv-secret' } });
  await create(UPLOADS, 'film', { spec: { source: { url: 'https://media.example/film' } } });
  const key = renditionKey(MEDIA.sha256, 'video', '720p30');
  const renditions = [{ profile: '720p30', state: 'ready' as const, key }];
  await api.observeUpload('film', {
    observedGeneration: 1,
    sourceKey: 'sources/x',
    media: MEDIA,
    phase: 'ready',
    renditions,
  });
  operator = await startApiOperator(api);
});
afterEach(() => refusals?.remove());
afterAll(async () => {
  await operator?.stop();
  await api?.stop();
});

const read = (id: string) => api.kube.get(LOOPSTREAMS, NAMESPACE, id);
const ask = (id: string, action: 'start' | 'stop', waitSeconds: number) =>
  ada.call<Shown>('POST', `/v1/streams/${id}/${action}?wait=${waitSeconds}`);

async function createReady(id: string): Promise<void> {
  const spec = { quality: '720p', framerate: 30, destinationNames: ['tv'], uploadName: 'film', replicas: 0 };
  await create(LOOPSTREAMS, id, { spec });
  await until('it can start', async () => (await read(id)).status?.canStart);
}

/** Runs the pod of a stream in the place of a node. */
async function runPod(id: string): Promise<void> {
  await until('the pod', () => api.kube.get(PODS, NAMESPACE, `${id}-onair`).catch(() => undefined));
  await kubelet.bind(`${id}-onair`);
  await kubelet.run(`${id}-onair`, true);
}

test('a start whose pod a policy refuses says so and when it is tried again; the next one puts the stream on air', async () => {
  await createReady('news');
  await refusals.makePolicy({ resources: 'pods' });
  await refusals.untilPodsRefused();
  const refused = await ask('news', 'start', 2);
  expect(refused.status).toBe(202);
  expect(refused.body.status).toBe('waiting');
  expect(refused.body.degraded?.code).toBe('pod_refused');
  expect(refused.body.degraded?.message).toContain(NEEDS_TEAM);
  expect(refused.body.degraded?.fix).toContain('The operator tries again within ten minutes');
  const { body: readiness } = await ada.call<{ issues: object[] }>('GET', '/v1/streams/news/readiness');
  expect(readiness.issues).toMatchObject([{ code: 'pod_refused', fix: READINESS_ISSUES.PodRefused.fix }]);
  const query = '{ stream(id: "news") { degraded { code message fix since } } }';
  const graph = await ada.call<{ data: { stream: Shown } }>('POST', '/graphql', { query });
  expect(graph.body.data.stream.degraded).toEqual(refused.body.degraded);
  const { status } = await read('news');
  expect(findCondition(status?.conditions, 'Reconciling')?.status).toBe('True');
  expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
  // A start while it is still refused is a request, and no failure.
  expect(await ask('news', 'start', 0)).toMatchObject({ status: 202, body: { degraded: { code: 'pod_refused' } } });

  await refusals.remove();
  await refusals.untilPodsAccepted();
  const [live] = await Promise.all([ask('news', 'start', 60), runPod('news')]);
  expect(live).toMatchObject({ status: 200, body: { status: 'live', degraded: null } });
});

test('a stop that a policy refuses says so and when it is tried again; the next one takes the stream off air', async () => {
  await createReady('show');
  await Promise.all([ask('show', 'start', 60), runPod('show')]);
  await refusals.makePolicy({ resources: 'pods', operation: 'DELETE', accepts: 'false' });
  // kube-apiserver refuses a moment after the policy was made.
  await create(PODS, 'probe', { spec: { containers: [{ name: 'x', image: 'x' }] } });
  const remove = () => api.kube.delete(PODS, NAMESPACE, 'probe', { gracePeriodSeconds: 0 });
  const isRefused = (error: unknown) => error instanceof Error && error.message.includes(NEEDS_TEAM);
  await until('deletions are refused', async () => {
    const answer = await api.kube.raw('DELETE', `/api/v1/namespaces/${NAMESPACE}/pods/probe?dryRun=All`);
    return answer.text.includes(NEEDS_TEAM);
  });
  const refused = await ask('show', 'stop', 2);
  expect(refused.status).toBe(202);
  const told = await until('it says why', async () => {
    const { body } = await ada.call<Shown>('GET', '/v1/streams/show');
    return body.degraded ?? undefined;
  });
  expect(told.code).toBe('write_refused');
  expect(told.message).toContain(NEEDS_TEAM);
  expect(told.fix).toBe(REFUSED_CHANGES.WriteRefused.fix);

  await refusals.remove();
  await until('deletions are accepted', () =>
    remove().then(
      () => true,
      (error) => {
        if (!isRefused(error)) throw error;
        return false;
      },
    ),
  );
  const end = until('the pod is going', async () => {
    const pod = await api.kube.get(PODS, NAMESPACE, 'show-onair').catch(() => undefined);
    return pod?.metadata.deletionTimestamp !== undefined;
  }).then(() => kubelet.remove('show-onair'));
  const [off] = await Promise.all([ask('show', 'stop', 60), end]);
  expect(off).toMatchObject({ status: 200, body: { status: 'stopped', degraded: null } });
});

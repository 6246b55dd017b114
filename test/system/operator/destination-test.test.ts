/**
 * Tests the operator's tests of destinations, requested by an annotation. A real control plane enforces Pod Security, the operator has the
 * rights of its own service account, a node runs its pods, and nginx-rtmp receives.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENTS, NAMESPACES, PODS, type Pod, SECRETS } from '../../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { API_VERSION, TEST_ANNOTATION, testPodName } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import type { TestStatus } from '../../../src/core/resources/destination/spec.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { everyCommandLine } from '../../kit/make/destinations.ts';
import { startTestNode, type TestNode, until } from '../../kit/real/node.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { MAIN } from '../../kit/system/app.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const IMAGE = 'loopstream:test';
const KEY = 'verysecret-asked-4712';

const dir = tempDir();
let node: TestNode;
let rtmp: RtmpServer;
const operator = new Lifecycle();
/** Every observed state of a pod. */
const pods: Pod[] = [];
const watching = new AbortController();

beforeAll(async () => {
  [node, rtmp] = await Promise.all([
    startTestNode({ [IMAGE]: [process.execPath, MAIN] }),
    startRtmpServer({ record: join(dir, 'recordings') }),
  ]);
  await Promise.all([applyCrds(node.kube), applyRights(node.kube)]);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await node.kube.mergePatch(NAMESPACES, '', NAMESPACE, { metadata: { labels } });
  const kubeconfig = await node.kubernetes.kubeconfigFor('operator', {
    user: serviceAccountUser('loopstream-operator'),
  });
  const settings = operatorConfig({
    KUBECONFIG: kubeconfig,
    LOOPSTREAM_IMAGE: IMAGE,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_STORAGE_VOLUME: '{"emptyDir":{}}',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
  });
  await runOperator(settings, operator, createLogger('operator', 'silent'));
  const look = async () => {
    while (!watching.signal.aborted) {
      pods.push(...(await node.kube.list(PODS, { namespace: NAMESPACE }).catch(() => [])));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  void look();
});
afterAll(async () => {
  watching.abort();
  await operator.stop();
  await node?.stop();
  await rtmp?.close();
});

const create = (resource: { kind: string }, name: string, spec: unknown): Promise<KubeObject> =>
  node.kube.create(resource as Resource, NAMESPACE, {
    apiVersion: API_VERSION,
    kind: resource.kind,
    metadata: { name },
    spec,
  });

async function destination(name: string, rtmpUrl: string, rtmpKey = KEY): Promise<string> {
  const stringData = { rtmpUrl, rtmpKey };
  await node.kube.create(SECRETS, NAMESPACE, { metadata: { name }, stringData } as never);
  return (await create(DESTINATIONS, name, { secretName: name })).metadata.uid ?? '';
}

const ask = (name: string, id: string) =>
  node.kube.mergePatch(DESTINATIONS, NAMESPACE, name, { metadata: { annotations: { [TEST_ANNOTATION]: id } } });
const waitForResult = (name: string, id: string): Promise<TestStatus> =>
  until(
    `the test ${id} of ${name}`,
    async () => {
      const { status } = await node.kube.get(DESTINATIONS, NAMESPACE, name);
      return status?.test?.id === id && status.test;
    },
    60_000,
  );
const listSeen = (uid: string) =>
  new Set(pods.filter(({ metadata }) => metadata.name === testPodName(uid)).map(getUid));
const getUid = ({ metadata }: Pod) => metadata.uid;
const gone = (uid: string) =>
  until('its pod is gone', async () => {
    const left = await node.kube.list(PODS, { namespace: NAMESPACE });
    return !left.some(({ metadata }) => metadata.name === testPodName(uid));
  });

test('a second request during a test joins it: one pod, one publish, and no leftovers', async () => {
  const uid = await destination('good', rtmp.url);
  const ids = Array.from({ length: 20 }, (_, n) => `${new Date().toISOString()} tst-${n}`);
  await Promise.all(ids.map((id) => ask('good', id)));
  const { metadata } = await node.kube.get(DESTINATIONS, NAMESPACE, 'good');
  const last = metadata.annotations?.[TEST_ANNOTATION] ?? '';
  expect(await waitForResult('good', last)).toMatchObject({ ok: true, stage: 'publish' });
  expect(listSeen(uid).size).toBe(1);
  expect(await rtmp.recordings(KEY)).toHaveLength(1);
  await gone(uid);
  // A request after its end is another test.
  await ask('good', 'again');
  expect(await waitForResult('good', 'again')).toMatchObject({ ok: true });
  expect(await rtmp.recordings(KEY)).toHaveLength(2);
  expect(listSeen(uid).size).toBe(2);
  await gone(uid);
});

test('a failed test shows its stage; a new key is tested and not the one before', async () => {
  const uid = await destination('bad', `rtmp://127.0.0.1:${await reserveFreePort()}/live`);
  await ask('bad', 'first');
  expect(await waitForResult('bad', 'first')).toMatchObject({
    ok: false,
    stage: 'connect',
    code: 'connection_refused',
  });
  await node.kube.mergePatch(SECRETS, NAMESPACE, 'bad', { stringData: { rtmpUrl: rtmp.url, rtmpKey: 'mended' } });
  await ask('bad', 'second');
  expect(await waitForResult('bad', 'second')).toMatchObject({ ok: true });
  expect(await rtmp.recordings('mended')).toHaveLength(1);
  await gone(uid);
});

test('a destination without a Secret gets an error that says so, and has no pod', async () => {
  const { uid = '' } = (await create(DESTINATIONS, 'empty', { secretName: 'none' })).metadata;
  await ask('empty', 'x');
  const message = expect.stringContaining('does not exist');
  expect(await waitForResult('empty', 'x')).toMatchObject({ ok: false, code: 'not_configured', message });
  expect(listSeen(uid).size).toBe(0);
});

test('the key is in no pod, status, event, log, argument or environment', async () => {
  const shown = await Promise.all(
    [PODS, DESTINATIONS, EVENTS].map((resource) => node.kube.list(resource as Resource, { namespace: NAMESPACE })),
  );
  const logs = (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.log'));
  const texts = [JSON.stringify([shown, pods]), everyCommandLine()];
  for (const name of logs) texts.push(await readFile(join(dir, name), 'utf8'));
  expect(JSON.stringify(shown)).toContain('TestPassed');
  // The assertion message excludes the searched text, which holds the output of the whole machine.
  expect(texts.filter((text) => text.includes(KEY)).length).toBe(0);
});

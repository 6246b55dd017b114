/**
 * Tests a second cell as docs/scale.md adds it: a release without an API server, and the first release's API server that is told of its
 * namespace. A new account lives there, since the first namespace has more streams. The first release stays as it is then.
 */
import { expect, test } from 'vitest';
import { STREAMER_METRICS_PORT, STREAMER_PORT } from '../../src/core/resources/common/names.ts';
import { CHART } from '../../tools/generate/chart/generate.ts';
import { NAMESPACE, type Release, SERVICE } from '../kit/real/cluster/release.ts';
import { PATIENCE_MS, type Scene, seconds } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { openHelms, type Values } from '../kit/real/helm/index.ts';
import { until } from '../kit/wait.ts';
import { CONNECT, idlePod } from './network.ts';

const CELL = 'cell-2';
/** The namespace of the cell's release. */
const CELL_SERVICE = 'cell-2-service';
const API_ACCOUNT = `system:serviceaccount:${SERVICE}:loopstream-api`;
const READ_METRICS = "fetch('http://127.0.0.1:9402/metrics').then((answer) => answer.text()).then(console.log)";

/** Installs the cell's release; the returned function uninstalls it. */
async function installCell({ cluster, release }: Scene, tag: string): Promise<() => Promise<void>> {
  const { helms, close } = await openHelms(cluster.plane.kubeconfig);
  const run = async (args: string[], values?: Values): Promise<void> => {
    const done = await helms[0]?.run([...args, '--namespace', CELL_SERVICE, '--wait', '--timeout', '90s'], values);
    if (!done?.ok) throw new Error(done?.stderr ?? 'no Helm');
  };
  const own = { api: { enabled: false }, crds: { install: false }, streamsNamespace: { name: CELL } };
  try {
    await run(['install', CELL, CHART, '--create-namespace'], { ...release.values(tag), ...own });
  } catch (error) {
    close();
    throw error;
  }
  return () => run(['uninstall', CELL]).finally(close);
}

/** Tells the API server of the cell, and waits until each of its pods reads it. */
async function nameCell({ helms, service, values }: Release, tag: string): Promise<void> {
  const given = values(tag);
  await helms.four.upgrade({ ...given, api: { ...(given.api as Values), cellNamespaces: [CELL] } });
  const which = ['-l', 'app.kubernetes.io/component=api', '--field-selector=status.phase=Running', '-o', 'name'];
  await until(
    'the API server reads the cell',
    async () => {
      const pods = (await service('get', 'pods', ...which)).trim().split('\n');
      // A pod of the release before may end meanwhile.
      const texts = await Promise.all(
        pods.map((pod) => service('exec', pod, '--', 'node', '-e', READ_METRICS).catch(() => '')),
      );
      return texts.every((text) => text.includes(`account_namespace_watched{namespace="${CELL}"} 1`));
    },
    PATIENCE_MS,
  );
}

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Returns the calls of a new account. */
async function createAccount({ service, call }: Release): Promise<Call> {
  const main = ['deployment/loopstream-api', '--', 'node', '/app/dist/app/main.js'];
  const key = (await service('exec', ...main, 'keys', '--email', 'cell@example.org')).trim();
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await call<T>(method, path, body, { 'X-API-Key': key });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
}

/** Brings a stream of the account on air, from a link. */
async function goOnAir(ok: Call, { urls }: Release): Promise<string> {
  const link = { type: 'VIDEO', url: urls.film };
  const target = { name: 'the receiver', rtmpUrl: urls.receiver, rtmpKey: 'key-of-the-cell' };
  const [{ objectID }, destination] = await Promise.all([
    ok<{ objectID: string }>('POST', '/uploads/from-link', link),
    ok<{ id: string }>('POST', '/destinations', target),
  ]);
  const profile = { name: 'loop', quality: 'q_720p', framerate: 'f_30' };
  const media = { destinationID: destination.id, videoUploadObjectID: objectID };
  const { id } = await ok<{ id: string }>('POST', '/streams', { ...profile, ...media });
  await ok('POST', `/streams/${id}/start?whenReady=true`);
  await until(
    'it is live',
    async () => (await ok<{ status: string }>('GET', `/streams/${id}`)).status === 'live',
    PATIENCE_MS,
  );
  return id;
}

export function cellTests(getContext: () => { scene: Scene; stream: WatchedStream }): void {
  test(
    'a stream of an account in a second cell goes on air, and of all pods outside its cell the API server alone reaches it',
    async () => {
      const { scene, stream } = getContext();
      const { release, results } = scene;
      const { kubectl } = release;
      const from = performance.now();
      const image = (await stream.pod()).spec.containers[0]?.image ?? '';
      const tag = image.split(':').at(-1) ?? '';
      const uninstall = await installCell(scene, tag);
      try {
        await nameCell(release, tag);
        const ok = await createAccount(release);
        const id = await goOnAir(ok, release);
        const names = (namespace: string) => kubectl(['-n', namespace, 'get', 'loopstreams', '-o', 'name']);
        expect(await names(CELL)).toContain(id);
        expect(await names(NAMESPACE)).not.toContain(id);
        results.add(
          'a second cell, until a stream of a new account is live there',
          seconds(performance.now() - from),
          '',
        );

        const podIP = ['-l', `loopstream.dev/stream=${id}`, '-o', 'jsonpath={.items[0].status.podIP}'];
        const onAir = await kubectl(['-n', CELL, 'get', 'pods', ...podIP]);
        const ports = { numbers: [onAir, STREAMER_PORT], metrics: [onAir, STREAMER_METRICS_PORT] };
        const connect = ['--', 'node', '-e', CONNECT, JSON.stringify(ports)];
        const idle = ['-n', NAMESPACE, 'pod/like-the-api'];
        // Its labels are those of the API server: only its namespace is another one.
        const apiLabels = {
          'app.kubernetes.io/name': 'loopstream',
          'app.kubernetes.io/instance': SERVICE,
          'app.kubernetes.io/component': 'api',
        };
        await kubectl(['apply', '-f', '-'], [idlePod('like-the-api', NAMESPACE, image, apiLabels)]);
        try {
          await kubectl(['wait', ...idle, '--for=condition=Ready', '--timeout=120s']);
          const reached = async (...pod: string[]) => JSON.parse(await kubectl(['-n', ...pod, ...connect])) as string[];
          // Policies bind a new pod soon after it has an address.
          await expect
            .poll(() => reached(SERVICE, 'exec', 'deployment/loopstream-api'))
            .toEqual(['metrics', 'numbers']);
          // Any pod may scrape metrics, so each of these reaches the pod on air.
          await expect.poll(() => reached(SERVICE, 'exec', 'deployment/loopstream-operator')).toEqual(['metrics']);
          await expect.poll(() => reached(NAMESPACE, 'exec', 'like-the-api')).toEqual(['metrics']);
        } finally {
          await kubectl(['delete', ...idle, '--ignore-not-found', '--wait=false']);
        }

        // The API server may change resources there, and nowhere else.
        const right = ['auth', 'can-i', 'create', 'loopstreams.loopstream.dev', '--as', API_ACCOUNT];
        const may = async (namespace: string) =>
          (await scene.cluster.kubectl([...right, '-n', namespace])).stdout.trim();
        expect(await Promise.all([CELL, NAMESPACE, CELL_SERVICE, 'default'].map(may))).toEqual([
          'yes',
          'yes',
          'no',
          'no',
        ]);
      } finally {
        // Its operator removes the finalizers.
        await kubectl(['delete', 'namespace', CELL, '--ignore-not-found', '--timeout=120s']);
        await uninstall();
        await kubectl(['delete', 'namespace', CELL_SERVICE, '--ignore-not-found', '--wait=false']);
      }
    },
    2 * PATIENCE_MS,
  );
}

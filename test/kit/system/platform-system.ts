/**
 * Runs the role `platform` on a real control plane, for the system tests of one file. The test writes what the operator and kubelet would: a
 * stream that is live, and the pod that sends it.
 */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { type PlatformOptions, type RunningPlatform, runPlatform } from '../../../src/core/platform/main.ts';
import { type PlatformConfig, platformConfig } from '../../../src/core/platform/settings.ts';
import {
  COMPONENT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  STREAM_LABEL,
  STREAMER_PORT,
} from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { type DestinationPlatform, PLATFORM_LIVE } from '../../../src/core/resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus } from '../../../src/core/resources/stream/spec.ts';
import { silent } from '../real/kube.ts';
import { shareTestKubernetes, startSmallKubernetes, type TestKubernetes } from '../real/kubernetes.ts';
import { until } from '../wait.ts';

export let cluster: TestKubernetes;
export let kube: Kube;

/**
 * Makes a namespace of this name for the file, and removes it in the end. `alone` starts a control plane that no other test uses, as a file
 * needs that is about the namespace of the installation: on the shared one, tests of the API have that namespace.
 */
export function aroundPlatformTests(namespace: string, { alone = false } = {}): void {
  beforeAll(async () => {
    cluster = await (alone ? startSmallKubernetes() : shareTestKubernetes());
    kube = createKube({ kubeconfig: cluster.kubeconfig });
    await applyCrds(kube);
    await until(`a new namespace ${namespace}`, () =>
      kube.create(NAMESPACES, '', { metadata: { name: namespace }, spec: {} }).catch(() => undefined),
    );
  });
  afterAll(async () => {
    await kube?.delete(NAMESPACES, '', namespace);
    await kube?.close();
    await cluster?.stop();
  });
}

/** The settings of a process in `namespace`, which has a replica of its own unless `LOOPSTREAM_LEADER_ELECTION` says otherwise. */
export const buildPlatformConfig = (namespace: string, env: Record<string, string> = {}): PlatformConfig =>
  platformConfig({
    KUBECONFIG: cluster.kubeconfig,
    LOOPSTREAM_NAMESPACE: namespace,
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    LOOPSTREAM_LEADER_ELECTION: 'false',
    ...env,
  });

export type StartedPlatform = RunningPlatform & { lifecycle: Lifecycle };

/** Starts one in this process. `observers` in the options replace those of the product. */
export async function startPlatform(
  namespace: string,
  { env, log = silent, ...options }: PlatformOptions & { env?: Record<string, string>; log?: typeof silent } = {},
): Promise<StartedPlatform> {
  const lifecycle = new Lifecycle();
  const running = await runPlatform(buildPlatformConfig(namespace, env), lifecycle, log, {
    exit: () => undefined,
    statsEveryMs: 200,
    ...options,
  });
  return { ...running, lifecycle };
}

export const readDestination = (namespace: string, name: string): Promise<Destination> =>
  kube.get(DESTINATIONS, namespace, name);

export const findPlatformLive = ({ status }: Destination) =>
  status?.conditions?.find(({ type }) => type === PLATFORM_LIVE);

/** Creates a destination, with a Secret of the same name. */
export async function createWatched(
  namespace: string,
  name: string,
  platform: DestinationPlatform | undefined,
  secret: Record<string, string> = {},
): Promise<void> {
  const stringData = { rtmpUrl: 'rtmp://tv.example/live', rtmpKey: `key-of-${name}`, ...secret };
  await kube.create(SECRETS, namespace, { metadata: { name }, stringData } as never);
  await kube.create(DESTINATIONS, namespace, {
    apiVersion: 'loopstream.dev/v1beta1',
    kind: 'Destination',
    metadata: { name },
    spec: { secretName: name, ...(platform && { platform }) },
  });
}

/** Creates a stream that is live, and its pod at this address. Returns the UID of the pod. */
export async function createLiveStream(
  namespace: string,
  name: string,
  { destinations, podIP, status = {} }: { destinations: string[]; podIP: string; status?: Partial<LoopStreamStatus> },
): Promise<string> {
  const spec: Partial<LoopStreamSpec> = { uploadName: 'film', destinationNames: destinations };
  const kind = { apiVersion: 'loopstream.dev/v1beta1', kind: 'LoopStream' };
  await kube.create(LOOPSTREAMS, namespace, { ...kind, metadata: { name }, spec } as never);
  const podName = `${name}-onair`;
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY, [COMPONENT_LABEL]: 'streamer', [STREAM_LABEL]: name };
  const container = { name: 'streamer', image: 'none' };
  const pod = await kube.create(PODS, namespace, {
    metadata: { name: podName, labels },
    spec: { containers: [container] },
  } as never);
  await kube.mergePatch(
    PODS,
    namespace,
    podName,
    { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } },
    { subresource: 'status' },
  );
  await setStreamStatus(namespace, name, {
    phase: 'live',
    podUID: pod.metadata.uid,
    liveSince: kubeTime(new Date(Date.now() - 3_600_000)),
    ...status,
  });
  return pod.metadata.uid;
}

export const setStreamStatus = (namespace: string, name: string, status: Partial<LoopStreamStatus>) =>
  kube.mergePatch(LOOPSTREAMS, namespace, name, { status }, { subresource: 'status' });

export interface FakeStreamer {
  server: Server;
  /** The outputs that it reports from now on. */
  outputs: { name: string; connected: boolean; connectedSince?: string | null }[];
  /** The header `authorization` of each request. */
  tokens: (string | undefined)[];
}

/** Answers GET /stats as a streamer at this address of the loopback network. */
export async function startFakeStreamer(address: string): Promise<FakeStreamer> {
  const streamer: FakeStreamer = {
    outputs: [],
    tokens: [],
    server: createServer((request, response) => {
      streamer.tokens.push(request.headers.authorization);
      response.end(JSON.stringify({ playable: true, destinations: streamer.outputs }));
    }),
  };
  await new Promise<void>((resolve) => streamer.server.listen(STREAMER_PORT, address, resolve));
  return streamer;
}

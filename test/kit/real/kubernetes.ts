/** A real control plane for tests: its own state directory and ports, gone without a trace afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createLogger } from '../../../src/lib/log.ts';
import { type BinariesOptions, ensureBinaries } from '../../../tools/control-plane/binaries.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../../tools/control-plane/controlplane.ts';
import type { Binaries } from '../../../tools/control-plane/programs.ts';

export interface TestKubernetes extends ControlPlane {
  stateDir: string;
  binaries: Binaries;
}

/** The same cache that `make run` uses, so that the tests build nothing anew. */
export const binariesOptions = (): BinariesOptions => ({
  cacheDir: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'loopstream'),
  assetsDir: process.env.KUBEBUILDER_ASSETS || undefined,
  env: process.env,
});

/**
 * One of its own, for tests that change what all share, or make nodes; who kills and starts its parts can do so in the shared
 * one (restarts.ts). Call `stop` in afterAll; stop your own watches before. Takes about five seconds, and nearly four of a
 * processor, once the programs are built.
 */
export async function startTestKubernetes(
  options: Pick<ControlPlaneOptions, 'extraArgs'> & { in?: string; logLevel?: 'silent' } = {},
): Promise<TestKubernetes> {
  const { in: parent = tmpdir(), logLevel = 'warn', ...rest } = options;
  const binaries = await ensureBinaries(binariesOptions());
  const stateDir = await mkdtemp(join(parent, 'loopstream-kubernetes-'));
  const forget = () => rm(stateDir, { recursive: true, force: true });
  try {
    const log = createLogger('kubernetes', logLevel);
    const plane = await startControlPlane({
      ...rest,
      stateDir,
      binaries,
      env: process.env,
      unsafeNoFsync: true,
      log,
    });
    return { ...plane, stateDir, binaries, stop: () => plane.stop().then(forget) };
  } catch (error) {
    await forget();
    throw error;
  }
}

/**
 * What nothing of ours asks of Kubernetes: each of these controllers watches kinds that it alone needs, which is a sixth of
 * the processor time of a start and half of what the controllers take while nothing happens.
 */
const UNUSED_CONTROLLERS = [
  ...['cronjob', 'daemonset', 'deployment', 'replicaset', 'replicationcontroller', 'statefulset'],
  ...['endpoints', 'endpointslice', 'endpointslice-mirroring', 'horizontal-pod-autoscaler', 'service-cidr', 'ttl'],
  ...['ephemeral-volume', 'persistentvolume-attach-detach', 'persistentvolume-binder', 'persistentvolume-expander'],
  ...['persistentvolume-protection', 'persistentvolumeclaim-protection', 'resourceclaim'],
  ...['certificatesigningrequest-approving', 'certificatesigningrequest-cleaner', 'certificatesigningrequest-signing'],
].map((name) => `-${name}-controller`);

/**
 * Kinds that nothing of ours watches. kube-apiserver keeps each kind it has in memory, follows it in etcd, and wakes up for it
 * each second; without that it reads these from etcd when it is asked for them, and answers the same.
 */
const UNWATCHED = [
  ...['endpoints', 'limitranges', 'persistentvolumeclaims', 'persistentvolumes', 'podtemplates', 'services'],
  ...['replicationcontrollers', 'cronjobs.batch', 'certificatesigningrequests.certificates.k8s.io'],
  ...['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'].map((kind) => `${kind}.apps`),
  ...['endpointslices.discovery.k8s.io', 'horizontalpodautoscalers.autoscaling', 'poddisruptionbudgets.policy'],
  ...['ingressclasses', 'ingresses', 'ipaddresses', 'networkpolicies', 'servicecidrs'].map(
    (kind) => `${kind}.networking.k8s.io`,
  ),
  ...['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'].map(
    (kind) => `${kind}.resource.k8s.io`,
  ),
  ...['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'].map(
    (kind) => `${kind}.storage.k8s.io`,
  ),
  ...['volumeattributesclasses.storage.k8s.io', 'runtimeclasses.node.k8s.io'],
  ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'].map(
    (kind) => `${kind}.admissionregistration.k8s.io`,
  ),
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'].map(
    (kind) => `${kind}.admissionregistration.k8s.io`,
  ),
];

/**
 * The same, with the controllers that our resources and their tests have to do with. It does less while nothing happens, and
 * there are several of them for as long as the tests last: etcd has no other members that would miss its heartbeats.
 */
export const startSmallKubernetes: typeof startTestKubernetes = (options = {}) => {
  const extraArgs = {
    etcd: ['--heartbeat-interval=500', '--election-timeout=5000'],
    'kube-apiserver': [`--watch-cache-sizes=${UNWATCHED.map((kind) => `${kind}#0`).join(',')}`],
    'kube-controller-manager': [`--controllers=*,${UNUSED_CONTROLLERS.join(',')}`],
  };
  return startTestKubernetes({ ...options, extraArgs });
};

let shared: Promise<TestKubernetes> | undefined;

/**
 * The one of this worker, for the tests of all files that come to it: what a file makes there it takes away, or gives names
 * of its own. It is ended with the run (shared.ts), so that `stop` does nothing.
 */
export async function shareTestKubernetes(): Promise<TestKubernetes> {
  shared ??= startSmallKubernetes({ in: inject('sharedDir'), logLevel: 'silent' });
  return { ...(await shared), stop: async () => {} };
}

/** Runs a real control plane for tests, with a state directory and ports of its own, and removes it afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
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

/** The cache of `make run`, so that the tests build nothing anew. */
export const binariesOptions = (): BinariesOptions => ({
  cacheDir: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'loopstream'),
  assetsDir: process.env.KUBEBUILDER_ASSETS || undefined,
  env: process.env,
});

/**
 * Starts a control plane of the test's own, for tests that make nodes or change shared state; restarts.ts kills and starts parts of the
 * shared one too. Call `stop` in afterAll, after your own watches. It takes about five seconds, nearly four of them on a processor, once
 * the programs are built.
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
 * Controllers that the product never needs. Each watches kinds of its own: together a sixth of a start's processor time, and half of the
 * idle controllers' time.
 */
const UNUSED_CONTROLLERS = [
  ...['cronjob', 'daemonset', 'deployment', 'replicaset', 'replicationcontroller', 'statefulset'],
  ...['endpoints', 'endpointslice', 'endpointslice-mirroring', 'horizontal-pod-autoscaler', 'service-cidr', 'ttl'],
  ...['ephemeral-volume', 'persistentvolume-attach-detach', 'persistentvolume-binder', 'persistentvolume-expander'],
  ...['persistentvolume-protection', 'persistentvolumeclaim-protection', 'resourceclaim'],
  ...['certificatesigningrequest-approving', 'certificatesigningrequest-cleaner', 'certificatesigningrequest-signing'],
].map((name) => `-${name}-controller`);

/**
 * Kinds that the product never watches. kube-apiserver caches each kind, follows it in etcd, and wakes up for it each second. Uncached
 * kinds are read from etcd with the same answers.
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
 * Starts the same with only the controllers that our resources and their tests need. It does less when idle, since several of them run for
 * as long as the tests. etcd has no other members that would miss its heartbeats.
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
 * Returns this worker's control plane, shared by all its test files: a file removes its objects, or gives them names of its own. It ends
 * with the run (shared.ts), so that `stop` does nothing.
 */
export async function shareTestKubernetes(): Promise<TestKubernetes> {
  shared ??= startSmallKubernetes({ in: inject('sharedDir'), logLevel: 'silent' });
  return { ...(await shared), stop: async () => {} };
}

/**
 * Runs a real Kubernetes on this machine: the control plane on a bridge's address, two nodes with containerd, kubelet and kube-proxy, DNS
 * in pods. `stop` removes every trace; after a crash the next start does.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKube } from '../../../../src/core/kube/client.ts';
import { createLogger } from '../../../../src/core/lib/log.ts';
import { environment } from '../../../../src/core/settings/environment.ts';
import { type ControlPlane, startControlPlane } from '../../../../tools/control-plane/controlplane.ts';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { ensurePrograms } from '../../../../tools/process/preflight.ts';
import { spawnChild } from '../../../../tools/process/processes.ts';
import { run } from '../../../../tools/process/run.ts';
import { until } from '../../wait.ts';
import { installAddons, type Kubectl } from './addons.ts';
import { clusterAudit } from './audit.ts';
import { makeCgroup } from './cgroups.ts';
import { runOrThrow } from './command.ts';
import { containerdConfig, NODE_GRACE } from './config.ts';
import { claimMachine, takeDown } from './down.ts';
import { ensureImageStore } from './images.ts';
import { type ClusterLayout, clusterLayout } from './layout.ts';
import { makeNetwork } from './network.ts';
import { type ClusterNode, giveImages, type NodeOptions, startNode } from './node.ts';
import { ensureClusterPrograms, MACHINE_PROGRAMS } from './programs.ts';

/** Imports images with a temporary containerd, without a network or a cgroup. */
export async function importImages(layout: ClusterLayout, root: string, archives: { file: string; names: string[] }[]) {
  const dir = join(layout.stateDir, 'import');
  const node = { ...(layout.nodes[0] as ClusterLayout['nodes'][0]), dir, runDir: join(layout.runDir, 'import') };
  mkdirSync(dir, { recursive: true });
  mkdirSync(node.runDir, { recursive: true });
  const config = join(dir, 'containerd.toml');
  writeFileSync(config, containerdConfig(node).replace(/^root = .*$/m, `root = "${root}"`));
  const child = await spawnChild({
    name: 'containerd of the images',
    command: 'containerd',
    args: ['--config', config],
    env: { PATH: environment().PATH ?? '' },
    logFile: join(layout.stateDir, 'logs/import.log'),
    stateDir: layout.stateDir,
  });
  const ctr = (...args: string[]) =>
    runOrThrow('ctr', ['--address', join(node.runDir, 'containerd.sock'), '--namespace', 'k8s.io', ...args], {
      timeoutMs: 300_000,
    });
  try {
    await until('containerd answers', () => ctr('version').then(Boolean, () => false), 60_000);
    for (const { file, names } of archives) {
      await ctr('images', 'import', file);
      const [first = '', ...others] = names;
      for (const other of others) await ctr('images', 'tag', first, other);
    }
  } finally {
    await child.stop();
  }
}

/** Starts everything except the nodes' own parts, and locks other runs out until its release. */
async function hold(layout: ClusterLayout): Promise<() => Promise<void>> {
  const released = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const all = withFileLock(layout.lockFile, async () => {
    held.resolve();
    await released.promise;
  });
  all.catch(held.reject);
  await held.promise;
  return async () => {
    released.resolve();
    await all;
  };
}

export interface ClusterOptions {
  /** The namespace whose service accounts' requests are audited. */
  audited: string;
  onProgress?: (step: string) => void;
  /** Called as soon as the machine has the address at which pods find services outside the cluster. */
  onAddress?: (address: string) => void;
}

const planeArgs = (auditArgs: string[]) => ({
  // Some clusters require a right for an owner reference that blocks; a pass here is a pass there.
  'kube-apiserver': ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement', ...auditArgs],
  // The tests wait until a silent node counts as lost.
  'kube-controller-manager': [`--node-monitor-grace-period=${NODE_GRACE}`, '--node-monitor-period=1s'],
});

/** Starts both nodes side by side, except for their kubelets. */
async function startNodes(
  options: Omit<NodeOptions, 'node'>,
  images: Promise<{ store: string }>,
  kubectl: Kubectl,
): Promise<ClusterNode[]> {
  const { store } = await images;
  const nodes = await Promise.all(
    options.layout.nodes.map(async (node) => {
      mkdirSync(node.dir, { recursive: true });
      // Names outside the cluster are for the machine, not for its pods.
      writeFileSync(join(node.dir, 'resolv.conf'), '');
      await giveImages(store, node);
      return startNode({ ...options, node });
    }),
  );
  for (const { start, layout } of nodes) {
    await start('kubelet');
    await until(`${layout.name} is known`, async () => (await kubectl(['get', 'node', layout.name])).ok, 60_000);
    await start('enforcer');
  }
  return nodes;
}

export async function startCluster({ audited, onProgress = () => {}, onAddress }: ClusterOptions) {
  await ensurePrograms(MACHINE_PROGRAMS, { onProgress });
  const { kubernetes: binaries, enforcer } = await ensureClusterPrograms(onProgress);
  const layout = clusterLayout(localEnvironment().cacheDir);
  const letGo = await hold(layout);
  let plane: ControlPlane | undefined;
  let images: ReturnType<typeof ensureImageStore> | undefined;
  const stop = async () => {
    await plane?.stop();
    // An image that is still being built keeps its builder's files.
    await Promise.allSettled([images]);
    await takeDown(layout);
    await letGo();
  };
  try {
    await takeDown(layout);
    claimMachine(layout);
    images = ensureImageStore(layout.imagesDir, (root, archives) => importImages(layout, root, archives), onProgress);
    images.catch(() => undefined);
    onProgress('starting the cluster');
    await makeNetwork(layout);
    onAddress?.(layout.gateway);
    for (const { id } of layout.nodes) makeCgroup(id);
    const log = createLogger('kubernetes', 'warn');
    const audit = clusterAudit(join(layout.stateDir, 'audit'), audited);
    plane = await startControlPlane({
      extraArgs: planeArgs(audit.args),
      stateDir: layout.stateDir,
      binaries,
      env: environment(),
      host: layout.gateway,
      unsafeNoFsync: true,
      log,
    });
    const started = plane;
    const kube = createKube({ kubeconfig: plane.kubeconfig });
    // kube-apiserver validates what is applied. For kubectl to do so first, each process would read the schemas of all kinds.
    const kubectl: Kubectl = (args, objects) =>
      run(binaries.kubectl, objects ? [...args, '--validate=false'] : args, {
        env: { PATH: environment().PATH, HOME: layout.stateDir, KUBECONFIG: started.kubeconfig },
        timeoutMs: 240_000,
        ...(objects && { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) }),
      });
    const nodes = await startNodes({ layout, plane, binaries, enforcer }, images, kubectl);
    await installAddons(kubectl, plane, layout);
    const { imageBytes, prepareImageBytes } = await images;
    const kubectlPath = binaries.kubectl;
    return {
      layout,
      plane,
      kube,
      kubectl,
      kubectlPath,
      nodes,
      imageBytes,
      prepareImageBytes,
      audit,
      stop: () => kube.close().then(stop),
    };
  } catch (error) {
    await stop().catch((failure: unknown) => log(failure));
    throw error;
  }
}
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const log = (failure: unknown) => createLogger('cluster', 'warn').warn({ failure }, 'the cluster did not end cleanly');

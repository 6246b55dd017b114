/**
 * A real Kubernetes on this machine: the control plane on a bridge's address, two nodes with containerd, kubelet and
 * kube-proxy, DNS in pods. Gone without a trace after `stop`, or at the latest when the next one starts.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, localEnvironment } from '../../../src/config.ts';
import { createKube } from '../../../src/kube/client.ts';
import { withFileLock } from '../../../src/local/filelock.ts';
import { type ControlPlane, startControlPlane } from '../../../src/local/kubernetes/controlplane.ts';
import { spawnChild } from '../../../src/local/processes.ts';
import { run } from '../../../src/local/run.ts';
import { createLogger } from '../../../src/log.ts';
import { until } from '../rtmp.ts';
import { installAddons, type Kubectl } from './addons.ts';
import { clusterAudit } from './audit.ts';
import { makeCgroup } from './cgroups.ts';
import { must } from './command.ts';
import { containerdConfig } from './config.ts';
import { claimMachine, takeDown } from './down.ts';
import { ensureImageStore } from './images.ts';
import { type ClusterLayout, clusterLayout } from './layout.ts';
import { makeNetwork } from './network.ts';
import { type ClusterNode, giveImages, startNode } from './node.ts';
import { ensureClusterPrograms, ensureMachinePrograms } from './programs.ts';

/** A containerd for as long as it takes to import images, in no network and no cgroup of its own. */
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
    must('ctr', ['--address', join(node.runDir, 'containerd.sock'), '--namespace', 'k8s.io', ...args], {
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

/** Everything but the nodes' own parts; `hold` keeps other runs out until it is let go. */
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

/** `audited` is the namespace whose service accounts' requests are kept. */
export async function startCluster(audited: string, onProgress: (step: string) => void = () => {}) {
  await ensureMachinePrograms(onProgress);
  const { kubernetes: binaries } = await ensureClusterPrograms(onProgress);
  const layout = clusterLayout(localEnvironment().cacheDir);
  const letGo = await hold(layout);
  let plane: ControlPlane | undefined;
  const stop = async () => {
    await plane?.stop();
    await takeDown(layout);
    await letGo();
  };
  try {
    await takeDown(layout);
    claimMachine(layout);
    const images = await ensureImageStore(
      layout.imagesDir,
      (root, archives) => importImages(layout, root, archives),
      onProgress,
    );
    onProgress('starting the cluster');
    await makeNetwork(layout);
    for (const { id } of layout.nodes) makeCgroup(id);
    const log = createLogger('kubernetes', 'warn');
    const audit = clusterAudit(join(layout.stateDir, 'audit'), audited);
    plane = await startControlPlane({
      // Some clusters ask whether who makes an owner reference that blocks may do so; what works here works there.
      extraArgs: {
        'kube-apiserver': ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement', ...audit.args],
        // A node that says nothing is given up after three of its heartbeats, not after five: the tests wait for that.
        'kube-controller-manager': ['--node-monitor-grace-period=30s'],
      },
      stateDir: layout.stateDir,
      binaries,
      env: environment(),
      host: layout.gateway,
      unsafeNoFsync: true,
      log,
    });
    const started = plane;
    const kube = createKube({ kubeconfig: plane.kubeconfig });
    const kubectl: Kubectl = (args, objects) =>
      run(binaries.kubectl, args, {
        env: { PATH: environment().PATH, HOME: layout.stateDir, KUBECONFIG: started.kubeconfig },
        timeoutMs: 240_000,
        ...(objects && { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) }),
      });
    const nodes: ClusterNode[] = [];
    // One after the other: the socket for device plug-ins has a fixed path, and of two kubelets that make it at once one ends.
    for (const node of layout.nodes) {
      mkdirSync(node.dir, { recursive: true });
      // Names outside of the cluster are for the machine, not for its pods.
      writeFileSync(join(node.dir, 'resolv.conf'), '');
      await giveImages(images.store, node);
      nodes.push(await startNode({ layout, node, plane, binaries }));
      await until(`${node.name} is known`, async () => (await kubectl(['get', 'node', node.name])).ok, 60_000);
    }
    await installAddons(kubectl, plane, layout);
    return { layout, plane, kube, kubectl, nodes, images, audit, stop: () => kube.close().then(stop) };
  } catch (error) {
    await stop().catch((failure: unknown) => log(failure));
    throw error;
  }
}
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const log = (failure: unknown) => createLogger('cluster', 'warn').warn({ failure }, 'the cluster did not end cleanly');

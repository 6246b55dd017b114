/**
 * Runs a real node: containerd, kubelet, kube-proxy and an enforcer of NetworkPolicies, in a network namespace and a cgroup of their own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import type { ControlPlane } from '../../../../tools/control-plane/controlplane.ts';
import type { NodeBinaries } from '../../../../tools/control-plane/programs.ts';
import { type Child, spawnChild } from '../../../../tools/process/processes.ts';
import { until } from '../../wait.ts';
import { endCgroup, systemCgroupFile } from './cgroups.ts';
import { runOrThrow, tryRun } from './command.ts';
import { cniConfig, containerdConfig, kubeletConfig, kubeProxyConfig } from './config.ts';
import { type ClusterLayout, type NodeLayout, SERVICE_CIDR } from './layout.ts';

type Part = 'containerd' | 'kubelet' | 'kube-proxy' | 'enforcer';

export interface ClusterNode {
  layout: NodeLayout;
  /** Resolves when the part is up. */
  start(part: Part): Promise<void>;
  /** Kills the part with SIGKILL, as in a crash. Containers go on. */
  kill(part: Part): Promise<void>;
  /** Kills every process of the node with SIGKILL, as a power cut does, except that its kernel ends the connections at once. */
  cutPower(): Promise<void>;
  /** Starts all parts of the node. */
  boot(): Promise<void>;
}

export interface NodeOptions {
  layout: ClusterLayout;
  node: NodeLayout;
  plane: ControlPlane;
  binaries: NodeBinaries;
  /** The program that enforces NetworkPolicies (test/kit/real/enforcer). */
  enforcer: string;
}

async function writeFiles({ node, plane }: NodeOptions): Promise<Record<string, string>> {
  for (const dir of [join(node.dir, 'cni'), node.runDir]) mkdirSync(dir, { recursive: true });
  const { certificates } = plane;
  const user = `system:node:${node.name}`;
  const { cert, key } = await certificates.issueServing(user, [node.address]);
  const file = (name: string) => join(node.dir, name);
  writeFileSync(file('serving.crt'), cert);
  writeFileSync(file('serving.key'), key, { mode: 0o600 });
  const nodeConfig = await plane.kubeconfigFor(node.name, { user, groups: ['system:nodes'] });
  const proxyConfig = await plane.kubeconfigFor('kube-proxy', { user: 'system:kube-proxy' });
  writeFileSync(file('containerd.toml'), containerdConfig(node));
  writeFileSync(file('cni/10-pods.conflist'), cniConfig(node));
  writeFileSync(file('kubelet.yaml'), kubeletConfig(node, certificates.caFile));
  writeFileSync(file('kube-proxy.yaml'), kubeProxyConfig(node, proxyConfig));
  const enforcerConfig = await plane.kubeconfigFor('enforcer', { user: 'enforcer', groups: ['system:masters'] });
  return { nodeConfig, enforcerConfig };
}

/** The commands of the parts; they find their sockets and files by `node`. */
const commands = (
  { node, binaries, enforcer }: NodeOptions,
  kubeconfig: string,
  enforcerConfig: string,
): Record<Part, [string, ...string[]]> => ({
  containerd: ['containerd', '--config', join(node.dir, 'containerd.toml'), '--log-level', 'warn'],
  kubelet: [
    binaries.kubelet,
    `--config=${join(node.dir, 'kubelet.yaml')}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${join(node.dir, 'kubelet')}`,
    `--cert-dir=${join(node.dir, 'kubelet/pki')}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${node.address}`,
  ],
  'kube-proxy': [binaries.kubeProxy, `--config=${join(node.dir, 'kube-proxy.yaml')}`],
  enforcer: [enforcer, '-kubeconfig', enforcerConfig, '-node', node.name, '-services', SERVICE_CIDR],
});

/**
 * Starts all parts except kubelet: the socket for device plug-ins has a fixed path, and of two kubelets that make it at once one ends.
 * `node.dir` has the images already.
 */
export async function startNode(options: NodeOptions): Promise<ClusterNode> {
  const { layout, node } = options;
  const { nodeConfig = '', enforcerConfig = '' } = await writeFiles(options);
  const lines = commands(options, nodeConfig, enforcerConfig);
  const children = new Map<Part, Child>();
  // The mount namespace is the host's: `ip netns exec` would give another /sys, without cgroups.
  const enter = `echo $$ > ${systemCgroupFile(node.id)}; exec nsenter --net=/run/netns/${node.id} "$@"`;
  const { PATH = '' } = environment();
  const env = { PATH: `${PATH}:/usr/local/sbin:/usr/sbin:/sbin`, HOME: node.dir, TMPDIR: '/tmp' };

  const isUp: Record<Part, () => Promise<boolean>> = {
    containerd: () => tryRun('ctr', ['--address', join(node.runDir, 'containerd.sock'), 'version']),
    kubelet: () => tryRun('ip', ['netns', 'exec', node.id, 'curl', '-sf', 'http://127.0.0.1:10248/healthz']),
    'kube-proxy': () => tryRun('ip', ['netns', 'exec', node.id, 'curl', '-sf', 'http://127.0.0.1:10256/livez']),
    enforcer: () => tryRun('ip', ['netns', 'exec', node.id, 'iptables', '-w', '-n', '-L', 'KUBE-NWPLCY-DEFAULT']),
  };
  const start = async (part: Part) => {
    const child = await spawnChild({
      name: `${part} of ${node.name}`,
      command: '/bin/sh',
      args: ['-c', enter, 'sh', ...lines[part]],
      env,
      logFile: join(layout.stateDir, 'logs', `${part}-${node.name}.log`),
      stateDir: layout.stateDir,
    });
    children.set(part, child);
    let exit: string | undefined;
    void child.exited.then(({ lastLogLines }) => {
      exit = lastLogLines.join('\n') || 'without a word';
    });
    await until(
      `${part} of ${node.name} is up`,
      async () => {
        if (exit !== undefined) throw new Error(`${part} of ${node.name} ended: ${exit}`);
        return isUp[part]();
      },
      120_000,
    );
  };
  const kill = async (part: Part) => {
    const child = children.get(part);
    if (!child) return;
    // The signal goes to its own process alone: shims have a group of their own, and outlive containerd by design.
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    children.delete(part);
  };
  const cutPower = async () => {
    // kubelet ends first, so that it cannot report the end of the others.
    for (const part of ['kubelet', 'containerd', 'kube-proxy', 'enforcer'] as const) await kill(part);
    await endCgroup(node.id);
  };
  const boot = async () => {
    await start('containerd');
    await Promise.all([start('kubelet'), start('kube-proxy'), start('enforcer')]);
  };
  await Promise.all([start('containerd'), start('kube-proxy')]);
  return { layout: node, start, kill, cutPower, boot };
}

/** Image files are hard links: only the databases are written to. */
export async function giveImages(store: string, node: NodeLayout): Promise<void> {
  mkdirSync(node.dir, { recursive: true });
  const target = join(node.dir, 'containerd');
  await runOrThrow('cp', ['-al', store, target], { timeoutMs: 300_000 });
  const databases = (await runOrThrow('find', [target, '-xdev', '-name', '*.db'])).split('\n').filter(Boolean);
  for (const file of databases) {
    await runOrThrow('cp', [file, `${file}.own`]);
    await runOrThrow('mv', [`${file}.own`, file]);
  }
}

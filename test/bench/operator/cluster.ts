/**
 * Starts a cluster for the operator's benchmark: the real control plane, and nodes of kwok, which report a bound pod as running at once.
 * Controllers and scheduler have no limit of requests, so that no peer is held back.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKube } from '../../../src/core/kube/client.ts';
import { LEASES, NAMESPACES, NODES } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { ensureGoModule } from '../../../tools/control-plane/go-module.ts';
import { applyRights, serviceAccountUser } from '../../../tools/local/rights.ts';
import { type Child, spawnChild } from '../../../tools/process/processes.ts';
import { startTestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';
import { type Audit, createAudit } from './audit.ts';
import type { EtcdAccess } from './etcd.ts';

const KWOK = {
  file: 'kwok',
  name: 'kwok',
  moduleDir: join(import.meta.dirname, 'kwok'),
  programs: { kwok: { goPackage: 'sigs.k8s.io/kwok/cmd/kwok' } },
};

interface Nodes {
  count: number;
  cpu: string;
}
const LARGE: Nodes = { count: 10, cpu: '100k' };
const UNLIMITED = ['--kube-api-qps=5000', '--kube-api-burst=10000'];
/** The namespace of the peers' objects; ours are where manifests/rbac.yaml lets the operator work. */
export const PEERS = 'peers';

export interface BenchCluster {
  /** The administrator's client. */
  kube: Kube;
  /** The kubeconfig of processes with the operator's rights. */
  operatorKubeconfig: string;
  audit: Audit;
  kwokPid: number;
  /** Process ids of the control plane's parts and of kwok, by name. */
  parts: Readonly<Record<string, number>>;
  etcd: EtcdAccess;
  dir: string;
  /** Processes that stop before the cluster; stopping one twice is fine. */
  clients: { stop(): Promise<void> }[];
  stop(): Promise<void>;
}

export async function startCluster(say: (text: string) => void, nodes = LARGE): Promise<BenchCluster> {
  const { kwok: kwokPath } = await ensureGoModule(KWOK, say);
  const dir = await mkdtemp(join(tmpdir(), 'bench-operator-'));
  const audit = createAudit(dir, serviceAccountUser('loopstream-operator'));
  const plane = await startTestKubernetes({
    extraArgs: {
      // As much as etcd recommends at most; by default it refuses writes at 2 GiB.
      etcd: [`--quota-backend-bytes=${8 * 2 ** 30}`],
      'kube-apiserver': audit.args,
      'kube-controller-manager': [...UNLIMITED, '--concurrent-cron-job-syncs=50', '--concurrent-job-syncs=50'],
      'kube-scheduler': UNLIMITED,
    },
  });
  const kube = createKube({ kubeconfig: plane.kubeconfig });
  let kwok: Child | undefined;
  const clients: BenchCluster['clients'] = [];
  const stop = async () => {
    await Promise.all(clients.map((client) => client.stop()));
    await kwok?.stop();
    await kube.close();
    await plane.stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await Promise.all([applyCrds(kube), applyRights(kube)]);
    await kube.create(NAMESPACES, '', { metadata: { name: PEERS }, spec: {} });
    await createNodes(kube, nodes);
    kwok = await spawnChild({
      name: 'kwok',
      command: kwokPath,
      args: [
        `--kubeconfig=${plane.kubeconfig}`,
        '--manage-all-nodes=true',
        `--config=${join(import.meta.dirname, 'stages.yaml')}`,
        '--cidr=127.128.0.0/9',
        '--node-lease-duration-seconds=40',
      ],
      env: { HOME: dir, PATH: environment().PATH ?? '' },
      logFile: join(dir, 'kwok.log'),
      stateDir: dir,
    });
    await until(
      'kwok looks after the nodes',
      async () => (await kube.list(LEASES, { namespace: 'kube-node-lease' })).length === nodes.count,
      60_000,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const operatorKubeconfig = await plane.kubeconfigFor('operator', {
    user: serviceAccountUser('loopstream-operator'),
  });
  const { etcdUrl, certificates } = plane;
  const [cert, key, ca] = [certificates.etcdClient.certFile, certificates.etcdClient.keyFile, certificates.etcdCaFile];
  const etcd = { url: etcdUrl, certFile: cert, keyFile: key, caFile: ca };
  const parts = { ...plane.pids, kwok: kwok.pid };
  return { kube, operatorKubeconfig, audit, kwokPid: kwok.pid, parts, etcd, dir, clients, stop };
}

/** Creates nodes that are ready, with room for everything but the processors. */
async function createNodes(kube: Kube, { count, cpu }: Nodes): Promise<void> {
  const room = { cpu, memory: '100Ti', pods: '100k', 'ephemeral-storage': '1000Ti' };
  for (let n = 0; n < count; n++) {
    const now = new Date().toISOString();
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
    await kube.create(NODES, '', {
      metadata: { name: `node-${n}`, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': `node-${n}` } },
      spec: {},
      status: {
        capacity: room,
        allocatable: room,
        conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }],
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      },
    });
  }
}

/** Maintains the Node object and its lease, which tell the cluster that this node is there. */
import { availableParallelism, machine, release, totalmem } from 'node:os';
import { LEASES, NODES } from '../../src/core/kube/core.ts';
import { KubeError, type KubeObject, type Stored } from '../../src/core/kube/types.ts';
import { kubeTime, sleep } from '../../src/core/lib/clock.ts';
import type { NodeContext } from './context.ts';

const FIELD_MANAGER = 'loopstream-node';
const LEASE_NAMESPACE = 'kube-node-lease';
/** The values of a kubelet: renewed every 10 s, dead after 40 s without. */
const HEARTBEAT_MS = 10_000;
const LEASE_SECONDS = 40;
const STATUS_EVERY_MS = 60_000;
const RETRY_MS = 1000;

export interface NodeFacts {
  name: string;
  addresses: { type: string; address: string }[];
  /** Port of the kubelet API. */
  port: number;
  /** Kubernetes quantities; what is not given is what the machine has, and 110 pods. */
  capacity?: { cpu?: string; memory?: string; pods?: string };
}

const ARCHITECTURES: Record<string, string> = { x86_64: 'amd64', aarch64: 'arm64' };

export function computeCapacity({
  capacity = {},
}: Pick<NodeFacts, 'capacity'>): Record<'cpu' | 'memory' | 'pods', string> {
  return {
    cpu: capacity.cpu ?? String(availableParallelism()),
    memory: capacity.memory ?? `${Math.floor(totalmem() / 1024)}Ki`,
    pods: capacity.pods ?? '110',
  };
}

type NodeStatus = { conditions?: { type: string; status: string; lastTransitionTime?: string }[] };
type NodeObject = Stored<KubeObject<unknown, NodeStatus>>;

const CONDITIONS: [type: string, status: string, reason: string, message: string][] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'the node agent does not measure memory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'the node agent does not measure disks'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'the node agent does not measure processes'],
  ['Ready', 'True', 'KubeletReady', 'the node agent is posting ready status'],
];

function nodeStatus(facts: NodeFacts, previous: NodeStatus | undefined, now: string): Record<string, unknown> {
  const capacity = computeCapacity(facts);
  return {
    capacity,
    allocatable: capacity,
    addresses: facts.addresses,
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    conditions: CONDITIONS.map(([type, status, reason, message]) => {
      const before = previous?.conditions?.find((condition) => condition.type === type);
      const since = before?.status === status ? before.lastTransitionTime : undefined;
      return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
    }),
    nodeInfo: {
      architecture: ARCHITECTURES[machine()] ?? machine(),
      operatingSystem: 'linux',
      kernelVersion: release(),
      osImage: 'Linux',
      containerRuntimeVersion: 'local://0.1.0',
      kubeletVersion: 'v1.36.0+loopstream',
      kubeProxyVersion: '',
      machineID: facts.name,
      systemUUID: facts.name,
      bootID: facts.name,
    },
  };
}

/** Registers the node, or takes over the one of this name, and resolves when it is Ready; then keeps it so until the signal. */
export async function keepNode(context: NodeContext, facts: NodeFacts, signal: AbortSignal): Promise<void> {
  const keeper = new NodeKeeper(context, facts);
  for (;;) {
    try {
      await keeper.beat();
      break;
    } catch (err) {
      context.log.warn({ err }, 'the node is not registered yet');
      await sleep(RETRY_MS, signal);
    }
  }
  void keeper.keep(signal);
}

class NodeKeeper {
  readonly #context: NodeContext;
  readonly #facts: NodeFacts;
  #statusAt = Number.NEGATIVE_INFINITY;

  constructor(context: NodeContext, facts: NodeFacts) {
    this.#context = context;
    this.#facts = facts;
  }

  async keep(signal: AbortSignal): Promise<void> {
    let leased = await this.#tryBeat(signal);
    while (!signal.aborted) {
      // Right after the first start the namespace of leases may not be there yet.
      await sleep(leased ? HEARTBEAT_MS : RETRY_MS, signal).catch(() => {});
      leased = await this.#tryBeat(signal);
    }
  }

  async #tryBeat(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return true;
    try {
      await this.#renewLease(await this.beat());
      return true;
    } catch (err) {
      this.#context.log.warn({ err }, 'a heartbeat of the node was not written');
      return false;
    }
  }

  /** Makes the node and its status what they should be. */
  async beat(): Promise<NodeObject> {
    const { name } = this.#facts;
    const { kube } = this.#context;
    const node = (await this.#read()) ?? (await this.#register());
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    if (ready && performance.now() - this.#statusAt < STATUS_EVERY_MS) return node;
    const now = kubeTime(this.#context.clock.now());
    const status = nodeStatus(this.#facts, node.status, now);
    const object = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status };
    await kube.apply(NODES, '', object, { fieldManager: FIELD_MANAGER, subresource: 'status' });
    this.#statusAt = performance.now();
    return node;
  }

  async #read(): Promise<NodeObject | undefined> {
    try {
      return (await this.#context.kube.get(NODES, '', this.#facts.name)) as NodeObject;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #register(): Promise<NodeObject> {
    const { name } = this.#facts;
    const arch = ARCHITECTURES[machine()] ?? machine();
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': arch,
    };
    const object = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
    return (await this.#context.kube.apply(NODES, '', object, { fieldManager: FIELD_MANAGER })) as NodeObject;
  }

  async #renewLease(node: NodeObject): Promise<void> {
    const { name, uid } = node.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid };
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: this.#context.clock.now().toISOString().replace('Z', '000Z'),
    };
    const metadata = { name, namespace: LEASE_NAMESPACE, ownerReferences: [owner] };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await this.#context.kube.apply(LEASES, LEASE_NAMESPACE, lease, { fieldManager: FIELD_MANAGER });
  }
}

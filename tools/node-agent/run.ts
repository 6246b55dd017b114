/**
 * Runs a node agent, in place of a kubelet where there is no container runtime. It registers a Node with the real API
 * server and runs the pods bound to it as processes of this machine.
 *
 * Like any node it has: status, conditions and container states; restart policies; init containers and sidecars; probes;
 * grace periods; termination messages; volumes (emptyDir, hostPath, claims of such, secret, configMap, downwardAPI,
 * projected) and parts of them (subPath), with atomic updates; `kubectl logs`; events; the lease.
 *
 * It lacks: images (a program of this machine stands for each); network and mount namespaces (each pod has a loopback
 * address of its own, and mount paths are rewritten: paths.ts); limits; users (containers run as the agent's user,
 * securityContext is ignored); exec; and addresses for Services or the API server's pod proxy, since Kubernetes refuses
 * loopback ones there.
 *
 * When an agent is killed its containers go on. The next one ends them before it starts them anew, so that no container
 * runs twice. A container whose restart policy is Never is then not started again. Nobody knows how it ended, and the
 * pod has failed, as on a node that lost power.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PODS, type Pod } from '../../src/core/kube/core.ts';
import { createEventRecorder } from '../../src/core/kube/events.ts';
import { createReflector } from '../../src/core/kube/reflector.ts';
import type { Kube } from '../../src/core/kube/types.ts';
import { type Clock, systemClock } from '../../src/core/lib/clock.ts';
import type { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import { Addresses } from './addresses.ts';
import { readRecord } from './container-process.ts';
import type { NodeContext } from './context.ts';
import { computeCapacity, keepNode, type NodeFacts } from './node-object.ts';
import { PodWorker } from './pod.ts';
import { sweepContainers } from './proc.ts';
import { type ServerOptions, serve } from './server.ts';
import { Sources } from './sources.ts';
import { isOver } from './status.ts';
import { getSpec, podKey } from './types.ts';

export interface NodeOptions {
  kube: Kube;
  /** A DNS subdomain. */
  nodeName: string;
  /** Pods, their volumes and logs are in `pods` below it. One agent at a time may use it. Its path has no quotes. */
  stateDir: string;
  /** Image name, exactly as pods name it → the argv that stands for its entrypoint, beginning with an absolute path. */
  images: Readonly<Record<string, readonly string[]>>;
  /** Path in an image, for pods that name it in their command → the file of this machine that stands for it. */
  imageFiles?: Readonly<Record<string, string>>;
  /** Returns the variables of the images at each start of a container; none by default. */
  imageEnvironment?: () => Readonly<Record<string, string>>;
  /** The range of the pods' loopback addresses; 127.16.0.0/16 by default. */
  podCidr?: string;
  /** The serving certificate of the kubelet API and the CA of those who may call it, in PEM. */
  tls: ServerOptions['tls'];
  /** Port of the kubelet API; 0, a free port, by default. */
  port?: number;
  /** InternalIP 127.0.0.1 by default. */
  addresses?: NodeFacts['addresses'];
  /** Kubernetes quantities; the machine's own and 110 pods by default. */
  capacity?: NonNullable<NodeFacts['capacity']>;
  /** PATH of the containers; the directory of this Node and the system's usual ones by default. */
  path?: string;
  /** Give all containers the same share of the processors; by default in proportion of their requests. */
  equalShares?: boolean;
  log: Logger;
  clock?: Clock;
}

export interface RunningNode {
  /** Port of the kubelet API. */
  port: number;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const STOP_TIMEOUT_MS = 8000;

/**
 * Ends what an earlier agent left, registers the node and begins to run its pods. Resolves when the node is Ready.
 * `lifecycle.stop()` ends the containers within 5 s and leaves their Pod objects to the next agent.
 */
export async function runNode(options: NodeOptions, lifecycle: Lifecycle): Promise<RunningNode> {
  const { kube, nodeName, stateDir, images, clock = systemClock, equalShares = false } = options;
  const log = options.log.child({ node: nodeName });
  const podsDir = join(stateDir, 'pods');
  await mkdir(podsDir, { recursive: true, mode: 0o700 });
  const ended = await sweep(podsDir);
  if (ended > 0) log.info({ processes: ended }, 'stopped the containers of an earlier agent');

  const addresses = options.addresses ?? [{ type: 'InternalIP', address: '127.0.0.1' }];
  const hostIP = addresses.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1';
  const events = createEventRecorder(kube, { component: 'kubelet', log, clock });
  lifecycle.defer('node events', () => events.flush(), 2000);
  const context: NodeContext = {
    kube,
    log,
    clock,
    images,
    imageFiles: Object.entries(options.imageFiles ?? {}).map(([mountPath, realPath]) => ({ mountPath, realPath })),
    imageEnvironment: options.imageEnvironment ?? (() => ({})),
    hostIP,
    podsDir,
    equalShares,
    sources: new Sources(kube, clock),
    path: options.path ?? `${dirname(process.execPath)}:${SYSTEM_PATH}`,
    emit: (pod, type, reason, message) =>
      events.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, { type, reason, message }),
  };
  const facts: NodeFacts = { name: nodeName, addresses, port: 0, capacity: options.capacity ?? {} };
  const pods = new NodePods(context, options.podCidr ?? '127.16.0.0/16', Number(computeCapacity(facts).pods));
  lifecycle.defer('node pods', () => pods.halt(), STOP_TIMEOUT_MS);
  const server = await serve({ host: hostIP, port: options.port ?? 0, tls: options.tls, log, pods: () => pods.all() });
  lifecycle.defer('node server', () => server.close());
  facts.port = server.port;

  const reflector = createReflector(kube, PODS, { fieldSelector: `spec.nodeName=${nodeName}`, log });
  reflector.onChange((_key, current, previous) => pods.changed(current, previous));
  reflector.start(lifecycle.signal);
  await reflector.synced;
  await removeStrangers(podsDir, pods);
  await keepNode(context, facts, lifecycle.signal);
  log.info({ port: server.port, pods: pods.all().length }, 'the node is ready');
  return { port: server.port };
}

/** The pods of this node by UID; a pod waits for the one that had its name before it. */
class NodePods {
  readonly #context: NodeContext;
  readonly #addresses: Addresses;
  readonly #maxPods: number;
  readonly #workers = new Map<string, PodWorker>();
  #halted = false;

  constructor(context: NodeContext, cidr: string, maxPods: number) {
    this.#context = context;
    this.#addresses = new Addresses(cidr);
    this.#maxPods = maxPods;
  }

  all(): PodWorker[] {
    return [...this.#workers.values()];
  }

  has(uid: string): boolean {
    return this.#workers.has(uid);
  }

  changed(current: Pod | undefined, previous: Pod | undefined): void {
    if (previous && previous.metadata.uid !== current?.metadata.uid)
      this.#workers.get(previous.metadata.uid)?.removed();
    if (!current || this.#halted) return;
    const known = this.#workers.get(current.metadata.uid);
    if (known) known.update(current);
    else this.#add(current);
  }

  async halt(): Promise<void> {
    this.#halted = true;
    await Promise.all(this.all().map((worker) => worker.halt()));
  }

  #add(pod: Pod): void {
    const { hostIP } = this.#context;
    const { uid } = pod.metadata;
    const before = this.all().filter((worker) => podKey(worker.pod) === podKey(pod));
    const active = this.all().filter((worker) => !worker.isOver).length;
    const rejected =
      active >= this.#maxPods && !isOver(pod.status)
        ? { reason: 'OutOfpods', message: `Pod was rejected: the node has room for ${this.#maxPods} pods` }
        : undefined;
    const podIP = getSpec(pod).hostNetwork ? hostIP : this.#addresses.claim(uid, pod.status?.podIP);
    const after = Promise.all(before.map((worker) => worker.done)).then(() => {});
    const worker = new PodWorker(pod, this.#context, { after, address: { podIP, hostIP }, rejected });
    this.#workers.set(uid, worker);
    void worker.done.then(() => {
      this.#workers.delete(uid);
      this.#addresses.release(uid);
    });
  }
}

/** Ends the processes that the records in the pods' directories name. */
async function sweep(podsDir: string): Promise<number> {
  const files: string[] = [];
  for (const uid of await readdir(podsDir)) {
    for (const name of await readdir(join(podsDir, uid)).catch(() => [])) {
      files.push(join(podsDir, uid, name, 'process.json'));
    }
  }
  const records = files.flatMap((file) => readRecord(file) ?? []);
  const ended = await sweepContainers(records);
  await Promise.all(files.map((file) => rm(file, { force: true })));
  return ended;
}

/** Removes the directories of pods that are no longer on this node. */
async function removeStrangers(podsDir: string, pods: NodePods): Promise<void> {
  for (const uid of await readdir(podsDir)) {
    if (!pods.has(uid)) await rm(join(podsDir, uid), { recursive: true, force: true });
  }
}

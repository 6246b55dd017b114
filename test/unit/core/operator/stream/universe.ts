/**
 * Models the world of the operator's real code: an API server with optimistic locking and finalizers, kubelets with delays, stale caches,
 * and pods with visible publishing. Nothing waits for real time: the possible next events are a list, and the test chooses.
 */

import type { Pod, Secret } from '../../../../../src/core/kube/core.ts';
import {
  type Kube,
  KubeError,
  type KubeObject,
  type Resource,
  type Stored,
} from '../../../../../src/core/kube/types.ts';
import { countRestarts } from '../../../../../src/core/operator/pods/status.ts';
import type { StreamControllerDeps } from '../../../../../src/core/operator/stream/controller-deps.ts';
import { isGrantedPod } from '../../../../../src/core/operator/stream/granted-pods.ts';
import { reconcileStream } from '../../../../../src/core/operator/stream/reconcile.ts';
import { createViewKeys } from '../../../../../src/core/operator/stream/view-keys.ts';
import { PUBLISHER_KEY, streamSecretName } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { destination, NAMESPACE, SETTINGS, stream, upload } from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';
import { clone, merge } from './json.ts';

type Any = Stored<KubeObject<Record<string, unknown>, Record<string, unknown>>> & { data?: Record<string, string> };

const KEY = 'loopstreams/bunny';
/** A process on a node: a container of a pod, with its copy of the stream's Secret. */
interface Process {
  pod: string;
  node: string;
  /** False until it has read, or was told, that it may publish. */
  open: boolean;
  stopped: boolean;
  /** The pod keeps the grant of an operator of the release before. */
  granted: boolean;
  /** The operators have its report that it is held. */
  toldHeld: boolean;
  /** The publisher in its files, which kubelet updates now and then. */
  file: string | undefined;
  /** How often it was started anew. */
  restarts: number;
}

export const NODES = ['node-a', 'node-b', 'node-c'];
const OUT_OF_SERVICE = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };

export class Universe {
  readonly objects = new Map<string, Any>();
  readonly processes = new Map<string, Process>();
  /** Nodes without a connection: nobody reaches their processes, which go on. */
  readonly silentNodes = new Set<string>();
  nowMs = Date.parse('2026-06-01T12:00:00Z');
  writes = 0;
  /** Requests so far, such as `create pods`. */
  readonly requests: string[] = [];
  lingers = false;
  /** The namespace is being deleted: nothing is made in it any more. */
  isEnding = false;
  /** The reports of pods of this release arrive. Nothing but a Secret that somebody deletes needs them. */
  reportsArrive = false;
  /** The operators may not write the status of pods. */
  lacksPodStatus = false;
  #version = 100;
  #uids = 0;

  constructor() {
    const put = (plural: string, object: unknown) =>
      this.#put(`${plural}/${(object as Any).metadata.name}`, object as Any);
    put('loopstreams', stream());
    put('destinations', destination());
    put('uploads', upload());
    for (const name of NODES) put('nodes', { metadata: { name, uid: name }, spec: {} });
    put('secrets', {
      metadata: { name: 'tv-secret', uid: 's' },
      data: { rtmpUrl: 'eA==', rtmpKey: 'eA==', controlKey: 'eA==' },
    });
  }

  /**
   * The release before has started this pod, which runs: it was granted to publish, or its report that it is held was not answered yet. The
   * status names it if `isNamed`.
   */
  adopt(pod: Pod, { isGranted, isNamed }: { isGranted: boolean; isNamed: boolean }): void {
    const { uid, name } = pod.metadata;
    this.#put(`pods/${name}`, pod as unknown as Any);
    const told = { open: isGranted, granted: isGranted, toldHeld: false };
    const process = { pod: uid, node: NODES[0] ?? '', stopped: false, file: undefined, restarts: 0, ...told };
    this.processes.set(uid, process);
    const epoch = new Date(this.nowMs).toISOString();
    if (isNamed) this.edit(KEY, (object) => void Object.assign(object, { status: { podUID: uid, epoch } }));
  }

  #put(key: string, object: Any): Any {
    const stored = clone(object);
    stored.metadata.resourceVersion = String(++this.#version);
    this.objects.set(key, stored);
    return clone(stored);
  }

  get stream(): LoopStream | undefined {
    return this.objects.get(KEY) as unknown as LoopStream | undefined;
  }

  get pods(): Pod[] {
    return [...this.objects].filter(([key]) => key.startsWith('pods/')).map(([, pod]) => pod as unknown as Pod);
  }

  /** UIDs of the pods that publish now. */
  get publishing(): string[] {
    return [...this.processes.values()].filter(({ open, stopped }) => open && !stopped).map(({ pod }) => pod);
  }

  edit(key: string, change: (object: Any) => void): void {
    const object = this.objects.get(key);
    if (!object) return;
    change(object);
    this.#put(key, object);
    this.#collect(key);
  }

  /** A deleted object goes with its last finalizer. */
  #collect(key: string): void {
    const { metadata } = this.objects.get(key) ?? {};
    if (metadata?.deletionTimestamp && metadata.deletionGracePeriodSeconds === 0 && !metadata.finalizers?.length)
      this.objects.delete(key);
  }

  delete(key: string, graceSeconds: number): void {
    const object = this.objects.get(key);
    if (!object) return;
    const { metadata, spec } = object;
    const grace = key.startsWith('pods/') && spec.nodeName !== undefined ? graceSeconds : 0;
    this.edit(key, (object) => {
      object.metadata.deletionTimestamp = new Date(this.nowMs).toISOString();
      object.metadata.deletionGracePeriodSeconds = Math.min(grace, metadata.deletionGracePeriodSeconds ?? grace);
    });
  }

  /** A client of the API server; it awaits `pause` before each request arrives, and again before its answer. */
  kube(pause: () => Promise<void>): Kube {
    const key = (resource: Resource, name: string) => `${resource.plural}/${name}`;
    const fail = (status: number, reason: string) => new KubeError(status, reason, reason);
    const request = async <T>(verb: string, { plural }: Resource, act: () => T): Promise<T> => {
      this.requests.push(`${verb} ${plural}`);
      await pause();
      const answer = act();
      await pause();
      return answer;
    };
    const found = (resource: Resource, name: string): Any => {
      const object = this.objects.get(key(resource, name));
      if (!object) throw fail(404, 'NotFound');
      return object;
    };
    const check = (object: Any, metadata: { uid?: string; resourceVersion?: string } = {}) => {
      if (metadata.uid !== undefined && metadata.uid !== object.metadata.uid) throw fail(409, 'Conflict');
      if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== object.metadata.resourceVersion)
        throw fail(409, 'Conflict');
    };
    const write = (name: string, object: Any): Any => {
      this.writes++;
      const stored = this.#put(name, object);
      this.#collect(name);
      return stored;
    };
    const kube = {
      get: (resource: Resource, _: string, name: string) =>
        request('get', resource, () => clone(found(resource, name))),
      page: (resource: Resource, { fieldSelector = '' }: { fieldSelector?: string }) =>
        request('page', resource, () => {
          const name = fieldSelector.replace('metadata.name=', '');
          const node = clone(found(resource, name));
          const status = this.silentNodes.has(name) ? 'Unknown' : 'True';
          return { items: [{ ...node, status: { conditions: [{ type: 'Ready', status }] } }] };
        }),
      create: (resource: Resource, _: string, object: Any) =>
        request('create', resource, () => {
          const name = key(resource, object.metadata.name);
          if (this.isEnding) {
            const words = `unable to create new content in namespace ${NAMESPACE} because it is being terminated`;
            throw new KubeError(403, 'Forbidden', words);
          }
          if (this.objects.has(name)) throw fail(409, 'AlreadyExists');
          const { stringData, ...rest } = clone(object) as Any & { stringData?: Record<string, string> };
          const data = Object.entries(stringData ?? {}).map(([k, v]) => [k, Buffer.from(v).toString('base64')]);
          const creationTimestamp = new Date(this.nowMs).toISOString();
          const metadata = { ...rest.metadata, uid: `${name}#${++this.#uids}`, creationTimestamp };
          return write(name, { ...rest, metadata, ...(stringData && { data: Object.fromEntries(data) }) } as Any);
        }),
      replace: (resource: Resource, _: string, object: Any, { subresource }: { subresource?: string } = {}) =>
        request('replace', resource, () => {
          const before = found(resource, object.metadata.name);
          check(before, object.metadata);
          const next = subresource ? { ...before, status: clone(object.status) } : clone(object);
          const types = (next as unknown as LoopStream).status?.conditions?.map(({ type }) => type) ?? [];
          if (new Set(types).size < types.length) throw fail(422, 'Invalid');
          return write(key(resource, object.metadata.name), next as Any);
        }),
      mergePatch: (
        resource: Resource,
        _: string,
        name: string,
        patch: { metadata?: Any['metadata'] },
        { subresource }: { subresource?: string } = {},
      ) =>
        request('mergePatch', resource, () => {
          if (this.lacksPodStatus && subresource === 'status') throw fail(403, 'Forbidden');
          const object = found(resource, name);
          check(object, patch.metadata);
          return write(key(resource, name), merge(object, patch) as Any);
        }),
      delete: (
        resource: Resource,
        _: string,
        name: string,
        options: { uid?: string; gracePeriodSeconds?: number } = {},
      ) =>
        request('delete', resource, () => {
          const object = this.objects.get(key(resource, name));
          if (!object || (options.uid !== undefined && options.uid !== object.metadata.uid)) return false;
          this.writes++;
          this.delete(key(resource, name), options.gracePeriodSeconds ?? 30);
          return true;
        }),
    };
    return kube as unknown as Kube;
  }

  get #named(): string | undefined {
    const secret = this.objects.get(
      `secrets/${streamSecretName(this.stream?.metadata.uid ?? '')}`,
    ) as unknown as Secret;
    const name = secret?.data?.[PUBLISHER_KEY];
    return name === undefined ? undefined : Buffer.from(name, 'base64').toString();
  }

  #process(uid: string): Process | undefined {
    const process = this.processes.get(uid);
    return process && !this.silentNodes.has(process.node) ? process : undefined;
  }

  /** Sends the operator's command to a pod's control port; returns whether the pod answers. */
  tell(uid: string, what: 'release' | 'stop'): boolean {
    const process = this.#process(uid);
    if (process && what === 'release') process.open = true;
    if (process && what === 'stop') process.stopped = true;
    return process !== undefined;
  }

  /** Whether the operators know that a pod is held. */
  isHeld = (uid: string): boolean => {
    const process = this.processes.get(uid);
    return process?.toldHeld === true && !process.open;
  };

  /** A container ends by itself; kubelet restarts it with its old files. */
  crash(uid: string): void {
    const process = this.#process(uid);
    if (process)
      Object.assign(process, { open: false, stopped: false, toldHeld: false, restarts: process.restarts + 1 });
  }

  /** Kubelet ends the pod for good. */
  evict(pod: Pod): void {
    const { uid, name } = pod.metadata;
    if (!this.#process(uid)) return;
    this.processes.delete(uid);
    this.#status(`pods/${name}`, { phase: 'Failed', reason: 'Evicted' });
  }

  /** A node without a connection is gone for good: Kubernetes' garbage collector marks its pods failed. A new one has its name. */
  lose(node: string): void {
    for (const pod of this.pods.filter(({ spec }) => spec.nodeName === node)) {
      this.processes.delete(pod.metadata.uid);
      this.#status(`pods/${pod.metadata.name}`, { phase: 'Failed' });
      this.delete(`pods/${pod.metadata.name}`, 0);
    }
    this.bringBack(node);
  }

  /** A node without a connection has no power, and somebody says so. The processes on it are gone, and its pods are to go. */
  callOutOfService(node: string): void {
    for (const [uid, process] of this.processes) if (process.node === node) this.processes.delete(uid);
    this.edit(`nodes/${node}`, ({ spec }) => void Object.assign(spec, { taints: [OUT_OF_SERVICE] }));
  }

  /** A node has its connection again, and no taint. */
  bringBack(node: string): void {
    this.silentNodes.delete(node);
    this.edit(`nodes/${node}`, ({ spec }) => void Object.assign(spec, { taints: [] }));
  }

  #isOutOfService = (node: string): boolean => (this.objects.get(`nodes/${node}`)?.spec.taints as object[])?.length > 0;

  #status(key: string, status: object): void {
    this.edit(key, (pod) => {
      pod.status = { ...pod.status, ...status };
    });
  }

  /** The possible next events of Kubernetes and the streamers, one step each. */
  steps(): { what: string; run: () => void }[] {
    return this.pods.flatMap((pod) => {
      const { name, uid, deletionTimestamp, finalizers = [] } = pod.metadata;
      const key = `pods/${name}`;
      const node = pod.spec.nodeName;
      const process = this.processes.get(uid);
      const steps: { what: string; run: () => void }[] = [];
      const step = (what: string, run: () => void) => void steps.push({ what: `${what} ${uid}`, run });
      if (node === undefined) {
        const free = NODES.find((name) => !this.silentNodes.has(name));
        if (!deletionTimestamp && free)
          step('bind', () => this.edit(key, ({ spec }) => void Object.assign(spec, { nodeName: free })));
        return steps;
      }
      const over = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
      // Kubernetes deletes what does not tolerate the taint, and its garbage collector calls that failed.
      if (this.silentNodes.has(node) && this.#isOutOfService(node)) {
        if (!deletionTimestamp) step('remove', () => this.delete(key, 30));
        else if (!over) step('call failed', () => this.#status(key, { phase: 'Failed' }));
        else if (pod.metadata.deletionGracePeriodSeconds !== 0) step('delete', () => this.delete(key, 0));
      }
      if (this.silentNodes.has(node)) return steps;
      const state = pod.status?.containerStatuses?.[0]?.state;
      if (!process && !deletionTimestamp && !over)
        step(
          'start',
          () =>
            void this.processes.set(uid, {
              pod: uid,
              node,
              open: false,
              stopped: false,
              granted: false,
              toldHeld: false,
              file: this.#named,
              restarts: 0,
            }),
        );
      // Kubelet keeps the files of a Secret that is gone.
      if (process && this.#named !== undefined && process.file !== this.#named)
        step('mount', () => void Object.assign(process, { file: this.#named }));
      // It removes the files of one that is gone where the pod needs none.
      if (process && isGrantedPod(pod) && this.#named === undefined && process.file !== undefined)
        step('unmount', () => void Object.assign(process, { file: undefined }));
      if (process && (this.reportsArrive || isGrantedPod(pod)) && !process.open && !process.toldHeld)
        step('push', () => void Object.assign(process, { toldHeld: true }));
      if (process && !process.open && (process.file === uid || process.granted))
        step('read', () => void Object.assign(process, { open: true }));
      const ready = process?.open === true && !process.stopped;
      const said = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      const { restarts: restartCount = 0 } = process ?? {};
      const { restartCount: saidRestarts = 0 } = pod.status?.containerStatuses?.[0] ?? {};
      if (process && !over && (state?.running === undefined || said !== ready || saidRestarts !== restartCount))
        step('report', () =>
          this.#status(key, {
            phase: 'Running',
            podIP: '10.0.0.1',
            conditions: [
              { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-06-01T12:00:00Z' },
            ],
            containerStatuses: [{ name: 'streamer', ready, restartCount, started: true, state: { running: {} } }],
          }),
        );
      // With `lingers`, a publisher ends only when it was told to stop: twenty seconds are long.
      const lingers = this.lingers && process?.open === true && !process.stopped;
      if (process && deletionTimestamp && !lingers) step('end', () => void this.processes.delete(uid));
      if (!process && deletionTimestamp && !over)
        step('say that it ended', () =>
          this.#status(key, {
            phase: 'Succeeded',
            containerStatuses: [
              { name: 'streamer', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } },
            ],
          }),
        );
      if (over && deletionTimestamp && (pod.metadata.deletionGracePeriodSeconds !== 0 || finalizers.length === 0))
        step('delete', () => this.delete(key, 0));
      return steps;
    });
  }
}

/** An operator with its own caches, which the test updates one object at a time. */
export class Operator {
  readonly #universe: Universe;
  readonly #cached = new Map<string, Any>();
  readonly #reconcile: (key: string) => Promise<unknown>;
  busy: Promise<unknown> | undefined;

  constructor(universe: Universe, pause: () => Promise<void>) {
    this.#universe = universe;
    const cache = (plural: string) => ({
      get: (_: string, name: string) => this.#cached.get(`${plural}/${name}`),
      list: () => [...this.#cached].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object),
      byIndex: () => [...this.#cached].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object),
      upsert: (object: Any) => this.#hear(`${plural}/${object.metadata.name}`, clone(object)),
    });
    const names = ['streams', 'playlists', 'uploads', 'destinations', 'pods', 'jobs', 'nodes'] as const;
    const caches = Object.fromEntries(names.map((name) => [name, cache(name === 'streams' ? 'loopstreams' : name)]));
    const stopped = new Map<string, number>();
    const sendToPod = (what: 'release' | 'stop') => async (pod: Pod) => {
      await pause();
      const { uid } = pod.metadata;
      if (universe.tell(uid, what) && what === 'stop') stopped.set(uid, countRestarts(pod));
    };
    const kube = universe.kube(pause);
    const tools = {
      kube,
      viewKeys: createViewKeys(kube),
      caches,
      settings: { ...SETTINGS, reportsUrl: 'http://operator' },
      events: { event: () => undefined },
      progress: new Map(),
      streamers: {
        report: (uid: string) => (universe.isHeld(uid) ? { held: true, runs: [], brokenItems: [] } : undefined),
        skip: async () => undefined,
        release: sendToPod('release'),
        stop: sendToPod('stop'),
        hasStopped: (pod: Pod) => stopped.get(pod.metadata.uid) === countRestarts(pod),
      },
      rollout: { mayRoll: () => true, requeueAfterMs: () => 0 },
      clock: { now: () => new Date(universe.nowMs), monotonicMs: () => universe.nowMs },
      log: silent,
      isMetered: () => false,
    };
    this.#reconcile = reconcileStream(tools as unknown as StreamControllerDeps);
  }

  #hear(key: string, object: Any): void {
    const known = this.#cached.get(key);
    if (known && BigInt(known.metadata.resourceVersion) > BigInt(object.metadata.resourceVersion)) return;
    this.#cached.set(key, object);
  }

  /** Updates the caches for all objects, or for the nth stale one, of those whose keys begin so. */
  sync(nth?: number, prefix = ''): void {
    const { objects } = this.#universe;
    const keys = [...new Set([...objects.keys(), ...this.#cached.keys()])].filter(
      (key) =>
        key.startsWith(prefix) &&
        this.#cached.get(key)?.metadata.resourceVersion !== objects.get(key)?.metadata.resourceVersion,
    );
    for (const key of nth === undefined ? keys : keys.slice(nth % (keys.length || 1), (nth % (keys.length || 1)) + 1)) {
      const object = objects.get(key);
      if (object) this.#cached.set(key, clone(object));
      else this.#cached.delete(key);
    }
  }

  /** Starts a reconcile of the stream, unless one is running. */
  look(): void {
    this.busy ??= this.#reconcile(`${NAMESPACE}/bunny`)
      .catch(() => undefined)
      .finally(() => {
        this.busy = undefined;
      });
  }
}

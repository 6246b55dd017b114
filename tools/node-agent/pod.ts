/**
 * Runs one pod, from the moment it is bound to this node until its object is gone. One loop looks at everything anew and
 * does the next step. Any event wakes it: a change of the object, the end of a container, the verdict of a probe, the end
 * of a wait. No other code starts containers or writes the status.
 *
 *   bound → volumes → init containers in order → containers, restarted by policy → sidecars end → Succeeded or Failed
 *   deletion asked for → SIGTERM, grace, SIGKILL → final status → object deleted (grace 0, its UID as precondition)
 *   object gone without that (deleted by force) → SIGKILL
 *   agent stops → containers end, the object stays: the next agent runs it again
 */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PODS, type Pod, type PodStatus } from '../../src/core/kube/core.ts';
import { type Backoff, exponentialMs } from '../../src/core/lib/backoff.ts';
import { kubeTime } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import { ContainerRunner } from './container.ts';
import type { ContainerLog } from './container-log.ts';
import type { NodeContext } from './context.ts';
import type { PodAddress } from './environment.ts';
import { restarts } from './restart.ts';
import { firstUnfinished, hasEnded, initialRecord, isOver, podStatus } from './status.ts';
import { StatusWriter } from './status-writer.ts';
import { type Container, getSpec, isSidecar, podKey } from './types.ts';
import { PodVolumes } from './volumes.ts';

/** How often Secrets and ConfigMaps that are mounted are looked at. */
const REFRESH_MS = 5000;
const RETRY_MS = 2000;
/** The API server lets a node read a Secret a moment after it hears of the pod, so the first retries come soon. */
const MOUNT_BACKOFF: Backoff = { baseMs: 100, maxMs: RETRY_MS };
/** How long a deletion waits for the final status to be written before it goes on without. */
const FINAL_STATUS_MS = 5000;
const IDLE_MS = 60_000;
/** How long containers have when the agent itself stops. */
const HALT_GRACE_MS = 4000;
/** How long sidecars have when the main containers have ended: they have nobody left to work for. */
const SIDECAR_GRACE_MS = 2000;

export interface PodOptions {
  /** Resolves when the pod that had this name before is gone from this machine. */
  after: Promise<void>;
  address: PodAddress;
  /** Set when the node has no room for it. */
  rejected?: { reason: string; message: string } | undefined;
}

export class PodWorker {
  readonly uid: string;
  /** Resolves when nothing of the pod is left: no process, and no object unless the agent was stopped. */
  readonly done: Promise<void>;
  readonly address: PodAddress;
  readonly #context: NodeContext;
  readonly #log: Logger;
  readonly #dir: string;
  readonly #writer: StatusWriter;
  readonly #volumes: PodVolumes;
  readonly #init: ContainerRunner[];
  readonly #main: ContainerRunner[];
  readonly #startedAt: Date;
  #pod: Pod;
  #failed: { reason: string; message: string } | undefined;
  /** The pod has come to its end: nothing is started any more. */
  #over: boolean;
  /** It had ended before this agent began: its status stays as it is. */
  readonly #overBefore: boolean;
  #mounted = false;
  #mountAt = 0;
  #mountFailures = 0;
  #mountedPod: Pod | undefined;
  #objectGone = false;
  #halted = false;
  #finalized = false;
  #ended = false;
  #kicked = false;
  #wake: (() => void) | undefined;

  constructor(pod: Pod, context: NodeContext, { after, address, rejected }: PodOptions) {
    this.uid = pod.metadata.uid;
    this.#pod = pod;
    this.#context = context;
    this.#log = context.log.child({ pod: podKey(pod), podUid: pod.metadata.uid });
    this.address = address;
    this.#dir = join(context.podsDir, pod.metadata.uid);
    this.#writer = new StatusWriter(context.kube, pod, this.#log);
    this.#volumes = new PodVolumes(join(this.#dir, '_volumes'), context.sources);
    this.#startedAt = pod.status?.startTime ? new Date(pod.status.startTime) : context.clock.now();
    this.#overBefore = isOver(pod.status);
    this.#over = this.#overBefore;
    this.#failed = rejected;
    const spec = getSpec(pod);
    this.#init = (spec.initContainers ?? []).map((container) => this.#runner(container, true));
    this.#main = spec.containers.map((container) => this.#runner(container, false));
    this.done = after.then(() => this.#run());
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** The status as this node sees it, which the API server may not have yet. */
  get status(): PodStatus | undefined {
    return this.#writer.wanted ?? this.#pod.status;
  }

  get isOver(): boolean {
    return this.#over;
  }

  update(pod: Pod): void {
    this.#pod = pod;
    for (const container of [...this.#init, ...this.#main]) container.share(pod);
    if (!this.#overBefore) this.#writer.observed(pod.status);
    this.#kick();
  }

  /** The object is gone: what still runs is killed. */
  removed(): void {
    this.#objectGone = true;
    this.#writer.stop();
    this.#kick();
  }

  /** The agent stops. */
  halt(): Promise<void> {
    this.#halted = true;
    this.#writer.stop();
    this.#kick();
    return this.done;
  }

  /** Returns the log of a container; undefined when it has no such container, `waiting` when it did not run (yet). */
  log(container: string, previous: boolean): { file: string; live: ContainerLog | undefined } | 'waiting' | undefined {
    const runner = [...this.#init, ...this.#main].find(({ spec }) => spec.name === container);
    return runner && (runner.log(previous) ?? 'waiting');
  }

  #runner(container: Container, init: boolean): ContainerRunner {
    const { status } = this.#pod;
    const known = (init ? status?.initContainerStatuses : status?.containerStatuses)?.find(
      ({ name }) => name === container.name,
    );
    const record = initialRecord(container, known, kubeTime(this.#context.clock.now()));
    if (init && record.terminations[0]?.exitCode === 0) record.ready = true;
    return new ContainerRunner(container, record, this.#context, {
      podDir: this.#dir,
      init: init && !isSidecar(container),
      changed: () => this.#kick(),
    });
  }

  get #runners(): ContainerRunner[] {
    return [...this.#init, ...this.#main];
  }

  #kick(): void {
    this.#kicked = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      this.#kicked = false;
      let waitMs = RETRY_MS;
      try {
        waitMs = await this.#step();
      } catch (err) {
        this.#log.error({ err }, 'a pod could not be updated; it is retried');
      }
      if (!this.#ended) await this.#pause(waitMs);
    }
    if (this.#objectGone) {
      await rm(this.#dir, { recursive: true, force: true }).catch((err) => this.#log.warn({ err }, 'a pod left files'));
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#kicked) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Takes the next step, and returns the milliseconds to the step after it when nothing happens before. */
  async #step(): Promise<number> {
    const pod = this.#pod;
    if (this.#objectGone || this.#halted) return this.#leave(pod);
    if (pod.metadata.deletionTimestamp) return this.#delete(pod);
    if (this.#overBefore) return IDLE_MS;
    const deadlineMs = this.#deadline(pod);
    if (this.#failed) {
      this.#terminateAll(pod, (getSpec(pod).terminationGracePeriodSeconds ?? 30) * 1000);
      this.#publish();
      return IDLE_MS;
    }
    const mountMs = await this.#mount(pod);
    const containersMs = this.#mounted && !this.#over ? await this.#advance(pod) : IDLE_MS;
    this.#publish();
    return Math.min(deadlineMs, mountMs, containersMs);
  }

  #terminateAll(pod: Pod, graceMs: number): boolean {
    // To its pods, a stopping agent is a stopping machine: no pod takes over from them, so none should linger.
    const how = this.#halted ? 'SIGINT' : 'SIGTERM';
    const sidecars = this.#sidecars;
    const others = this.#runners.filter((runner) => !sidecars.includes(runner));
    // Sidecars end after those that they work for.
    const alone = others.every(({ running }) => !running);
    for (const runner of others) runner.terminate(pod, graceMs, undefined, how);
    if (alone)
      for (const runner of sidecars) runner.terminate(pod, Math.min(graceMs, SIDECAR_GRACE_MS), undefined, how);
    for (const runner of this.#runners) runner.giveUp();
    return this.#runners.every(({ running }) => !running);
  }

  get #sidecars(): ContainerRunner[] {
    return this.#init.filter(({ spec }) => isSidecar(spec));
  }

  #leave(pod: Pod): number {
    this.#ended = this.#terminateAll(pod, this.#objectGone ? 0 : HALT_GRACE_MS);
    return IDLE_MS;
  }

  async #delete(pod: Pod): Promise<number> {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    if (!this.#terminateAll(pod, graceMs)) {
      this.#publish();
      return IDLE_MS;
    }
    if (this.#finalized) return IDLE_MS;
    this.#over = true;
    if (!this.#overBefore) this.#publish();
    await this.#writer.flush(FINAL_STATUS_MS);
    const { name, namespace = '' } = pod.metadata;
    if (this.#objectGone || this.#halted) return 0;
    await this.#context.kube.delete(PODS, namespace, name, { uid: this.uid, gracePeriodSeconds: 0 });
    // The watch tells when the object is gone, which finalizers of others may put off.
    this.#finalized = true;
    return IDLE_MS;
  }

  /** Milliseconds until the pod has been active for too long; from then on it has failed. */
  #deadline(pod: Pod): number {
    const { activeDeadlineSeconds } = getSpec(pod);
    if (activeDeadlineSeconds === undefined || this.#failed || this.#over) return IDLE_MS;
    const left = this.#startedAt.getTime() + activeDeadlineSeconds * 1000 - this.#context.clock.now().getTime();
    if (left > 0) return Math.min(left, IDLE_MS);
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#failed = { reason: 'DeadlineExceeded', message };
    this.#context.emit(pod, 'Normal', 'DeadlineExceeded', message);
    return IDLE_MS;
  }

  /** Sets the volumes up, and later brings them up to date: when the pod's object changed, and every few seconds. */
  async #mount(pod: Pod): Promise<number> {
    if (this.#over) return IDLE_MS;
    const left = this.#mountAt - performance.now();
    if (left > 0 && (this.#mountedPod === pod || !this.#mounted)) return left;
    try {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await this.#volumes.bringUpToDate(pod, this.address);
      this.#mounted = true;
      this.#mountedPod = pod;
      this.#mountFailures = 0;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const retryMs = exponentialMs(MOUNT_BACKOFF, this.#mountFailures++);
      if (this.#mounted) this.#log.debug({ err: error }, 'volumes were not brought up to date');
      else if (retryMs >= RETRY_MS) this.#context.emit(pod, 'Warning', 'FailedMount', message);
      this.#mountAt = performance.now() + retryMs;
      return retryMs;
    }
    const refreshMs = PodVolumes.followsSources(pod) ? REFRESH_MS : IDLE_MS;
    this.#mountAt = performance.now() + refreshMs;
    return refreshMs;
  }

  /** Starts what should run and does not. */
  async #advance(pod: Pod): Promise<number> {
    const next = firstUnfinished(this.#init.map(({ record }) => record));
    const init = this.#init[next];
    const policy = getSpec(pod).restartPolicy ?? 'Always';
    if (!init && this.#main.every(({ record }) => hasEnded(record, policy))) {
      for (const runner of this.#sidecars) runner.terminate(pod, SIDECAR_GRACE_MS);
      for (const runner of this.#sidecars) runner.giveUp();
      return IDLE_MS;
    }
    const before = this.#sidecars.filter((runner) => !init || this.#init.indexOf(runner) < next);
    let soonest = IDLE_MS;
    for (const runner of init ? [...before, init] : [...before, ...this.#main])
      soonest = Math.min(soonest, await this.#bringUp(pod, runner));
    return soonest;
  }

  async #bringUp(pod: Pod, runner: ContainerRunner): Promise<number> {
    const { record, spec } = runner;
    const [last] = record.terminations;
    if (runner.running || !this.#wanted()) return IDLE_MS;
    const policy = isSidecar(spec) ? 'Always' : (getSpec(pod).restartPolicy ?? 'Always');
    if (last && !restarts(policy, last)) return IDLE_MS;
    const waitMs = runner.startableInMs();
    if (waitMs <= 0) {
      const mounts = await this.#volumes.mounts(spec);
      await runner.start({ pod, address: this.address, mounts, wanted: () => this.#wanted() });
      return runner.running ? IDLE_MS : Math.max(runner.startableInMs(), 10);
    }
    if (last && !record.waiting) {
      const message = `back-off ${runner.backoffMs / 1000}s restarting failed container=${spec.name} pod=${podKey(pod)}`;
      record.waiting = { reason: 'CrashLoopBackOff', message };
      const words = `Back-off restarting failed container ${spec.name} in pod ${podKey(pod)}`;
      this.#context.emit(pod, 'Warning', 'BackOff', words);
    }
    return waitMs;
  }

  #wanted(): boolean {
    return !(this.#objectGone || this.#halted || this.#failed || this.#over || this.#pod.metadata.deletionTimestamp);
  }

  #publish(): void {
    const facts = {
      pod: this.#pod,
      init: this.#init.map(({ record }) => record),
      main: this.#main.map(({ record }) => record),
      podIP: this.address.podIP,
      hostIP: this.address.hostIP,
      startTime: kubeTime(this.#startedAt),
      mounted: this.#mounted,
      failed: this.#failed,
      over: this.#over,
    };
    const previous = (this.#writer.wanted ?? this.#pod.status)?.conditions ?? [];
    const status = podStatus(facts, previous, kubeTime(this.#context.clock.now()));
    this.#writer.publish(status);
    if (isOver(status)) this.#over = true;
  }
}

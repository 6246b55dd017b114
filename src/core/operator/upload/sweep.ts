/**
 * Makes the Job that deletes media to which nothing refers. The operator sees no media and the Job sees no resources, so the
 * operator tells the Job what to keep. While the Job works, no Job begins whose rendition it might be deleting.
 */

import { JOBS, type Job, type Pod } from '../../kube/core.ts';
import { hasReason, type KubeObject } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import { computeShard, getBaseKey, KeepList, packKeep, shardsFor } from '../../pods/storage/keep-list.ts';
import type { RecordsTask } from '../../protocol/records.ts';
import { listKeys, listSourceKeys } from '../../protocol/task.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import { SWEEP_JOB } from '../../resources/common/names.ts';
import { listPlayedKeys } from '../../resources/stream/playing.ts';
import { PROFILES } from '../../resources/stream/profile.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { incomingKey, incomingKeys, sourceKey } from '../../resources/upload/spec.ts';
import { BY_OWNER } from '../caches/caches.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { settingsIn } from '../pods/security.ts';
import type { Admission } from './admission.ts';
import { forgetDeleted, listDeletedUploads } from './deletions.ts';
import { buildSweepJob, getImportedKey, getPosterKey, readRecordsTask, readTask, type SweepTask } from './job.ts';
import { readOutcome } from './job-result.ts';
import { hasEnded } from './progress.ts';
import { buildSweepRecords } from './records.ts';

/** Between two sweeps of the same part of the storage. */
const INTERVAL_MS = 3_600_000;
/** After a start the operator has better things to do. */
const FIRST_MS = 600_000;
const SHORTEST_INTERVAL_MS = 300_000;

export interface SweepOptions {
  graceSeconds: number;
  /** Until the first one, and between two; tests make them short. */
  firstMs?: number;
  intervalMs?: number;
}

interface Seen {
  uploads: readonly Upload[];
  jobs: readonly Job[];
  pods: readonly Pod[];
  streams: readonly LoopStream[];
  begun: readonly string[];
}

/**
 * Bases of all keys that anything refers to: uploads, Jobs that work for them, pods whatever they play, and streams whose pod
 * may have to be made again with what it played. A pod is gone only after its stream's status has been written.
 */
export function listReferredKeys({ uploads, jobs, pods, streams, begun }: Seen): Set<string> {
  const keys = [...begun];
  for (const { metadata, spec, status } of uploads) {
    // A source that is the same as another upload's is that one (decide-import.ts): its own is not needed any more.
    keys.push(status?.sourceKey ?? sourceKey(metadata.uid));
    if (spec.source.sent && !status?.media && !status?.error)
      keys.push(incomingKey(metadata.uid), ...incomingKeys({ metadata, spec }));
    for (const { key } of status?.renditions ?? []) if (key !== undefined) keys.push(key);
    if (status?.poster !== undefined) keys.push(status.poster);
  }
  for (const job of jobs) {
    const task = readTask(job);
    if (task && task.action !== 'sweep') keys.push(...listSourceKeys(task));
    if (task?.action === 'import' && 'sent' in task) keys.push(...listKeys(task.sent));
    // A rendition that an import has made is in the status of its upload.
    if (task?.action === 'import' && !hasEnded(job))
      keys.push(...PROFILES.flatMap((profile) => getImportedKey(task, profile) ?? []));
    if (task?.action === 'rendition' || task?.action === 'range') keys.push(task.renditionKey);
    const poster = task?.action === 'rendition' || task?.action === 'import' ? getPosterKey(task) : undefined;
    if (poster !== undefined && !hasEnded(job)) keys.push(poster);
  }
  for (const played of [...pods.map(readPodProgram), ...streams.map(({ status }) => status?.playing)])
    if (played) keys.push(...listPlayedKeys(played));
  return new Set(keys.map(getBaseKey));
}

/** The next sweep after `previous`: each takes another part of what is kept. */
export function planSweep(bases: ReadonlySet<string>, graceSeconds: number, previous?: SweepTask): SweepTask {
  const shards = shardsFor(bases.size);
  const shard = previous?.shards === shards ? (previous.shard + 1) % shards : 0;
  return { action: 'sweep', keep: packKeep(bases, shard, shards), shard, shards, graceSeconds };
}

/** Returns a test of whether a sweep may delete what is under a key. */
export function mayDelete({ keep, shard, shards }: SweepTask): (key: string) => boolean {
  const list = new KeepList(keep);
  return (key) => computeShard(getBaseKey(key), shards) === shard && !list.has(getBaseKey(key));
}

/** Tests of the keys that may be deleted in a namespace at this moment. */
interface Sweep {
  /** Of the sweep whose Job may not be in the cache yet. */
  begun?: ((key: string) => boolean) | undefined;
  /** Of the Job of this UID; reading it anew for each key would take milliseconds. */
  known?: { uid: string; mayDelete: (key: string) => boolean };
  /** Name of the last Upload whose record was written. */
  lastRecord?: string;
  /** UID of the last Job whose result was read. */
  readUid?: string;
  /** Sources, by part of the storage, that are kept although no Upload has them. */
  suspicious?: { shards: number; sources: Map<number, number> };
}

const describeSuspicion = (sources: number): string =>
  `${sources} sources of uploads are in the storage, but no upload has them and nobody has deleted one. They are kept for 30 days. ` +
  'Restore the uploads in their namespace, under their names, or give the sources up by loopstream forget-sources.';

export class Sweeper {
  readonly #deps: ControllerDeps;
  readonly #options: Pick<SweepOptions, 'graceSeconds'>;
  /** By namespace, each of which has a storage of its own. */
  readonly #sweeps = new Map<string, Sweep>();

  constructor(deps: ControllerDeps, options: Pick<SweepOptions, 'graceSeconds'>) {
    this.#deps = deps;
    this.#options = options;
  }

  #job(namespace: string): Job | undefined {
    return this.#deps.caches.jobs.get(namespace, SWEEP_JOB);
  }

  #find(namespace: string): Sweep {
    const found = this.#sweeps.get(namespace) ?? {};
    this.#sweeps.set(namespace, found);
    return found;
  }

  /** Counts the sources by namespace that are kept although no Upload has them, as of the last sweep of each part of the storage. */
  countSuspicious(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [namespace, { suspicious }] of this.#sweeps)
      if (suspicious)
        counts.set(
          namespace,
          [...suspicious.sources.values()].reduce((sum, sources) => sum + sources, 0),
        );
    return counts;
  }

  #noteSuspicious(namespace: string, job: Job, sources: number): void {
    const task = readTask(job);
    if (task?.action !== 'sweep') return;
    const sweep = this.#find(namespace);
    // Another division of the keys counts anew.
    if (sweep.suspicious?.shards !== task.shards) sweep.suspicious = { shards: task.shards, sources: new Map() };
    sweep.suspicious.sources.set(task.shard, sources);
  }

  /** Whether something may be deleted at this moment. */
  isSwept(namespace: string, key: string): boolean {
    const sweep = this.#find(namespace);
    if (sweep.begun?.(key)) return true;
    const job = this.#job(namespace);
    if (!job || hasEnded(job)) return false;
    const { uid } = job.metadata;
    if (sweep.known?.uid !== uid) {
      const task = readTask(job);
      sweep.known = { uid, mayDelete: task?.action === 'sweep' ? mayDelete(task) : () => false };
    }
    return sweep.known.mayDelete(key);
  }

  /** Undefined where the installation is not known: no Upload has a record then, and no source is deleted. */
  async #buildRecords(namespace: string, uploads: readonly Upload[]): Promise<RecordsTask | undefined> {
    const { kube, settings } = this.#deps;
    if (settings.installation === undefined) return undefined;
    const deleted = await listDeletedUploads(kube, namespace);
    const sweep = this.#find(namespace);
    const { task, last } = buildSweepRecords(uploads, deleted, settings.installation, sweep.lastRecord);
    sweep.lastRecord = last;
    return task;
  }

  /** Reads what a sweep has done, once it has ended; Jobs that have been read are told apart by their UID. */
  async read(job: Job): Promise<void> {
    const { caches, kube, events, log } = this.#deps;
    const { namespace = '', name, uid } = job.metadata;
    const sweep = this.#find(namespace);
    if (name !== SWEEP_JOB || !hasEnded(job) || sweep.readUid === uid) return;
    const outcome = readOutcome(job, caches.pods.byIndex(BY_OWNER, uid), this.#deps.clock.now());
    // The pod's status may come later than the Job's: the next sweep reads it then.
    if (outcome.kind !== 'done') return;
    sweep.readUid = uid;
    const { result } = outcome;
    if (result.action === 'failed') {
      log.warn({ namespace, code: result.error.code }, `the sweep failed: ${result.error.message}`);
      events.event(job, { type: 'Warning', reason: 'SweepFailed', message: result.error.message });
    }
    if (result.action !== 'swept') return;
    await forgetDeleted(
      kube,
      namespace,
      (readRecordsTask(job)?.deleted ?? []).map((one) => one.uid),
    );
    const { suspicious = 0 } = result;
    if (suspicious > 0) {
      const message = describeSuspicion(suspicious);
      log.warn({ namespace, sources: suspicious }, message);
      events.event(job, { type: 'Warning', reason: 'SweepSuspicious', message });
    }
    this.#noteSuspicious(namespace, job, suspicious);
  }

  /** Makes the Job of the next sweep of a namespace, unless one runs. Returns the number of parts of its storage. */
  async begin(namespace: string, admission: Pick<Admission, 'begun'>): Promise<number> {
    const { caches, kube, settings } = this.#deps;
    const job = this.#job(namespace);
    const last = job && readTask(job);
    const previous = last?.action === 'sweep' ? last : undefined;
    if (job) {
      if (!hasEnded(job)) return previous?.shards ?? 1;
      await this.read(job);
      await kube.delete(JOBS, namespace, SWEEP_JOB, { uid: job.metadata.uid, propagationPolicy: 'Background' });
    }
    // Nothing is awaited between the look at what is there and the mark that a sweep has begun.
    const isHere = ({ metadata }: KubeObject) => metadata.namespace === namespace;
    const [uploads, jobs] = [caches.uploads.list().filter(isHere), caches.jobs.list().filter(isHere)];
    const [pods, streams] = [caches.pods.list().filter(isHere), caches.streams.list().filter(isHere)];
    const bases = listReferredKeys({ uploads, jobs, pods, streams, begun: admission.begun() });
    const task = planSweep(bases, this.#options.graceSeconds, previous);
    const sweep = this.#find(namespace);
    sweep.begun = mayDelete(task);
    try {
      const built = buildSweepJob(task, settingsIn(settings, namespace), await this.#buildRecords(namespace, uploads));
      caches.jobs.upsert(await kube.create(JOBS, namespace, built));
    } catch (error) {
      // The previous Job still exists, or another operator was faster.
      if (!hasReason(error, 'AlreadyExists')) throw error;
    } finally {
      sweep.begun = undefined;
    }
    return task.shards;
  }
}

/** When each namespace is swept next. One that turns up among several gets a moment of its own, so that not all come together. */
export class SweepTimes {
  readonly #intervalMs: number;
  readonly #dueMs = new Map<string, number>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** The namespaces among these whose time has come. */
  due(namespaces: readonly string[], nowMs: number): string[] {
    for (const known of this.#dueMs.keys()) if (!namespaces.includes(known)) this.#dueMs.delete(known);
    for (const [i, namespace] of namespaces.entries())
      if (!this.#dueMs.has(namespace)) this.#dueMs.set(namespace, nowMs + (this.#intervalMs * i) / namespaces.length);
    return namespaces.filter((namespace) => (this.#dueMs.get(namespace) ?? 0) <= nowMs);
  }

  /** A sweep of one of so many parts of the storage has begun. */
  begun(namespace: string, shards: number, nowMs: number): void {
    this.#dueMs.set(namespace, nowMs + this.#intervalMs / shards);
  }
}

/** Sweeps `namespaces` from time to time until the lifecycle stops. */
export function sweepRegularly(
  sweeper: Sweeper,
  admission: Pick<Admission, 'begun'>,
  { log }: Pick<ControllerDeps, 'log'>,
  namespaces: () => readonly string[],
  { firstMs = FIRST_MS, intervalMs = INTERVAL_MS }: SweepOptions,
  lifecycle: Lifecycle,
): void {
  const times = new SweepTimes(intervalMs);
  const sweep = async (namespace: string) => {
    let shards = 1;
    try {
      shards = await sweeper.begin(namespace, admission);
    } catch (err) {
      // A namespace that is gone has nothing that could be swept.
      const level = hasReason(err, 'NotFound') ? 'debug' : 'warn';
      log[level]({ namespace, err }, 'the storage could not be swept; the next sweep retries');
    }
    times.begun(namespace, shards, performance.now());
  };
  const run = async () => {
    let wait = firstMs;
    for (;;) {
      await sleep(wait, lifecycle.signal);
      wait = Math.min(intervalMs, SHORTEST_INTERVAL_MS);
      for (const namespace of times.due(namespaces(), performance.now())) await sweep(namespace);
    }
  };
  // It ends only by the signal.
  const running = run().catch(() => undefined);
  lifecycle.defer('sweeps', () => running);
}

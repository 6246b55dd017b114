/** Reconciles one upload: observes it, decides, removes and makes its Jobs, and writes its status once. */

import { JOBS, type Job } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { ACCOUNT_LABEL, importJobName, RETRY_ANNOTATION } from '../../resources/common/names.ts';
import { earliest } from '../../resources/stream/schedule.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { BY_OWNER, BY_UPLOAD } from '../caches/caches.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isOwnedBy } from '../pods/security.ts';
import {
  buildWarningEvent,
  describeRefusal,
  isRefusal,
  type Reconcile,
  requeueAt,
  splitKey,
  writeStatus,
} from '../runtime/controller.ts';
import { createRetries, type Retries } from '../runtime/retries.ts';
import type { UploadControllerDeps } from './controller-deps.ts';
import { addWaitingStates, decideUpload } from './decide.ts';
import { addUploadFinalizer, letUploadGo, listDeletedUploads } from './deletions.ts';
import { buildUploadEvents } from './events.ts';
import { addHealth, JOB_REFUSED } from './health.ts';
import { chooseParallelism } from './helpers.ts';
import { buildHelpersJob, buildJob, type WantedHelpers, type WantedJob } from './job.ts';
import { observeUpload } from './observe.ts';
import { playOwnRates } from './own-rates.ts';
import type { UploadDecision } from './plan.ts';
import { createPodLooks } from './pod-refusal.ts';
import { isActive } from './progress.ts';
import { createRaiser } from './raise.ts';
import { buildImportRecords, dropForeignStatus } from './records.ts';

/** How long until a Job is looked for again whose name another one has. */
const NAME_TAKEN_RETRY_MS = 60_000;

type EnqueueUpload = (uploadKey: string, afterMs?: number) => void;
type Deps = UploadControllerDeps & { retries: Retries; lookAtPods: ReturnType<typeof createPodLooks> };

/** `enqueue` is called with the key of each upload that waited and may make a Job now. */
export function reconcileUpload(tools: UploadControllerDeps, enqueue: EnqueueUpload): Reconcile {
  const lookAtPods = createPodLooks({ kube: tools.kube, upsert: (job) => tools.caches.jobs.upsert(job) });
  const deps = { ...tools, retries: createRetries(enqueue), lookAtPods };
  const raisePods = createRaiser(deps);
  return async (key) => {
    try {
      return await reconcile(deps, key, raisePods);
    } finally {
      // Whatever this upload did, a place may have become free for another.
      for (const due of deps.admission.due()) enqueue(due);
    }
  };
}

async function reconcile(
  deps: Deps,
  key: string,
  raisePods: ReturnType<typeof createRaiser>,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const { caches, clock, admission } = deps;
  const found = caches.uploads.get(...splitKey(key));
  if (!found || found.metadata.deletionTimestamp) {
    admission.leave(key);
    deps.retries.forget(splitKey(key)[0], key);
    await removeActiveJobs(deps, key);
    if (found) await letUploadGo(deps, found);
    return undefined;
  }
  const now = clock.now();
  // The source comes later, so its Upload is never gone without a trace.
  const upload = dropForeignStatus(await addUploadFinalizer(deps, found));
  const decision = decideUpload(upload, observeUpload(deps, upload, now));
  await removeJobs(deps, upload, decision.remove);
  const writer = createWriter(deps, key, upload, now);
  const queued = await createJobs(deps, key, upload, decision.create, writer);
  await adjustHelpers(deps, key, upload, decision.helpers, writer);
  const lookAt = await deps.lookAtPods({
    jobs: caches.jobs.byIndex(BY_UPLOAD, key),
    listPods: ({ metadata }) => caches.pods.byIndex(BY_OWNER, metadata.uid),
    wasRefused: findCondition(upload.status?.conditions, 'Ready')?.reason === JOB_REFUSED,
    try: writer.try,
    now,
  });
  const refusal = writer.close();
  await writeUploadStatus(deps, upload, decision, { refusal, queued, now });
  await raisePods(decision.raise);
  return requeueAt(refusal?.retryAt ?? earliest(lookAt, decision.requeueAt), now);
}

/** Why a Job or its pod cannot be made, which only others can change. */
interface JobRefusal {
  message: string;
  retryAt: Date;
  /** Kubernetes has refused it just now. */
  isNew: boolean;
  /** No status reports it. */
  passesSoon: boolean;
}

/** Does what one run of an upload writes, unless Kubernetes refuses it, or has refused it a moment ago. */
interface Writer {
  try(write: () => Promise<string | undefined>): Promise<void>;
  close(): JobRefusal | undefined;
}

/** A write returns why it cannot be done, or throws a refusal of Kubernetes. */
function createWriter({ retries }: Deps, key: string, upload: Upload, now: Date): Writer {
  const { metadata, status } = upload;
  const [namespace] = splitKey(key);
  const version = [metadata.generation, metadata.annotations?.[RETRY_ANNOTATION]].join(' ');
  const attempt = { key, namespace, version };
  const ready = findCondition(status?.conditions, 'Ready');
  const known = ready?.reason === JOB_REFUSED && ready.observedGeneration === metadata.generation ? ready : undefined;
  let isFree: boolean | undefined;
  let refusal: JobRefusal | undefined;
  return {
    async try(write) {
      if (isFree === undefined) {
        const since = known && { message: known.message, since: new Date(known.lastTransitionTime) };
        const waiting = retries.find(attempt, now, since);
        isFree = waiting === undefined;
        refusal = waiting && { ...waiting, isNew: false };
      }
      if (!isFree) return;
      try {
        const message = await write();
        const retryAt = new Date(now.getTime() + NAME_TAKEN_RETRY_MS);
        if (message !== undefined) refusal = { message, retryAt, isNew: true, passesSoon: false };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const message = describeRefusal(error, namespace);
        // The other Jobs of the upload are not tried either.
        isFree = false;
        refusal = { ...retries.add(attempt, error, message, now), isNew: true };
      }
    },
    close() {
      // Nothing is to be written any more, e.g. since the Job has its pod.
      if (isFree === undefined) retries.forget(namespace, key);
      if (isFree && refusal === undefined) retries.succeed(namespace, key, now);
      return refusal;
    },
  };
}

/** Removes the Jobs that run for an upload which is gone; the garbage collector would come to them later. */
async function removeActiveJobs({ caches, kube }: ControllerDeps, key: string): Promise<undefined> {
  for (const job of caches.jobs.byIndex(BY_UPLOAD, key)) {
    const { namespace = '', name, uid } = job.metadata;
    if (!isActive(job)) continue;
    try {
      await kube.delete(JOBS, namespace, name, { uid, propagationPolicy: 'Background' });
    } catch (error) {
      if (!hasReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

async function removeJobs({ kube }: ControllerDeps, upload: Upload, jobs: readonly Job[]): Promise<void> {
  const { namespace = '' } = upload.metadata;
  for (const { metadata } of jobs) {
    // Foreground: the name is free for a successor only when the pods have ended too.
    await kube.delete(JOBS, namespace, metadata.name, { uid: metadata.uid, propagationPolicy: 'Foreground' });
  }
}

/** Makes the Jobs whose turn it is. Returns the names of those that wait for it. */
async function createJobs(
  deps: UploadControllerDeps,
  key: string,
  upload: Upload,
  wantedJobs: readonly WantedJob[],
  writer: Writer,
): Promise<Set<string>> {
  const { admission } = deps;
  const { labels, creationTimestamp: since } = upload.metadata;
  const { allowed, waiting } = admission.ask({ key, account: labels?.[ACCOUNT_LABEL], since }, wantedJobs);
  try {
    for (const wantedJob of allowed)
      await writer.try(async () => createJob(deps, upload, await buildJobWithRecords(deps, upload, wantedJob)));
  } finally {
    admission.settle(key);
  }
  return new Set([...waiting].flatMap(([name, why]) => (why === 'queued' ? [name] : [])));
}

async function buildJobWithRecords(deps: UploadControllerDeps, upload: Upload, wantedJob: WantedJob) {
  const { kube, caches } = deps;
  const settings = { ...deps.settings, ownRates: playOwnRates(caches) };
  if (wantedJob.task.action !== 'import' || settings.installation === undefined)
    return buildJob(upload, wantedJob, settings);
  const deleted = await listDeletedUploads(kube, upload.metadata.namespace ?? '');
  return buildJob(upload, wantedJob, settings, buildImportRecords(upload, settings.installation, deleted));
}

/** Makes the Jobs of helpers, and changes how many pods they have. */
async function adjustHelpers(
  deps: UploadControllerDeps,
  key: string,
  upload: Upload,
  wanted: readonly WantedHelpers[],
  writer: Writer,
): Promise<void> {
  const { admission, caches, settings } = deps;
  const { labels, creationTimestamp: since, namespace = '' } = upload.metadata;
  const granted = admission.lend({ key, account: labels?.[ACCOUNT_LABEL], since }, wanted);
  for (const helpers of wanted) {
    const pods = granted.get(helpers.name) ?? 0;
    const job = caches.jobs.get(namespace, helpers.name);
    const parallelism = job && chooseParallelism(Number(job.spec.parallelism), pods, helpers.left);
    if (job && parallelism !== job.spec.parallelism) await writer.try(() => setPods(deps, job, parallelism));
    else if (!job && pods > 0)
      await writer.try(() => createJob(deps, upload, buildHelpersJob(upload, helpers, pods, settings)));
  }
}

/** Sets the number of a Job's parallel pods. The Job controller ends the youngest surplus pods. */
async function setPods(
  { caches, kube }: ControllerDeps,
  { metadata }: Job,
  parallelism: number | undefined,
): Promise<undefined> {
  const { namespace = '', name, uid } = metadata;
  try {
    caches.jobs.upsert(await kube.mergePatch(JOBS, namespace, name, { metadata: { uid }, spec: { parallelism } }));
  } catch (error) {
    if (isRefusal(error) || !hasReason(error, 'NotFound', 'Conflict')) throw error;
  }
  return undefined;
}

/** Makes a Job; returns why it cannot be made where somebody else has its name. */
async function createJob(
  deps: ControllerDeps,
  upload: Upload,
  built: ReturnType<typeof buildJob>,
): Promise<string | undefined> {
  const { namespace = '' } = upload.metadata;
  try {
    deps.caches.jobs.upsert(await deps.kube.create(JOBS, namespace, built));
    return undefined;
  } catch (error) {
    if (isRefusal(error) || !hasReason(error, 'AlreadyExists')) throw error;
  }
  const { name } = built.metadata;
  const job = await deps.kube.get(JOBS, namespace, name);
  if (!isOwnedBy(job, upload)) return `Job "${name}" exists but does not belong to this upload. Delete it.`;
  deps.caches.jobs.upsert(job);
  return undefined;
}

async function writeUploadStatus(
  deps: UploadControllerDeps,
  upload: Upload,
  decision: UploadDecision,
  { refusal, queued, now }: { refusal: JobRefusal | undefined; queued: Set<string>; now: Date },
): Promise<void> {
  const { caches, events } = deps;
  const told = refusal?.passesSoon ? undefined : refusal?.message;
  if (told !== undefined && refusal?.isNew) events.event(upload, buildWarningEvent(JOB_REFUSED, told));
  if (decision.waitsForRoom) queued.add(importJobName(upload.metadata.name));
  const status = addHealth(upload, addWaitingStates(upload, decision.status, queued), now, told);
  if (!(await writeStatus(deps, UPLOADS, caches.uploads, upload, status))) return;
  for (const event of buildUploadEvents(upload.status, status)) events.event(upload, event);
}

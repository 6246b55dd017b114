/** Reconciles one upload: observes it, decides, removes and makes its Jobs, and writes its status once. */

import { JOBS, type Job } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { ACCOUNT_LABEL, importJobName } from '../../resources/common/names.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { BY_UPLOAD } from '../caches/caches.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isOwnedBy } from '../pods/security.ts';
import { describeRefusal, isRefusal, type Reconcile, requeueAt, splitKey, writeStatus } from '../runtime/controller.ts';
import type { UploadControllerDeps } from './controller-deps.ts';
import { addWaitingStates, decideUpload } from './decide.ts';
import { buildUploadEvents } from './events.ts';
import { addHealth } from './health.ts';
import { chooseParallelism } from './helpers.ts';
import { buildHelpersJob, buildJob, type WantedHelpers, type WantedJob } from './job.ts';
import { observeUpload } from './observe.ts';
import type { UploadDecision } from './plan.ts';
import { isActive } from './progress.ts';
import { createRaiser } from './raise.ts';

/** How long until a Job that could not be made is tried again; whether it can be depends on others (a quota, a name). */
const RETRY_MS = 60_000;

/** `enqueue` is called with the key of each upload that waited and may make a Job now. */
export function reconcileUpload(deps: UploadControllerDeps, enqueue: (uploadKey: string) => void): Reconcile {
  const raisePods = createRaiser(deps);
  return async (key) => {
    try {
      return await reconcile(deps, key, raisePods);
    } finally {
      // Whatever this upload did, a place may have become free for another.
      deps.admission.due().forEach(enqueue);
    }
  };
}

async function reconcile(
  deps: UploadControllerDeps,
  key: string,
  raisePods: ReturnType<typeof createRaiser>,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const { caches, clock, admission } = deps;
  const upload = caches.uploads.get(...splitKey(key));
  if (!upload || upload.metadata.deletionTimestamp) {
    admission.leave(key);
    return removeActiveJobs(deps, key);
  }
  const now = clock.now();
  const decision = decideUpload(upload, observeUpload(deps, upload, now));
  await removeJobs(deps, upload, decision.remove);
  const made = await createJobs(deps, key, upload, decision.create);
  made.refusal = (await adjustHelpers(deps, key, upload, decision.helpers)) ?? made.refusal;
  await writeUploadStatus(deps, upload, decision, { ...made, now });
  await raisePods(decision.raise);
  return made.refusal === undefined ? requeueAt(decision.requeueAt, now) : { requeueAfterMs: RETRY_MS };
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

interface Made {
  /** Why a Job cannot be made. */
  refusal: string | undefined;
  /** Names of the Jobs that wait for their turn. */
  queued: Set<string>;
}

/** Makes the Jobs whose turn it is. */
async function createJobs(
  deps: UploadControllerDeps,
  key: string,
  upload: Upload,
  wantedJobs: readonly WantedJob[],
): Promise<Made> {
  const { admission } = deps;
  const { labels, creationTimestamp: since } = upload.metadata;
  const { allowed, waiting } = admission.ask({ key, account: labels?.[ACCOUNT_LABEL], since }, wantedJobs);
  let refusal: string | undefined;
  try {
    for (const wantedJob of allowed)
      refusal = (await createJob(deps, upload, buildJob(upload, wantedJob, deps.settings))) ?? refusal;
  } finally {
    admission.settle(key);
  }
  const queued = new Set([...waiting].flatMap(([name, why]) => (why === 'queued' ? [name] : [])));
  return { refusal, queued };
}

/** Makes the Jobs of helpers, and changes how many pods they have; returns why that cannot be done, if only others can change it. */
async function adjustHelpers(
  deps: UploadControllerDeps,
  key: string,
  upload: Upload,
  wanted: readonly WantedHelpers[],
): Promise<string | undefined> {
  const { admission, caches, settings } = deps;
  const { labels, creationTimestamp: since, namespace = '' } = upload.metadata;
  const granted = admission.lend({ key, account: labels?.[ACCOUNT_LABEL], since }, wanted);
  let refusal: string | undefined;
  for (const helpers of wanted) {
    const pods = granted.get(helpers.name) ?? 0;
    const job = caches.jobs.get(namespace, helpers.name);
    if (job) refusal = (await setPods(deps, job, pods, helpers.left)) ?? refusal;
    else if (pods > 0)
      refusal = (await createJob(deps, upload, buildHelpersJob(upload, helpers, pods, settings))) ?? refusal;
  }
  return refusal;
}

/** Lets a Job have so many pods at once. The Job controller ends the youngest of those that are too many. */
async function setPods(
  { caches, kube }: ControllerDeps,
  { metadata, spec }: Job,
  pods: number,
  left: number,
): Promise<string | undefined> {
  const { namespace = '', name, uid } = metadata;
  const parallelism = chooseParallelism(Number(spec.parallelism), pods, left);
  if (spec.parallelism === parallelism) return undefined;
  try {
    caches.jobs.upsert(await kube.mergePatch(JOBS, namespace, name, { metadata: { uid }, spec: { parallelism } }));
  } catch (error) {
    if (isRefusal(error)) return describeRefusal(error, namespace);
    if (!hasReason(error, 'NotFound', 'Conflict')) throw error;
  }
  return undefined;
}

/** Makes a Job; returns why it cannot be made, if only others can change that. */
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
    if (isRefusal(error)) return describeRefusal(error, namespace);
    if (!hasReason(error, 'AlreadyExists')) throw error;
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
  { refusal, queued, now }: Made & { now: Date },
): Promise<void> {
  const { caches, events } = deps;
  if (refusal !== undefined) events.event(upload, { type: 'Warning', reason: 'JobRefused', message: refusal });
  if (decision.waitsForRoom) queued.add(importJobName(upload.metadata.name));
  const status = addHealth(upload, addWaitingStates(upload, decision.status, queued), now, refusal);
  if (!(await writeStatus(deps, UPLOADS, caches.uploads, upload, status))) return;
  for (const event of buildUploadEvents(upload.status, status)) events.event(upload, event);
}

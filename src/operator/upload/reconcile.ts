/** One upload: its Jobs are made, their results read from their pods, the status written once. */

import { JOBS, type Pod } from '../../kube/core.ts';
import { ACCOUNT_LABEL, importJobName, renditionJobName } from '../../resources/common/names.ts';
import type { Profile } from '../../resources/stream/profile.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { preparedBytes } from '../../resources/upload/size.ts';
import {
  BY_OWNER,
  BY_UPLOAD,
  type Caches,
  listProfilesAsked,
  listStreamsOfUpload,
  listUploadsOfAccount,
  sameSource,
} from '../caches/caches.ts';
import type { Tools } from '../caches/tools.ts';
import { findProfile, graceEnd } from '../media/items.ts';
import { isOwnedBy } from '../pods/security.ts';
import { isReason, isRefusal, keyIn, type Reconcile, splitKey, waitUntil, writeStatus } from '../runtime/controller.ts';
import type { Admission } from './admission.ts';
import { decideUpload, type UploadWorld, whileWaiting } from './decide.ts';
import { buildUploadEvents } from './events.ts';
import { buildJob, type Wish } from './job.ts';
import { isActive } from './progress.ts';
import { grantRoom } from './room.ts';

/** How long until a Job that could not be made is tried again; whether it can be depends on others (a quota, a name). */
const RETRY_MS = 60_000;

export interface UploadTools extends Tools {
  admission: Admission;
  /** How far the active Jobs are, by UID, as far as they could be asked. */
  fractions: ReadonlyMap<string, number>;
  /** How long a rendition stays that no stream asks for, in milliseconds. */
  keepUnusedMs: number;
  /** Of prepared media that an account may have. */
  maxPreparedBytes: number;
}

/** What was made with kubectl belongs to no account, and is not limited. */
function hasPreparedRoom(caches: Pick<Caches, 'uploads'>, upload: Upload, maxBytes: number): boolean {
  if (upload.metadata.labels?.[ACCOUNT_LABEL] === undefined) return true;
  return listUploadsOfAccount(caches, upload).reduce((sum, one) => sum + preparedBytes(one), 0) < maxBytes;
}

/** Until when the Job that makes this rendition may go on, where it runs and streams want it which may not go on air. */
function heldUntil(caches: UploadTools['caches'], { metadata }: Upload, profile: Profile): Date | undefined {
  const { namespace = '', name } = metadata;
  // Only a Job that runs is worth a look at all the streams.
  if (!caches.jobs.get(namespace, renditionJobName(name, profile))) return undefined;
  const ends = listStreamsOfUpload(caches, keyIn(namespace, name)).flatMap((stream) =>
    findProfile(stream) === profile ? (graceEnd(stream) ?? []) : [],
  );
  return ends.sort((a, b) => b.getTime() - a.getTime())[0];
}

/** Removes the Jobs that run for an upload which is gone; the garbage collector would come to them later. */
async function removeLeft({ caches, kube }: UploadTools, key: string): Promise<void> {
  for (const job of caches.jobs.byIndex(BY_UPLOAD, key)) {
    const { namespace = '', name, uid } = job.metadata;
    if (!isActive(job)) continue;
    try {
      await kube.delete(JOBS, namespace, name, { uid, propagationPolicy: 'Background' });
    } catch (error) {
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

export function uploadWorld(
  tools: Pick<UploadTools, 'caches' | 'fractions' | 'keepUnusedMs' | 'maxPreparedBytes' | 'settings'>,
  upload: Upload,
  now: Date,
): UploadWorld {
  const { caches, fractions, keepUnusedMs, maxPreparedBytes, settings } = tools;
  const key = keyIn(upload.metadata.namespace, upload.metadata.name);
  const jobs = caches.jobs.byIndex(BY_UPLOAD, key);
  const { held, ...asked } = listProfilesAsked(caches, key);
  const pods = new Map<string, Pod[]>();
  for (const { metadata } of jobs) pods.set(metadata.uid, caches.pods.byIndex(BY_OWNER, metadata.uid));
  return {
    ...asked,
    held: new Map([...held].map((profile) => [profile, heldUntil(caches, upload, profile)])),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods,
    fractions,
    sameSource: (sha256) => sameSource(caches, upload, sha256),
    grant: () => grantRoom(upload, listUploadsOfAccount(caches, upload), settings.maxSourceBytes),
    hasPreparedRoom: () => hasPreparedRoom(caches, upload, maxPreparedBytes),
    keepUnusedMs,
    settings,
    now,
  };
}

/** Makes a Job; answers why it cannot be made, if only others can change that. */
async function create(tools: Tools, upload: Upload, wish: Wish): Promise<string | undefined> {
  const { namespace = '' } = upload.metadata;
  try {
    tools.caches.jobs.upsert(await tools.kube.create(JOBS, namespace, buildJob(upload, wish, tools.settings)));
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const job = await tools.kube.get(JOBS, namespace, wish.name);
  if (!isOwnedBy(job, upload))
    return `A Job named "${wish.name}" exists that does not belong to this upload; delete it.`;
  tools.caches.jobs.upsert(job);
  return undefined;
}

/** Makes the Jobs whose turn it is; answers the names of those that wait for theirs, and why one cannot be made. */
async function createAll(tools: UploadTools, key: string, upload: Upload, wishes: readonly Wish[]) {
  const { admission } = tools;
  const { labels, creationTimestamp: since } = upload.metadata;
  const { allowed, waiting } = admission.ask({ key, account: labels?.[ACCOUNT_LABEL], since }, wishes);
  let refusal: string | undefined;
  try {
    for (const wish of allowed) refusal = (await create(tools, upload, wish)) ?? refusal;
  } finally {
    admission.settle(key);
  }
  const queued = new Set([...waiting].flatMap(([name, why]) => (why === 'queued' ? [name] : [])));
  return { refusal, queued };
}

async function reconcile(tools: UploadTools, key: string): Promise<{ requeueAfterMs?: number } | undefined> {
  const { caches, kube, events, clock, admission } = tools;
  const upload = caches.uploads.get(...splitKey(key));
  if (!upload || upload.metadata.deletionTimestamp) {
    admission.leave(key);
    await removeLeft(tools, key);
    return undefined;
  }
  const now = clock.now();
  const decision = decideUpload(upload, uploadWorld(tools, upload, now));
  const { namespace = '' } = upload.metadata;
  for (const { metadata } of decision.remove) {
    // Foreground: the name is free for a successor only when the pods have ended too.
    await kube.delete(JOBS, namespace, metadata.name, { uid: metadata.uid, propagationPolicy: 'Foreground' });
  }
  const { refusal, queued } = await createAll(tools, key, upload, decision.create);
  if (refusal !== undefined) events.event(upload, { type: 'Warning', reason: 'JobRefused', message: refusal });
  if (decision.waitsForRoom) queued.add(importJobName(upload.metadata.name));
  const status = whileWaiting(upload, decision.status, queued);
  if (await writeStatus(tools, UPLOADS, caches.uploads, upload, status)) {
    for (const event of buildUploadEvents(upload.status, status)) events.event(upload, event);
  }
  return refusal === undefined ? waitUntil(decision.requeueAt, now) : { requeueAfterMs: RETRY_MS };
}

/** `look` is called with the key of each upload that waited and may make a Job now. */
export const reconcileUpload =
  (tools: UploadTools, look: (uploadKey: string) => void): Reconcile =>
  async (key) => {
    try {
      return await reconcile(tools, key);
    } finally {
      // Whatever this upload did, a place may have become free for another.
      tools.admission.due().forEach(look);
    }
  };

/** One upload: its Jobs are made, their results read from their pods, the status written once. */
import { JOBS, type Pod, UPLOADS, type Upload } from '../kube/resources.ts';
import { BY_OWNER, BY_UPLOAD, splitKey, streamsOfUpload } from './caches.ts';
import { isReason, isRefusal, type Reconcile, type Tools, waitUntil, writeStatus } from './control.ts';
import { buildJob, type Wish } from './job.ts';
import { profileOfStream } from './media.ts';
import { decideUpload, type UploadWorld } from './preparation.ts';
import { isOwnedBy } from './restricted.ts';
import { uploadEvents } from './story.ts';

/** How long until a Job that could not be made is tried again; whether it can be depends on others (a quota, a name). */
const RETRY_MS = 60_000;

export function uploadWorld(
  { caches, fractions }: Pick<Tools, 'caches' | 'fractions'>,
  key: string,
  now: Date,
): UploadWorld {
  const streams = streamsOfUpload(caches, key).filter(({ metadata }) => !metadata.deletionTimestamp);
  const jobs = caches.jobs.byIndex(BY_UPLOAD, key);
  const pods = new Map<string, Pod[]>();
  for (const { metadata } of jobs) pods.set(metadata.uid, caches.pods.byIndex(BY_OWNER, metadata.uid));
  return {
    profiles: [...new Set(streams.map(profileOfStream))],
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods,
    fractions,
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

export const reconcileUpload =
  (tools: Tools): Reconcile =>
  async (key) => {
    const { caches, kube, events, clock } = tools;
    const upload = caches.uploads.get(...splitKey(key));
    if (!upload || upload.metadata.deletionTimestamp) return undefined;
    const now = clock.now();
    const { status, create: wishes, remove, lookAgainAt } = decideUpload(upload, uploadWorld(tools, key, now));
    const { namespace = '' } = upload.metadata;
    for (const { metadata } of remove) {
      // Foreground: the name is free for a successor only when the pods have ended too.
      await kube.delete(JOBS, namespace, metadata.name, { uid: metadata.uid, propagationPolicy: 'Foreground' });
    }
    let refusal: string | undefined;
    for (const wish of wishes) refusal = (await create(tools, upload, wish)) ?? refusal;
    if (refusal !== undefined) events.event(upload, { type: 'Warning', reason: 'JobRefused', message: refusal });
    if (await writeStatus(tools, UPLOADS, caches.uploads, upload, status)) {
      for (const event of uploadEvents(upload.status, status)) events.event(upload, event);
    }
    return refusal === undefined ? waitUntil(lookAgainAt, now) : { requeueAfterMs: RETRY_MS };
  };

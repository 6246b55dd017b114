/** Reads the caches of the operator for one upload. */

import type { Job, Pod } from '../../kube/core.ts';
import { ACCOUNT_LABEL, importJobName, renditionJobName } from '../../resources/common/names.ts';
import type { Profile } from '../../resources/stream/profile.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { computePreparedBytes } from '../../resources/upload/size.ts';
import {
  BY_OWNER,
  BY_UPLOAD,
  type Caches,
  listProfilesAsked,
  listStreamsOfUpload,
  listUploadsOfAccount,
  listUploadsOfContent,
  sameSource,
} from '../caches/caches.ts';
import { findGraceEnd, findProfile } from '../media/items.ts';
import { joinKey } from '../runtime/controller.ts';
import type { UploadControllerDeps } from './controller-deps.ts';
import { readTask } from './job.ts';
import type { UploadObservation } from './plan.ts';
import { isActive } from './progress.ts';
import { grantRoom } from './storage-grant.ts';
import { listWantedCards, listWantedLooks } from './wanted-looks.ts';

/** An upload that was made with kubectl belongs to no account, and is not limited. */
export function hasPreparedRoom(caches: Pick<Caches, 'uploads'>, upload: Upload, maxBytes: number): boolean {
  if (upload.metadata.labels?.[ACCOUNT_LABEL] === undefined) return true;
  return listUploadsOfAccount(caches, upload).reduce((sum, one) => sum + computePreparedBytes(one), 0) < maxBytes;
}

/** Until when a running Job may go on making a rendition that only streams ask for which may not go on air. */
function findHoldEnd(
  caches: UploadControllerDeps['caches'],
  { metadata }: Upload,
  profile: Profile,
  now: Date,
): Date | undefined {
  const { namespace = '', name } = metadata;
  // Only a Job that runs is worth a look at all the streams.
  const names = [renditionJobName(name, profile), importJobName(name)];
  if (!names.some((job) => caches.jobs.get(namespace, job))) return undefined;
  const ends = listStreamsOfUpload(caches, joinKey(namespace, name)).flatMap((stream) =>
    findProfile(stream) === profile ? (findGraceEnd(stream, now) ?? []) : [],
  );
  return ends.sort((a, b) => b.getTime() - a.getTime())[0];
}

/** The Jobs of other uploads of the account that make a rendition of the same content, by storage key: one Job makes it for all. */
function findSameWork(caches: UploadControllerDeps['caches'], upload: Upload): Map<string, Job> {
  const { media } = upload.status ?? {};
  const others = media ? listUploadsOfContent(caches, upload, media.sha256) : [];
  const found = new Map<string, Job>();
  for (const { metadata } of others) {
    for (const job of caches.jobs.byIndex(BY_UPLOAD, joinKey(metadata.namespace, metadata.name))) {
      const task = isActive(job) ? readTask(job) : undefined;
      if (task?.action === 'rendition') found.set(task.renditionKey, job);
    }
  }
  return found;
}

export function observeUpload(deps: UploadControllerDeps, upload: Upload, now: Date): UploadObservation {
  const { caches, progress, keepUnusedMs, maxPreparedBytes, settings } = deps;
  const key = joinKey(upload.metadata.namespace, upload.metadata.name);
  const jobs = caches.jobs.byIndex(BY_UPLOAD, key);
  const { held, ...asked } = listProfilesAsked(caches, key);
  const pods = new Map<string, Pod[]>();
  for (const { metadata } of jobs) pods.set(metadata.uid, caches.pods.byIndex(BY_OWNER, metadata.uid));
  return {
    ...asked,
    looks: listWantedLooks(caches, upload),
    cards: listWantedCards(caches, upload),
    held: new Map([...held].map((profile) => [profile, findHoldEnd(caches, upload, profile, now)])),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    sameWork: findSameWork(caches, upload),
    pods,
    progress,
    sameSource: (sha256) => sameSource(caches, upload, sha256),
    grant: () => grantRoom(upload, listUploadsOfAccount(caches, upload), settings.maxSourceBytes),
    hasPreparedRoom: () => hasPreparedRoom(caches, upload, maxPreparedBytes),
    keepUnusedMs,
    settings,
    now,
  };
}

/** Decides on the import of an upload: its Job, its waits, its result. Pure: no I/O, no clock. */

import { importJobName } from '../../resources/common/names.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { isArriving, type MediaInfo, sourceKey, type UploadWaiting } from '../../resources/upload/spec.ts';
import { readImportTask, wantImport } from './job.ts';
import { explainGivenUp, isWaiting, planWait } from './outage.ts';
import { type UploadError, type UploadObservation, type UploadPlan, unexpected } from './plan.ts';
import { decideGrant, noRoom, ROOM_MS } from './storage-grant.ts';

/** The profile that the import's Job is made with: one that a stream waits for already. */
function chooseProfile(upload: Upload, observed: UploadObservation): string | undefined {
  const begun = readImportTask(upload, observed.jobs);
  if (begun) return begun.profile;
  return observed.hasPreparedRoom() ? [...observed.urgent].sort()[0] : undefined;
}

/**
 * The key of the source. Uploads of an account with the same content share the older copy. `restored`: the key that the
 * upload had before it was restored.
 */
export const keptSource = (
  { metadata, status }: Upload,
  { sha256 }: MediaInfo,
  { sameSource }: UploadObservation,
  restored?: string,
): string => status?.sourceKey ?? sameSource(sha256) ?? restored ?? sourceKey(metadata.uid);

/**
 * Imports what a client still sends, where a stream waits for it: the Job is then done when the last byte is there, and a stream may play what
 * it prepares on the way. Without such a stream the Job would hold a place for nothing. A client that pauses ends it, and when more has come it
 * begins again.
 */
function importArriving(upload: Upload, observed: UploadObservation, plan: UploadPlan): void {
  const { sizeBytes, receivedBytes = 0, isPart = false } = upload.spec.source.sent ?? {};
  const profile = chooseProfile(upload, observed);
  if (sizeBytes === undefined || receivedBytes === 0 || isPart || observed.urgent.size === 0 || !profile) return;
  plan.follow(
    wantImport(upload, true, {
      profile,
      shared: observed.settings.shareRenditions,
      isArriving: true,
      begun: readImportTask(upload, observed.jobs),
    }),
  );
}

/** The media of an upload, what keeps it from being had, or neither while it is fetched. */
export function decideImport(
  upload: Upload,
  observed: UploadObservation,
  plan: UploadPlan,
  edited: boolean,
): { media?: MediaInfo; restored?: string | undefined; error?: UploadError; waiting?: UploadWaiting } {
  const { media, error } = upload.status ?? {};
  if (media) return { media };
  if (isArriving(upload.spec)) {
    importArriving(upload, observed, plan);
    return {};
  }
  if (error && !edited) return { error };
  const waiting = edited ? undefined : upload.status?.waiting;
  if (isWaiting(waiting, observed.now)) {
    plan.clear(importJobName(upload.metadata.name));
    plan.requeue(new Date(waiting.nextTryAt));
    return { waiting };
  }
  const goesOn = waiting ? { waiting } : {};
  const grant = decideGrant(upload, observed);
  if (grant === 'full') return { error: noRoom };
  if (grant === 'wait') {
    plan.waitsForRoom = true;
    plan.requeue(new Date(observed.now.getTime() + ROOM_MS));
    return goesOn;
  }
  const { shareRenditions: shared } = observed.settings;
  const profile = chooseProfile(upload, observed);
  const wantedJob = wantImport(upload, observed.urgent.size > 0, {
    granted: grant.maxBytes,
    profile,
    shared,
    isArriving: plan.hasBegunEarly(),
    begun: readImportTask(upload, observed.jobs),
  });
  const result = plan.follow(wantedJob) ?? plan.foundBy(wantedJob);
  if (!result) return goesOn;
  if (result.action === 'import') return { media: result.media, restored: result.sourceKey };
  if (result.action !== 'failed') return { error: unexpected };
  const next = planWait(waiting, result, observed.now);
  if (!next) return { error: waiting ? { ...result.error, message: explainGivenUp(result, waiting) } : result.error };
  plan.clear(importJobName(upload.metadata.name));
  plan.requeue(new Date(next.nextTryAt));
  return { waiting: next };
}

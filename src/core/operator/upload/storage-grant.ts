/**
 * Grants room in storage to an import or a preparation that is about to begin. Links wait without taking room,
 * since nobody knows how large their files are: each is granted what it may bring when it begins. Pure: no I/O, no clock.
 */

import type { Job } from '../../kube/core.ts';
import type { UploadErrorCode } from '../../lib/codes/uploads.ts';
import { importJobName } from '../../resources/common/names.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { computeCountedBytes, isFetching } from '../../resources/upload/size.ts';
import { readTask } from './job.ts';

/** `maxBytes`: what the import may bring, where that is less than the upload’s own limit. */
export type StorageGrant = { maxBytes?: number } | 'wait' | 'full';

const before = (a: Upload, b: Upload): boolean =>
  a.metadata.creationTimestamp < b.metadata.creationTimestamp ||
  (a.metadata.creationTimestamp === b.metadata.creationTimestamp && a.metadata.name < b.metadata.name);

/**
 * Grants room to the import of a link. All older links of the account count with the most that they may bring, whether they have begun
 * or not. So the answer follows from the uploads alone, and imports that begin at the same moment cannot share the same room. The
 * oldest one gets what is left, however little; the others wait until there is enough for them.
 */
export function grantRoom(upload: Upload, ofAccount: readonly Upload[], maxSourceBytes: number): StorageGrant {
  const { accountMaxBytes, source } = upload.spec;
  if (accountMaxBytes === undefined || source.url === undefined) return {};
  const findMaxBytes = ({ spec }: Upload) => Math.min(spec.maxSizeBytes ?? maxSourceBytes, maxSourceBytes);
  let left = accountMaxBytes;
  let isOldest = true;
  for (const other of ofAccount) {
    if (other.metadata.uid === upload.metadata.uid) continue;
    left -= computeCountedBytes(other);
    if (!isFetching(other) || !before(other, upload)) continue;
    left -= findMaxBytes(other);
    isOldest = false;
  }
  const most = findMaxBytes(upload);
  if (left >= most) return upload.spec.maxSizeBytes === undefined ? {} : { maxBytes: most };
  if (!isOldest) return 'wait';
  return left > 0 ? { maxBytes: left } : 'full';
}

type UploadError = { code: UploadErrorCode; message: string };

interface Asked {
  /** Jobs of the upload, by name. */
  jobs: ReadonlyMap<string, Job>;
  grant: () => StorageGrant;
}

/** How soon an upload that waits for room in its account is reconciled again. */
export const ROOM_MS = 30_000;

export const noRoom: UploadError = {
  code: 'storage_full',
  message: 'The account has used all of its storage for uploads.',
};
export const noPreparedRoom: UploadError = {
  code: 'storage_full',
  message:
    'The account has used all of its storage for prepared media. Delete uploads; the operator then retries automatically.',
};

/** Decides how much an import may bring. One that has begun keeps its grant, so that its Job goes on fitting. */
export function decideGrant(upload: Upload, observed: Asked): StorageGrant {
  const { accountMaxBytes, source } = upload.spec;
  if (accountMaxBytes === undefined || source.url === undefined) return {};
  const begun = observed.jobs.get(importJobName(upload.metadata.name));
  const task = begun && readTask(begun);
  if (!task) return observed.grant();
  return task.action === 'import' && 'url' in task && task.maxBytes !== undefined ? { maxBytes: task.maxBytes } : {};
}

/**
 * Reserves room in the account's limits for an upload of unknown length. It reserves ahead of the bytes, in steps that grow with
 * the upload, so that writes of the resource stay rare.
 */

import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { computeCountedBytes } from '../../../core/resources/upload/size.ts';
import { AppError } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import type { UploadQuota } from './quota.ts';

const SMALLEST_STEP = 16 * 2 ** 20;
/** Fraction of the received bytes. */
const STEP = 1 / 8;
const REFUSALS = new Set(['upload_quota_exceeded', 'media_too_large']);

/** `ensure(bytes)` reserves room for this many bytes. Rejects with `upload_quota_exceeded` and `media_too_large`. */
export function createGrowingReservation(
  uploads: OwnedResources<Resource>,
  quota: Pick<UploadQuota, 'grow'>,
  accountId: string,
  upload: Resource,
) {
  let room = computeCountedBytes(upload);
  const take = async (wanted: number): Promise<void> => {
    const patch = { spec: { source: { sent: { roomBytes: wanted } } } };
    await quota.grow(accountId, { bytes: room, wanted }, () => uploads.patch(upload, patch, { completes: true }));
    room = wanted;
  };
  return {
    async ensure(bytes: number): Promise<void> {
      if (bytes <= room) return;
      const ahead = bytes + Math.max(SMALLEST_STEP, Math.floor(bytes * STEP));
      try {
        await take(ahead);
      } catch (error) {
        // The last bytes that fit are accepted too.
        if (!(error instanceof AppError) || !REFUSALS.has(error.code)) throw error;
        await take(bytes);
      }
    },
  };
}

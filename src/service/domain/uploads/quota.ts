/** Keeps the uploads of an account within its limits. */

import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { computeCountedBytes } from '../../../core/resources/upload/size.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { LimitUsage } from '../limits/usage.ts';

/** Limits of an import from a link. */
export interface LinkLimits {
  /** Largest file that the account may have and has room for. */
  largest: number;
  /** Longest file that the account may have; the service's own limit applies too. */
  maxDurationSeconds: number;
  /** Limit of all uploads together: the operator computes the rest when the import begins. */
  accountMaxBytes: number;
}

export type UploadQuota = ReturnType<typeof createUploadQuota>;

export function createUploadQuota(quotas: Quotas, usage: LimitUsage) {
  const bytesClaim = (accountId: string, wanted: number) => ({
    name: 'uploadBytes' as const,
    used: usage.uploadBytes(accountId),
    wanted,
  });
  return {
    /**
     * Creates an upload of a size, in place of the parts that it joins. An unknown size needs room for a byte. Throws
     * `upload_quota_exceeded`, `quota_exceeded` and `media_too_large`.
     */
    async sent(
      accountId: string,
      { sizeBytes = 1, parts = () => [] }: { sizeBytes?: number | undefined; parts?: () => readonly Resource[] },
      draft: unknown,
      make: (room: Pick<LinkLimits, 'maxDurationSeconds'>) => Promise<Resource>,
    ): Promise<Resource> {
      await quotas.check(accountId, { name: 'largestUploadBytes', used: 0, wanted: sizeBytes });
      const maxDurationSeconds = await quotas.allowed(accountId, 'longestUploadSeconds');
      const begin = () => make({ maxDurationSeconds });
      const claims = () => {
        const { used, ...claim } = bytesClaim(accountId, sizeBytes);
        return [{ ...claim, used: used - parts().reduce((sum, part) => sum + computeCountedBytes(part), 0) }];
      };
      return quotas.make(accountId, 'uploads', draft, begin, claims, () => parts().length);
    },

    /** Raises the counted size of an upload from `bytes` to `wanted`. Throws `upload_quota_exceeded` and `media_too_large`. */
    async grow(
      accountId: string,
      { bytes, wanted }: { bytes: number; wanted: number },
      change: () => Promise<Resource>,
    ): Promise<Resource> {
      await quotas.check(accountId, { name: 'largestUploadBytes', used: 0, wanted });
      return quotas.take(accountId, () => [bytesClaim(accountId, wanted - bytes)], change);
    },

    /**
     * Creates an upload from a link. Its size is unknown, so waiting links take no room; each takes its share when its import
     * begins (operator/upload/storage-grant.ts). Throws `upload_quota_exceeded` and `quota_exceeded`.
     */
    async link(
      accountId: string,
      draft: unknown,
      make: (room: LinkLimits) => Promise<Resource>,
      { isThere = false } = {},
    ): Promise<Resource> {
      const own = await quotas.allowed(accountId, 'largestUploadBytes');
      const maxDurationSeconds = await quotas.allowed(accountId, 'longestUploadSeconds');
      const accountMaxBytes = await quotas.allowed(accountId, 'uploadBytes');
      const claims = () => [
        { name: 'linkImports' as const, used: usage.linkImports(accountId), wanted: 1 },
        bytesClaim(accountId, 1),
      ];
      const begin = (left: (name: 'uploadBytes') => number) =>
        make({ largest: Math.min(own, left('uploadBytes')), maxDurationSeconds, accountMaxBytes });
      // A retried import counts as an upload already.
      if (isThere) return quotas.begin(accountId, claims, begin);
      return quotas.make(accountId, 'uploads', draft, begin, claims);
    },
  };
}

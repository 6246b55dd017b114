/** Keeps the uploads of an account within its limits. */

import type { Upload as Resource } from '../../resources/upload/resource.ts';
import { countedBytes } from '../../resources/upload/size.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { Usage } from '../limits/usage.ts';

/** How much a link may bring. */
export interface Room {
  /** The largest file that the account may have, and has room for. */
  largest: number;
  /** The longest file that the account may have; the service's own limit holds besides. */
  maxDurationSeconds: number;
  /** All uploads of the account together: the operator looks at what is left of it when the import begins. */
  accountMaxBytes: number;
}

export type Within = ReturnType<typeof createWithin>;

export function createWithin(quotas: Quotas, usage: Usage) {
  const bytesClaim = (accountId: string, wanted: number) => ({
    name: 'uploadBytes' as const,
    used: usage.uploadBytes(accountId),
    wanted,
  });
  return {
    /**
     * Makes an upload of so many bytes, in place of the parts that are there to be put together. One whose size is not known yet needs
     * room for a byte. Throws `upload_quota_exceeded`, `quota_exceeded` and `media_too_large`.
     */
    async sent(
      accountId: string,
      { sizeBytes = 1, parts = () => [] }: { sizeBytes?: number | undefined; parts?: () => readonly Resource[] },
      draft: unknown,
      make: (room: Pick<Room, 'maxDurationSeconds'>) => Promise<Resource>,
    ): Promise<Resource> {
      await quotas.check(accountId, { name: 'largestUploadBytes', used: 0, wanted: sizeBytes });
      const maxDurationSeconds = await quotas.allowed(accountId, 'longestUploadSeconds');
      const begin = () => make({ maxDurationSeconds });
      const claims = () => {
        const { used, ...claim } = bytesClaim(accountId, sizeBytes);
        return [{ ...claim, used: used - parts().reduce((sum, part) => sum + countedBytes(part), 0) }];
      };
      return quotas.make(accountId, 'uploads', draft, begin, claims, () => parts().length);
    },

    /** Lets an upload that counts as `bytes` count as `wanted`. Throws `upload_quota_exceeded` and `media_too_large`. */
    async grow(
      accountId: string,
      { bytes, wanted }: { bytes: number; wanted: number },
      change: () => Promise<Resource>,
    ): Promise<Resource> {
      await quotas.check(accountId, { name: 'largestUploadBytes', used: 0, wanted });
      return quotas.take(accountId, () => [bytesClaim(accountId, wanted - bytes)], change);
    },

    /**
     * Makes an upload from a link. How large its file is, is not known yet, so that links wait without taking room; each takes
     * what it may bring when its import begins (operator/importroom.ts). Throws `upload_quota_exceeded` and `quota_exceeded`.
     */
    async link(
      accountId: string,
      draft: unknown,
      make: (room: Room) => Promise<Resource>,
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
      // One that is fetched again is counted as an upload already.
      if (isThere) return quotas.begin(accountId, claims, begin);
      return quotas.make(accountId, 'uploads', draft, begin, claims);
    },
  };
}

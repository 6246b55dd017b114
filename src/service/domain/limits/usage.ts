/** Computes an account's usage of each limit in limits.ts from the caches of Kubernetes' resources. */

import type { KubeObject, Stored } from '../../../core/kube/types.ts';
import { systemClock } from '../../../core/lib/clock.ts';
import type { Destination } from '../../../core/resources/destination/resource.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { draftBytes, recordBytes } from '../../../core/resources/record-bytes.ts';
import type { Scene } from '../../../core/resources/scene/resource.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { isRetryAsked } from '../../../core/resources/upload/requested.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { computeCountedBytes, computePreparedBytes, isFetching } from '../../../core/resources/upload/size.ts';
import type { LimitClaim, LimitName } from '../../settings/limits.ts';
import type { OwnedResources } from './owned-resources.ts';

export interface UsageDeps {
  streams: OwnedResources<LoopStream>;
  destinations: OwnedResources<Destination>;
  playlists: OwnedResources<Playlist>;
  uploads: OwnedResources<Upload>;
  scenes: OwnedResources<Scene>;
}

export type Noun = keyof UsageDeps;
const NOUNS = ['streams', 'destinations', 'playlists', 'uploads', 'scenes'] as const satisfies readonly Noun[];

const sum = <T>(items: readonly T[], measure: (item: T) => number): number =>
  items.reduce((total, item) => total + measure(item), 0);

export type LimitUsage = ReturnType<typeof createUsage>;

export function createUsage(owned: UsageDeps) {
  const records = (accountId: string): number =>
    sum(NOUNS, (noun) => sum(owned[noun].list(accountId) as readonly Stored<KubeObject>[], recordBytes));
  const uploads = (accountId: string) => owned.uploads.list(accountId);

  const prepared = (accountId: string) => sum(uploads(accountId), computePreparedBytes);

  const linkImports = (accountId: string): number =>
    uploads(accountId).filter((one) => isFetching(one) || isRetryAsked(one, systemClock.now())).length;

  return {
    recordBytes: records,
    uploadBytes: (accountId: string) => sum(uploads(accountId), computeCountedBytes),
    linkImports,

    /**
     * Returns the claims of one more object of a noun, in place of `replaced` others. There are none if an earlier try of the same
     * request created it: the caches count it already.
     */
    claims(
      accountId: string,
      noun: Noun,
      draft: unknown,
      more: () => readonly LimitClaim[] = () => [],
      replaced = 0,
    ): readonly LimitClaim[] {
      if (owned[noun].earlier(accountId) !== undefined) return [];
      return [
        { name: noun, used: owned[noun].list(accountId).length - replaced, wanted: 1 },
        { name: 'recordBytes', used: records(accountId), wanted: draftBytes(noun, draft) },
        // A stream needs prepared media.
        ...(noun === 'streams' ? [{ name: 'preparedBytes' as const, used: prepared(accountId), wanted: 1 }] : []),
        ...more(),
      ];
    },

    /** Returns every usage that the caches contain. */
    all: (accountId: string): Partial<Record<LimitName, number>> => ({
      ...Object.fromEntries(NOUNS.map((noun) => [noun, owned[noun].list(accountId).length])),
      recordBytes: records(accountId),
      uploadBytes: sum(uploads(accountId), computeCountedBytes),
      linkImports: linkImports(accountId),
      preparedBytes: prepared(accountId),
    }),
  };
}

/** What an account has of each thing that limits.ts limits, counted in the caches of Kubernetes' resources. */
import { systemClock } from '../clock.ts';
import type { Destination, LoopStream, Playlist, Upload } from '../kube/resources.ts';
import type { KubeObject, Stored } from '../kube/types.ts';
import { oncePer } from '../once.ts';
import { keptBytes } from '../playlists/kept.ts';
import { isRetryAsked } from '../uploads/asked.ts';
import { countedBytes, isFetching, preparedBytes } from '../uploads/size.ts';
import type { Claim, LimitName } from './limits.ts';
import type { Owned } from './owned.ts';

/** Besides what we write of an object: its metadata, who manages which field, and its status. */
const OVERHEAD = 1024;
/** The Secret of a destination. */
const SECRET = 2048;

export interface UsageDeps {
  streams: Owned<LoopStream>;
  destinations: Owned<Destination>;
  playlists: Owned<Playlist>;
  uploads: Owned<Upload>;
}

export type Noun = keyof UsageDeps;
const NOUNS = ['streams', 'destinations', 'playlists', 'uploads'] as const satisfies readonly Noun[];

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Bytes that an object takes in Kubernetes' database, with what comes and goes with it. */
export const recordBytes = oncePer((object: Stored<KubeObject>): number => {
  const versions = object.kind === 'Playlist' ? keptBytes(object as unknown as Playlist).total : 0;
  return OVERHEAD + bytesOf(object) + versions + (object.kind === 'Destination' ? SECRET : 0);
});

/** The same of one that is going to be made. */
const draftBytes = (noun: Noun, draft: unknown): number => {
  // A playlist is published at once, and its first version is kept.
  const copies = noun === 'playlists' ? 3 : 1;
  return OVERHEAD + copies * bytesOf(draft) + (noun === 'destinations' ? SECRET : 0);
};

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

export type Usage = ReturnType<typeof createUsage>;

export function createUsage(owned: UsageDeps) {
  const records = (accountId: string): number =>
    sum(NOUNS, (noun) => sum(owned[noun].list(accountId) as readonly Stored<KubeObject>[], recordBytes));
  const uploads = (accountId: string) => owned.uploads.list(accountId);

  const prepared = (accountId: string) => sum(uploads(accountId), preparedBytes);

  const linkImports = (accountId: string): number =>
    uploads(accountId).filter((one) => isFetching(one) || isRetryAsked(one, systemClock.now())).length;

  return {
    recordBytes: records,
    uploadBytes: (accountId: string) => sum(uploads(accountId), countedBytes),
    linkImports,

    /** What one more of a noun takes, in place of `replaced` others. None where an earlier try of the same request has made it: that is in its place already. */
    claims(
      accountId: string,
      noun: Noun,
      draft: unknown,
      more: () => readonly Claim[] = () => [],
      replaced = 0,
    ): readonly Claim[] {
      if (owned[noun].earlier(accountId) !== undefined) return [];
      return [
        { name: noun, used: owned[noun].list(accountId).length - replaced, wanted: 1 },
        { name: 'recordBytes', used: records(accountId), wanted: draftBytes(noun, draft) },
        // A stream asks for its media to be prepared.
        ...(noun === 'streams' ? [{ name: 'preparedBytes' as const, used: prepared(accountId), wanted: 1 }] : []),
        ...more(),
      ];
    },

    /** Everything that the caches tell. */
    all: (accountId: string): Partial<Record<LimitName, number>> => ({
      ...Object.fromEntries(NOUNS.map((noun) => [noun, owned[noun].list(accountId).length])),
      recordBytes: records(accountId),
      uploadBytes: sum(uploads(accountId), countedBytes),
      linkImports: linkImports(accountId),
      preparedBytes: prepared(accountId),
    }),
  };
}

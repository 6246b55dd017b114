/** Computes how many bytes an object takes in Kubernetes' database. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../kube/types.ts';
import { memoize } from '../lib/memoize.ts';
import type { Playlist } from './playlist/resource.ts';
import { countVersionBytes } from './playlist/version-bytes.ts';

/** Besides what we write of an object: its metadata, who manages which field, and its status. */
const OVERHEAD = 1024;
/** The Secret of a destination. */
const SECRET = 2048;

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Bytes that an object takes in Kubernetes' database, with what comes and goes with it. */
export const recordBytes = memoize((object: Stored<KubeObject>): number => {
  const versions = object.kind === 'Playlist' ? countVersionBytes(object as unknown as Playlist).total : 0;
  return OVERHEAD + countBytes(object) + versions + (object.kind === 'Destination' ? SECRET : 0);
});

/** The same of one that is going to be made. */
export const draftBytes = (
  noun: 'streams' | 'destinations' | 'playlists' | 'uploads' | 'scenes',
  draft: unknown,
): number => {
  // A playlist is published at once, and its first version is kept.
  const copies = noun === 'playlists' ? 3 : 1;
  return OVERHEAD + copies * countBytes(draft) + (noun === 'destinations' ? SECRET : 0);
};

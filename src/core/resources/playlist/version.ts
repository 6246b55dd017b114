/**
 * Reads the version of a playlist. Kubernetes raises `metadata.generation` by one for each change of the spec, and begins with 1
 * again where a backup is restored under another UID. So an annotation records which version a generation of a UID had: backup tools,
 * exports and GitOps keep annotations, and by default no status. Versions never go back. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { parseAs } from '../../lib/parse.ts';
import { VERSION_ANNOTATION } from '../common/names.ts';
import type { Playlist } from './resource.ts';
import { readPublished } from './spec.ts';

/** Restores whose kept versions are found. */
const MAX_EARLIER = 8;
const UID = Type.String({ minLength: 1, maxLength: 63 });
const Recorded = Type.Object({
  uid: UID,
  generation: Type.Integer({ minimum: 1 }),
  version: Type.Integer({ minimum: 1, maximum: 2 ** 31 }),
  /** UIDs that the playlist had before, the latest first. */
  earlierUIDs: Type.Optional(Type.Array(UID, { maxItems: MAX_EARLIER })),
});

type Meta = Pick<Playlist, 'metadata'>;

const readRecord = ({ metadata }: Meta): Static<typeof Recorded> | undefined =>
  parseAs(Recorded, metadata.annotations?.[VERSION_ANNOTATION]);

/** The first generation of a restored playlist is the version that was recorded. */
export function readVersion(playlist: Meta): number {
  const { uid, generation = 1 } = playlist.metadata;
  const record = readRecord(playlist);
  if (record) return Math.max(1, record.version + generation - (record.uid === uid ? record.generation : 1));
  // An older release wrote no record. A version that was published was not the last one for certain.
  const published = readPublished(playlist)?.version ?? 0;
  return published > generation ? published + generation : generation;
}

/** UIDs under which the playlist was backed up, the latest first; without its own. */
export function listEarlierUids(playlist: Meta): string[] {
  const { uid, earlierUIDs = [] } = readRecord(playlist) ?? { uid: playlist.metadata.uid };
  return [...new Set([uid, ...earlierUIDs])].filter((one) => one !== playlist.metadata.uid).slice(0, MAX_EARLIER);
}

function annotate(playlist: Meta, more: number): Record<string, string> {
  const { uid, generation = 1 } = playlist.metadata;
  const earlierUIDs = listEarlierUids(playlist);
  const record: Static<typeof Recorded> = {
    uid,
    generation: generation + more,
    version: readVersion(playlist) + more,
    ...(earlierUIDs.length > 0 && { earlierUIDs }),
  };
  return { [VERSION_ANNOTATION]: JSON.stringify(record) };
}

/** The annotation for a write that changes the spec of exactly this version of the object. */
export const annotateNextVersion = (playlist: Meta): Record<string, string> => annotate(playlist, 1);

/**
 * The annotation for a write that leaves the spec as it is; none where the version is recorded. The first version of a playlist that was
 * never restored needs no record, since a restore begins with 1 as well.
 */
export function annotateSameVersion(playlist: Meta): Record<string, string> {
  const { uid, generation = 1 } = playlist.metadata;
  const record = readRecord(playlist);
  const isRecorded = record ? record.uid === uid && record.generation === generation : readVersion(playlist) === 1;
  return isRecorded ? {} : annotate(playlist, 0);
}

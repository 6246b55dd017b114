/** Finds objects by the names that a person gives: `NAME`, or `KIND/NAME` as kubectl has it. Pure: no I/O, no clock. */
import type { Resource } from '../../kube/types.ts';
import { DESTINATIONS } from '../../resources/destination/resource.ts';
import { PLAYLISTS } from '../../resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { UPLOADS } from '../../resources/upload/resource.ts';
import { UsageError } from './call.ts';

export type ObjectKind = 'stream' | 'upload' | 'playlist' | 'destination';

/** The words for a kind: ours, and those that kubectl knows. */
const KINDS: Record<ObjectKind, { resource: Resource; words: readonly string[] }> = {
  stream: { resource: LOOPSTREAMS as Resource, words: ['stream', 'streams', 'loopstream', 'loopstreams', 'loop'] },
  upload: { resource: UPLOADS as Resource, words: ['upload', 'uploads', 'upl'] },
  playlist: { resource: PLAYLISTS as Resource, words: ['playlist', 'playlists', 'plist'] },
  destination: { resource: DESTINATIONS as Resource, words: ['destination', 'destinations', 'dest'] },
};

export const getResource = (kind: ObjectKind): Resource => KINDS[kind].resource;

export interface Reference {
  kind: ObjectKind;
  name: string;
}

/** The API server begins the names of its objects with these (docs/api.md). */
const PREFIXES: Readonly<Record<string, ObjectKind>> = {
  str: 'stream',
  upl: 'upload',
  pls: 'playlist',
  dst: 'destination',
};

/** The kind that the prefix of a name says; undefined for a name of another kind. */
export const findKindByPrefix = (name: string): ObjectKind | undefined => PREFIXES[name.split('-', 1)[0] ?? ''];

/** `usual` is the kind of a name without one. Throws UsageError for a word that is no kind of ours, or not the one allowed. */
export function parseReference(text: string, usual: ObjectKind, allowed: readonly ObjectKind[] = [usual]): Reference {
  const [word, name, ...more] = text.split('/');
  if (name === undefined) return { kind: usual, name: text };
  const bare = word?.toLowerCase().split('.', 1)[0] ?? '';
  const kind = allowed.find((one) => KINDS[one].words.includes(bare));
  if (!kind || name === '' || more.length > 0)
    throw new UsageError(`"${text}" names no ${allowed.join(', ')}. Write NAME, or ${allowed[0]}/NAME.`);
  return { kind, name };
}

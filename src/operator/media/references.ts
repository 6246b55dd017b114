/** Names the playlists and uploads that a stream refers to. Pure: no I/O, no clock. */

import type { Playlist } from '../../resources/playlist/resource.ts';
import { playedOf } from '../../resources/playlist/spec.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { isWanted, type Phase } from '../../resources/stream/spec.ts';
import type { Upload } from '../../resources/upload/resource.ts';

/** The playlists and uploads that a stream refers to, by name. Those that do not exist are not in the maps. */
export interface MediaObjects {
  playlists: ReadonlyMap<string, Playlist>;
  uploads: ReadonlyMap<string, Upload>;
}

/** Phases in which preparing a stream's media sooner would bring nothing on air sooner. */
const PATIENT = new Set<Phase | undefined>(['scheduled', 'live', 'reconnecting', 'stopping', 'ended', 'failed']);

/** Whether a stream is meant to be on air now and is not there yet, so that somebody waits for it. */
export const isWaiting = ({ spec, status }: Pick<LoopStream, 'spec' | 'status'>): boolean =>
  isWanted(spec) && !PATIENT.has(status?.phase);

/** Names of the playlists that a stream refers to, of both kinds. */
export const playlistNames = (stream: Pick<LoopStream, 'spec'>): string[] => [
  ...(stream.spec.playlistRefs ?? []),
  ...(stream.spec.audioPlaylistRefs ?? []),
];

/** Names of the uploads that streams play of a playlist, in order. */
export const itemNames = (playlist: Pick<Playlist, 'metadata' | 'spec'>): string[] =>
  playedOf(playlist).items.map((item) => item.uploadRef);

/** Names of all uploads that a stream plays, each once. */
export function uploadNames({ spec }: Pick<LoopStream, 'spec'>, playlists: MediaObjects['playlists']): string[] {
  const fromLists = (refs: string[] = []) => refs.flatMap((ref) => itemsOfList(playlists.get(ref)));
  const single = spec.uploadRef === undefined ? [] : [spec.uploadRef];
  const video = spec.playlistRefs?.length ? fromLists(spec.playlistRefs) : single;
  return [...new Set([...video, ...fromLists(spec.audioPlaylistRefs)])];
}

const itemsOfList = (playlist: Playlist | undefined): string[] => (playlist ? itemNames(playlist) : []);

/** Attaches a new playlist to a stream: after its other playlists, or in place of its single video. */

import { KubeError } from '../../../core/kube/types.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import type { PlaylistSpec } from '../../../core/resources/playlist/spec.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { MAX_PLAYLISTS } from '../../../core/resources/stream/spec.ts';
import { AppError, type FieldError, validationFailed } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';

/** Concurrent writers of the stream before the request fails with a conflict. */
const TRIES = 5;
/** Time for the watch to deliver their writes. */
const SEEN_MS = 1_000;

const at = (message: string): FieldError => ({ path: '/streamID', message });
const MISSING = at('names a stream that does not exist');
const FULL = at(`names a stream that has ${MAX_PLAYLISTS} playlists`);

const readNames = ({ spec }: LoopStream, track: PlaylistSpec['track']): string[] =>
  (track === 'audio' ? spec.audioPlaylistNames : spec.playlistNames) ?? [];

/** Playlists replace a video, as in an update of the stream. */
const buildSpec = (track: PlaylistSpec['track'], names: string[]) =>
  track === 'audio' ? { audioPlaylistNames: names } : { playlistNames: names, uploadName: null };

/** A refusal changed nothing; any other error may hide a success. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError || (error instanceof KubeError && error.status >= 400 && error.status < 500);

/** `remove` deletes a playlist and all that belongs to it. */
export function createAttacher(
  streams: OwnedResources<LoopStream>,
  playlists: OwnedResources<Playlist>,
  remove: (playlist: Playlist) => Promise<void>,
) {
  /** Lists validation errors. Throws `conflict` for a stream that is being deleted. */
  const problems = (accountId: string, streamID: string, track: PlaylistSpec['track'], mine?: string): FieldError[] => {
    const stream = streams.seek(accountId, streamID);
    if (!stream) return [MISSING];
    if (stream.metadata.deletionTimestamp) throw new AppError('conflict', 'The stream is being deleted.');
    const others = readNames(stream, track).filter((name) => name !== mine);
    return others.length >= MAX_PLAYLISTS ? [FULL] : [];
  };

  const add = async (accountId: string, streamID: string, { metadata, spec: { track } }: Playlist): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const wrong = problems(accountId, streamID, track, metadata.name);
      if (wrong.length > 0) throw validationFailed(wrong);
      const stream = streams.get(accountId, streamID);
      const names = readNames(stream, track);
      // An earlier try of the same request attached it.
      if (names.includes(metadata.name)) return;
      const { resourceVersion } = stream.metadata;
      try {
        // A patch replaces the whole list: its resourceVersion keeps concurrent additions from being lost.
        const spec = buildSpec(track, [...names, metadata.name]);
        await streams.patch(stream, { metadata: { resourceVersion }, spec }, { completes: true });
        return;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (error.code === 'stream_not_found') throw validationFailed([MISSING]);
        if (error.code !== 'conflict' || tries === TRIES) throw error;
        await streams.until(accountId, streamID, (now) => now?.metadata.resourceVersion !== resourceVersion, SEEN_MS);
      }
    }
  };

  return {
    /** Validates before anything is created. */
    problems: (accountId: string, streamID: string | undefined, track: PlaylistSpec['track']): FieldError[] =>
      streamID === undefined ? [] : problems(accountId, streamID, track, playlists.earlier(accountId)?.metadata.name),

    /**
     * Attaches the new playlist, or deletes it if the stream rejects it. If the result is unknown, the playlist stays; a retry of
     * the request continues with it.
     */
    async attach(accountId: string, streamID: string | undefined, made: Playlist): Promise<void> {
      if (streamID === undefined) return;
      try {
        await add(accountId, streamID, made);
      } catch (error) {
        if (isRefusal(error)) await remove(made).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** Playlists: ordered lists of uploads that streams loop. */
import type { Connection, PageArgs } from '../account/connection.ts';
import type { Owned } from '../account/owned.ts';
import { AppError, validationFailed } from '../errors.ts';
import type { LoopStream, Playlist as Resource, Upload } from '../kube/resources.ts';
import type { Playlist, PlaylistCreate, PlaylistSummary } from './record.ts';

export type PlaylistService = ReturnType<typeof createPlaylistService>;

export interface PlaylistServiceDeps {
  playlists: Owned<Resource>;
  uploads: Owned<Upload>;
  /** With the index `playlist`. */
  streams: Owned<LoopStream>;
}

export function createPlaylistService({ playlists, uploads, streams }: PlaylistServiceDeps) {
  const streamsOf = (accountId: string, id: string) =>
    streams
      .referring(accountId, 'playlist', id)
      .map(({ metadata }) => metadata.name)
      .sort();

  const summarize =
    (accountId: string) =>
    ({ metadata, spec }: Resource): PlaylistSummary => ({
      id: metadata.name,
      createdAt: metadata.creationTimestamp,
      name: spec.displayName ?? metadata.name,
      kind: spec.kind,
      mode: spec.mode,
      streamID: streamsOf(accountId, metadata.name)[0] ?? '',
      version: metadata.generation ?? 1,
    });

  const show = (accountId: string, playlist: Resource): Playlist => ({
    ...summarize(accountId)(playlist),
    items: playlist.spec.items.map(({ uploadRef }) => ({ uploadObjectID: uploadRef })),
  });

  return {
    async create(accountId: string, { name, kind, mode, items }: PlaylistCreate): Promise<Playlist> {
      const errors = items.flatMap(({ uploadObjectID }, i) => {
        const path = `/items/${i}/uploadObjectID`;
        const upload = uploads.find(accountId, uploadObjectID);
        if (!upload) return [{ path, message: 'names an upload that does not exist' }];
        // The sound of a video can be played; an audio file has no picture.
        if (kind === 'video' && upload.spec.type !== 'video')
          return [{ path, message: 'names an upload of type AUDIO' }];
        return [];
      });
      if (errors.length > 0) throw validationFailed(errors);
      const made = await playlists.create(accountId, () => ({
        ...(name === undefined ? {} : { displayName: name }),
        kind,
        mode,
        items: items.map(({ uploadObjectID }) => ({ uploadRef: uploadObjectID })),
      }));
      return show(accountId, made);
    },

    /** `where` is asked of each as clients see it. */
    list(accountId: string, args: PageArgs, where?: (it: PlaylistSummary) => boolean): Connection<PlaylistSummary> {
      const shown = summarize(accountId);
      return playlists.page(accountId, args, shown, where && ((playlist) => where(shown(playlist))));
    },

    get: (accountId: string, id: string): Playlist => show(accountId, playlists.get(accountId, id)),

    async delete(accountId: string, id: string): Promise<void> {
      const playlist = playlists.get(accountId, id);
      const streamIDs = streamsOf(accountId, id);
      if (streamIDs.length > 0) {
        const detail = `Streams play this playlist: ${streamIDs.join(', ')}.`;
        throw new AppError('playlist_in_use', detail, { extras: { streamIDs } });
      }
      await playlists.delete(playlist);
    },
  };
}

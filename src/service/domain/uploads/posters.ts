/**
 * Finds the picture that stands for a playlist or a stream in a list: the poster of the first upload that has one. Everything is read from
 * memory, so a list costs no requests.
 */
import { ACCOUNT_LABEL } from '../../../core/resources/common/names.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { readPlayedPart } from '../../../core/resources/playlist/spec.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { findPoster } from '../../../core/resources/upload/poster.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import { nameVersion } from './poster.ts';

/** Items of a playlist that are looked at: a playlist of a thousand sounds without pictures has none. */
const LOOKED_AT = 20;

/** Path of an upload's poster with a version, under which it never changes; null without a poster. */
export function findPosterUrl(upload: Upload): string | null {
  const key = findPoster(upload);
  return key === undefined ? null : `/v1/uploads/${upload.metadata.name}/poster?v=${nameVersion(key)}`;
}

export type Posters = ReturnType<typeof createPosters>;

interface PostersDeps {
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  playlists: Pick<OwnedResources<Playlist>, 'find'>;
}

export function createPosters({ uploads, playlists }: PostersDeps) {
  /** Stops at the first picture. */
  const findFirst = (accountId: string, uploadNames: Iterable<string>): string | null => {
    for (const name of uploadNames) {
      const upload = uploads.find(accountId, name);
      const url = upload && findPosterUrl(upload);
      if (url) return url;
    }
    return null;
  };
  function* listPlayed(
    accountId: string,
    { uploadName, playlistNames = [], audioPlaylistNames = [] }: LoopStream['spec'],
  ) {
    if (uploadName !== undefined) yield uploadName;
    for (const name of [...playlistNames, ...audioPlaylistNames]) {
      const playlist = playlists.find(accountId, name);
      if (playlist) yield* listFirst(playlist);
    }
  }
  return {
    ofPlaylist: (accountId: string, playlist: Playlist): string | null => findFirst(accountId, listFirst(playlist)),
    /** Of the pictures, and else the cover of the sound over them. */
    ofStream({ metadata, spec }: LoopStream): string | null {
      const accountId = metadata.labels?.[ACCOUNT_LABEL];
      return accountId === undefined ? null : findFirst(accountId, listPlayed(accountId, spec));
    },
  };
}

const listFirst = (playlist: Playlist): string[] =>
  readPlayedPart(playlist)
    .items.slice(0, LOOKED_AT)
    .map(({ uploadName }) => uploadName);

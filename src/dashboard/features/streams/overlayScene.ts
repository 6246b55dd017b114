/** Finds what the preview of overlays shows of a stream: the picture of its media, and what texts stand for. Pure: no I/O, no clock. */
import type { PlaylistSummary, Upload } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import type { OverlayFacts } from '../overlays/layers.ts';
import type { EditValues } from './editValues.ts';

interface Media {
  uploads: readonly Upload[] | undefined;
  playlists: readonly PlaylistSummary[] | undefined;
}

/** The media of a stream, and its name. */
export type SceneMedia = Pick<EditValues, 'name' | 'kind' | 'videoUploadObjectID' | 'playlistIDs'>;

interface Scene {
  posterUrl: string | null;
  facts: OverlayFacts;
}

/** Of a playlist's items a form knows nothing, so their words stand for themselves. */
export function findScene(
  { name, kind, videoUploadObjectID, playlistIDs }: SceneMedia,
  { uploads, playlists }: Media,
  stream: Pick<Stream, 'posterUrl'>,
): Scene {
  const upload = kind === 'video' ? uploads?.find(({ objectID }) => objectID === videoUploadObjectID) : undefined;
  const playlist = kind === 'playlists' ? playlists?.find(({ id }) => id === playlistIDs[0]) : undefined;
  return {
    posterUrl: (upload ?? playlist)?.posterUrl ?? stream.posterUrl,
    facts: {
      'item.title': upload ? (upload.title ?? upload.name) : 'Title',
      'item.artist': upload ? (upload.artist ?? '') : 'Artist',
      'item.album': upload ? (upload.album ?? '') : 'Album',
      'playlist.name': playlist?.name ?? '',
      'stream.name': name.trim(),
    },
  };
}

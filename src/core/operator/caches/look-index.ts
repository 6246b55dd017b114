/** Indexes the streams with overlays or cards by what they refer to. Streams without are in no index here, and cost nothing. */
import { isSameJson } from '../../lib/json-equal.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { findLayerImage, listShownImages } from '../../resources/upload/layers.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { joinKey } from '../runtime/controller.ts';

/** Streams with overlays, by what they play with pictures; those with cards, by their playlists of `songs`; both by the images they show. */
export const BY_LOOK = 'look';

export const refer = (kind: 'upload' | 'playlist' | 'songs' | 'image', key: string): string => `${kind} ${key}`;

/** Values of the index for a stream. */
export function listLookReferences({ metadata, spec }: LoopStream): string[] {
  const { overlays, cards, uploadName, playlistNames = [], audioPlaylistNames = [] } = spec;
  if (!(overlays || cards) || metadata.deletionTimestamp !== undefined) return [];
  const to = (kind: Parameters<typeof refer>[0], names: readonly string[]) =>
    names.map((name) => refer(kind, joinKey(metadata.namespace, name)));
  const single = uploadName === undefined ? [] : [uploadName];
  const played = playlistNames.length > 0 ? to('playlist', playlistNames) : to('upload', single);
  return [
    ...(overlays ? played : []),
    ...(cards ? to('songs', audioPlaylistNames) : []),
    ...to('image', listShownImages(spec)),
  ];
}

interface LookStreams {
  streams: { byIndex(index: string, value: string): LoopStream[] };
}

/** Streams that show the picture of an upload over their items, or behind their cards. */
export const listStreamsOfImage = ({ streams }: LookStreams, uploadKey: string): LoopStream[] =>
  streams.byIndex(BY_LOOK, refer('image', uploadKey));

/** Whether the picture of an upload is the same as before for those that show it. */
export const isSamePicture = (current: Upload | undefined, previous: Upload | undefined): boolean =>
  isSameJson(current && findLayerImage(current), previous && findLayerImage(previous));

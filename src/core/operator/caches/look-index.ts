/** Indexes the streams with overlays or cards by what they refer to. Streams without are in no index here, and cost nothing. */
import { isSameJson } from '../../lib/json-equal.ts';
import type { Scene } from '../../resources/scene/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { findLayerImage, listImageNames, listShownImages } from '../../resources/upload/layers.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { joinKey } from '../runtime/controller.ts';

/** Streams with overlays, by what they play with pictures and by their scene; those with cards, by their playlists of `songs`; both by the images they show. */
export const BY_LOOK = 'look';
/** Scenes by the uploads of their pictures. */
export const BY_IMAGE = 'image';

export const refer = (kind: 'upload' | 'playlist' | 'songs' | 'image' | 'scene', key: string): string =>
  `${kind} ${key}`;

/** Values of the index for a stream. */
export function listLookReferences({ metadata, spec }: LoopStream): string[] {
  const { overlays, cards, uploadName, playlistNames = [], audioPlaylistNames = [] } = spec;
  if (!(overlays || cards) || metadata.deletionTimestamp !== undefined) return [];
  const to = (kind: Parameters<typeof refer>[0], names: readonly string[]) =>
    names.map((name) => refer(kind, joinKey(metadata.namespace, name)));
  const single = uploadName === undefined ? [] : [uploadName];
  const played = playlistNames.length > 0 ? to('playlist', playlistNames) : to('upload', single);
  const sceneName = overlays?.sceneName;
  return [
    ...(overlays ? played : []),
    ...(cards ? to('songs', audioPlaylistNames) : []),
    ...to('image', listShownImages(spec)),
    ...to('scene', sceneName === undefined ? [] : [sceneName]),
  ];
}

/** Values of the index for a scene. */
export const listSceneImages = ({ metadata, spec }: Scene): string[] =>
  listImageNames(spec).map((name) => joinKey(metadata.namespace, name));

interface LookStreams {
  streams: { byIndex(index: string, value: string): LoopStream[] };
}

/** Streams that show the layers of a scene. */
export const listStreamsOfScene = ({ streams }: LookStreams, sceneKey: string): LoopStream[] =>
  streams.byIndex(BY_LOOK, refer('scene', sceneKey));

/** Streams that show the picture of an upload over their items, as their own or as a part of a scene, or behind their cards. */
export function listStreamsOfImage(
  caches: LookStreams & { scenes: { byIndex(index: string, value: string): Scene[] } },
  uploadKey: string,
): LoopStream[] {
  const own = caches.streams.byIndex(BY_LOOK, refer('image', uploadKey));
  const scenes = caches.scenes.byIndex(BY_IMAGE, uploadKey);
  const shared = scenes.flatMap(({ metadata }) =>
    listStreamsOfScene(caches, joinKey(metadata.namespace, metadata.name)),
  );
  return [...own, ...shared];
}

/** Whether the picture of an upload is the same as before for those that show it. */
export const isSamePicture = (current: Upload | undefined, previous: Upload | undefined): boolean =>
  isSameJson(current && findLayerImage(current), previous && findLayerImage(previous));

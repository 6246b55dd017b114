/** Finds the changes of a scene's form, and says what they mean. Pure: no I/O, no clock. */
import type { Scene, SceneUpdate } from '../../../service/client/index.ts';
import { findLayersMistake, type OverlayFacts, type StreamOverlays } from '../overlays/layers.ts';

export interface SceneValues {
  name: string;
  /** Always layers of its own. */
  overlays: StreamOverlays;
}

/** Stand for the items of all streams of a scene. */
export const SAMPLE_FACTS: OverlayFacts = {
  'item.title': 'Title',
  'item.artist': 'Artist',
  'item.album': 'Album',
  'playlist.name': 'Playlist',
  'stream.name': 'Stream',
};

export const findSceneMistake = (overlays: StreamOverlays): string | null =>
  overlays.layers.length === 0 ? 'Add a text or a picture.' : findLayersMistake(overlays);

/** The fields that are not as they were. */
export function findSceneChanges(before: Scene, { name, overlays }: SceneValues): Omit<SceneUpdate, 'version'> {
  const { layers, required } = overlays;
  return {
    ...(name.trim() !== before.name && { name: name.trim() }),
    ...(JSON.stringify(layers) !== JSON.stringify(before.layers) && { layers }),
    ...(required !== before.required && { required }),
  };
}

const countStreams = (count: number): string => (count === 1 ? '1 stream' : `${count} streams`);

/** `2 layers · shown by 1 stream`. */
export function formatScene({ layers, streamIDs }: Pick<Scene, 'layers' | 'streamIDs'>): string {
  const count = layers.length === 1 ? '1 layer' : `${layers.length} layers`;
  return `${count} · ${streamIDs.length === 0 ? 'no stream shows it' : `shown by ${countStreams(streamIDs.length)}`}`;
}

/** Says what a change means for the streams that show the scene. */
export const describeUse = (count: number): string[] =>
  count === 0
    ? []
    : [
        `${countStreams(count)} ${count === 1 ? 'shows' : 'show'} the change where an item next begins, once its pictures are made.`,
      ];

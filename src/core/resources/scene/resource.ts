/** Declares the kind Scene, and gives streams the layers of the one that they name. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownKind } from '../common/resource.ts';
import type { LayersOrScene } from '../upload/overlays.ts';
import type { SceneSpec } from './spec.ts';

export type Scene = Stored<KubeObject<SceneSpec>>;
export const SCENES = ownKind<KubeObject<SceneSpec>>('Scene', 'scenes');

interface OverlaidStream {
  spec: { overlays?: LayersOrScene };
}

/** Returns a stream with the layers of the scene that it names; the same stream where it names none, and none that exists. */
export function withScene<T extends OverlaidStream>(
  stream: T,
  findScene: (name: string) => Pick<Scene, 'metadata' | 'spec'> | undefined,
): T {
  const { sceneName } = stream.spec.overlays ?? {};
  const scene = sceneName === undefined ? undefined : findScene(sceneName);
  if (!scene || scene.metadata.deletionTimestamp !== undefined) return stream;
  const { layers, required } = scene.spec;
  const overlays = { sceneName, layers, ...(required !== undefined && { required }) };
  return { ...stream, spec: { ...stream.spec, overlays } };
}

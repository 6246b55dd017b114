/** Creates and edits scenes: overlays that streams share by name. */
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { readLabels } from '../../../core/resources/common/labels.ts';
import { type Scene as Resource, withScene } from '../../../core/resources/scene/resource.ts';
import type { SceneSpec } from '../../../core/resources/scene/spec.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { patchLabels } from '../../lib/labels.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import type { Quotas } from '../limits/quotas.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import { findLayerErrors, type PictureUpload, showLayers, writeLayers } from '../streams/overlays.ts';
import type { createStorageEstimate } from '../streams/storage-estimate.ts';
import type { Scene, SceneChange, SceneCreate, SceneUpdate } from './record.ts';

export type SceneService = ReturnType<typeof createSceneService>;

export interface SceneServiceDeps {
  scenes: OwnedResources<Resource>;
  /** Needs the index `scene`. */
  streams: OwnedResources<LoopStream>;
  references: { upload(accountId: string, id: string): PictureUpload | undefined };
  estimateStorage: ReturnType<typeof createStorageEstimate>;
  quotas: Pick<Quotas, 'make'>;
}

/** Time for the watch to deliver a version that another replica wrote. */
const SEEN_MS = 1_000;

/** Kubernetes counts the writes of a spec. */
const readVersion = ({ metadata }: Resource): number => metadata.generation ?? 1;

export function createSceneService({ scenes, streams, references, estimateStorage, quotas }: SceneServiceDeps) {
  const findStreams = (accountId: string, { metadata }: Resource) =>
    streams.referring(accountId, 'scene', metadata.name);
  const listIds = (found: LoopStream[]) => found.map(({ metadata }) => metadata.name).sort();

  const show =
    (accountId: string) =>
    (scene: Resource): Scene => ({
      id: scene.metadata.name,
      createdAt: scene.metadata.creationTimestamp,
      name: scene.spec.displayName ?? scene.metadata.name,
      labels: readLabels(scene),
      version: readVersion(scene),
      layers: showLayers(scene.spec.layers),
      required: scene.spec.required ?? false,
      streamIDs: listIds(findStreams(accountId, scene)),
    });

  const check = (accountId: string, layers: SceneCreate['layers'] | undefined): void => {
    const errors = findLayerErrors(layers ?? [], '', (id) => references.upload(accountId, id));
    if (errors.length > 0) throw validationFailed(errors);
  };

  /** Returns the scene at `version` or newer, since the client has seen that version. */
  const upTo = async (accountId: string, id: string, version: number): Promise<Resource> => {
    const scene = scenes.get(accountId, id);
    if (readVersion(scene) >= version) return scene;
    await scenes.until(accountId, id, (now) => now === undefined || readVersion(now) >= version, SEEN_MS);
    return scenes.get(accountId, id);
  };

  return {
    async create(accountId: string, { name, labels, layers, required = false }: SceneCreate): Promise<Scene> {
      check(accountId, layers);
      const spec: SceneSpec = { displayName: name, layers: writeLayers(layers), required };
      return show(accountId)(
        await quotas.make(accountId, 'scenes', spec, () => scenes.create(accountId, () => spec, { labels })),
      );
    },

    /** `where` filters by the shape that clients see. */
    list(accountId: string, args: FilteredArgs, where?: (it: Scene) => boolean): Connection<Scene> {
      const shown = show(accountId);
      return scenes.page(accountId, args, shown, where && ((scene) => where(shown(scene))));
    },

    get: (accountId: string, id: string): Scene => show(accountId)(scenes.get(accountId, id)),

    /** The patch contains the resourceVersion, so Kubernetes accepts only one of several concurrent writers. */
    async update(
      accountId: string,
      id: string,
      { version, name, labels, layers, required }: SceneUpdate,
      { dryRun = false }: { dryRun?: boolean | undefined } = {},
    ): Promise<SceneChange> {
      const scene = await upTo(accountId, id, version);
      check(accountId, layers);
      const spec = {
        ...(name !== undefined && { displayName: name }),
        ...(layers !== undefined && { layers: writeLayers(layers) }),
        ...(required !== undefined && { required }),
      };
      const current = readVersion(scene);
      const hasLabels = readLabels(scene);
      // A retried request finds what its first try has written.
      const isMade =
        current === version + 1 &&
        isSameJson({ ...scene.spec, ...spec }, scene.spec) &&
        isSameJson(labels ?? hasLabels, hasLabels);
      if (isMade) return { ...show(accountId)(scene), storageBytes: 0, dryRun };
      if (current !== version) {
        const detail = `The scene is at version ${current}, not ${version}. Read it, and send the change for that version.`;
        throw new AppError('scene_version_conflict', detail, { extras: { currentVersion: current } });
      }
      const { resourceVersion } = scene.metadata;
      const edited = await scenes.patch(
        scene,
        { metadata: { resourceVersion, ...patchLabels(scene, labels) }, spec },
        { dryRun },
      );
      const all = findStreams(accountId, scene);
      const storageBytes = estimateStorage({
        before: all.map((stream) => withScene(stream, () => scene)),
        after: all.map((stream) => withScene(stream, () => edited)),
      });
      return { ...show(accountId)(edited), storageBytes, dryRun };
    },

    async delete(accountId: string, id: string): Promise<void> {
      const scene = scenes.get(accountId, id);
      const holders = findStreams(accountId, scene);
      if (holders.length > 0) {
        const detail = `Streams show this scene: ${callReached(holders)}.`;
        throw new AppError('scene_in_use', detail, { extras: { streamIDs: listReachedIds(holders) } });
      }
      await scenes.delete(scene);
    },
  };
}

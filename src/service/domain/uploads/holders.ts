/**
 * Finds the objects that keep an upload from being deleted: references to it, and streams that still play it without a reference.
 * After a publish, or a change of a stream's upload or list, the previous version stays on air until all of the next is prepared.
 * Until the pod switches, one of two records names it at any moment. One is the pod's program, which changes only when the next can
 * be played. The other is `status.playing` of the stream. The operator writes it before a pod can be gone, and removes it when the
 * next can be played (operator/stream/decide.ts).
 * This module reads both at one moment, but each comes by its own watch. A deletion may slip through if one lags behind, or if
 * another replica publishes an old version at the same time. Streams on air do not suffer. Pods are built from `status.playing`,
 * which names renditions, and the sweep keeps those that it and the pods name (operator/upload/sweep.ts). A version whose upload is gone
 * does not go on air: readiness reports it, and the stream keeps its current program. A lock would have to be held by all replicas
 * for every write to a playlist, so there is none.
 */

import type { Pod } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import { readPodProgram } from '../../../core/protocol/to-streamer.ts';
import { PROGRAM_ANNOTATION } from '../../../core/resources/common/names.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import type { Scene } from '../../../core/resources/scene/resource.ts';
import { listItems } from '../../../core/resources/stream/playing.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { listShownImages } from '../../../core/resources/upload/layers.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';

export interface HoldersDeps {
  /** Both need the index `upload`; that of streams is `listUploads`. */
  streams: OwnedResources<LoopStream>;
  playlists: OwnedResources<Playlist>;
  /**
   * All scenes, since a stream shows any scene of its namespace, also one that kubectl made without an account. Needs the index
   * `upload`.
   */
  allScenes: Pick<Reflector<Scene>, 'byIndex'>;
  /** Needs the index `stream`. */
  pods: Pick<Reflector<KubeObject<Pod['spec'], Pod['status']>>, 'byIndex'>;
}

/** Lists the uploads that a stream needs besides those of its playlists. */
export const listUploads = ({ spec, status }: Pick<LoopStream, 'spec' | 'status'>): string[] => [
  ...(spec.uploadName ? [spec.uploadName] : []),
  ...listShownImages(spec),
  ...(spec.slate ? [spec.slate.uploadName] : []),
  ...(status?.playing ? listItems(status.playing).map(({ id }) => id) : []),
];

export interface Holders {
  streams: LoopStream[];
  playlists: Playlist[];
  scenes: Scene[];
}

export function createHolders({ streams, playlists, allScenes, pods }: HoldersDeps) {
  /** Searches the text first, since a program may have hundreds of items. */
  const plays = (pod: KubeObject, id: string): boolean => {
    if (!pod.metadata.annotations?.[PROGRAM_ANNOTATION]?.includes(JSON.stringify(id))) return false;
    const program = readPodProgram(pod);
    return program !== undefined && listItems(program).some((item) => item.id === id);
  };

  /**
   * There is no index: for thousands of pods with hundreds of items it would be large, and every change of a pod would update it.
   * Uploads are seldom deleted.
   */
  const onAir = (accountId: string, id: string): LoopStream[] =>
    streams
      .list(accountId)
      .filter(({ metadata: { name, namespace } }) =>
        pods.byIndex('stream', name).some((pod) => pod.metadata.namespace === namespace && plays(pod, id)),
      );

  /** Lists the objects that need an upload of an account. */
  return (accountId: string, { metadata: { name: id, namespace } }: Upload): Holders => {
    const needing = new Set([...streams.referring(accountId, 'upload', id), ...onAir(accountId, id)]);
    return {
      streams: [...needing],
      playlists: playlists.referring(accountId, 'upload', id),
      scenes: allScenes.byIndex('upload', id).filter(({ metadata }) => metadata.namespace === namespace),
    };
  };
}

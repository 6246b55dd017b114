/**
 * What keeps an upload from being deleted: what refers to it, and what plays it although nothing refers to it any more.
 *
 * When another version is published, or a stream is given another upload or another list, the one before is still on air
 * until all of the next is prepared. From when that is asked for until the pod has taken it up, one of two tells of it at any
 * moment: the program that the pod carries, which is exchanged only when the next can be played, and `status.playing` of the
 * stream, which the operator writes before a pod can be gone and takes away when the next can be played (operator/decide.ts).
 *
 * Both are read here at one moment, but each comes by a watch of its own: where one lags behind the other, or another replica
 * publishes an old version just as its upload is deleted, a deletion may slip through. What is on air does not suffer by it.
 * Pods are made of `status.playing`, which names renditions and no uploads, and the sweep keeps what that and the pods name
 * (operator/sweep.ts). A version whose upload is gone is not put on air: readiness says so, and the stream stays with what it
 * plays. So no lock is taken, which all replicas would have to hold for every write to a playlist.
 */

import type { Pod } from '../../kube/core.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../kube/types.ts';
import { PROGRAM_ANNOTATION } from '../../resources/common/names.ts';
import type { Playlist } from '../../resources/playlist/resource.ts';
import { itemsOf, programOfPod } from '../../resources/stream/program.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Owned } from '../owned.ts';

export interface HoldersDeps {
  /** Both with the index `upload`, of streams by `uploadsOf`. */
  streams: Owned<LoopStream>;
  playlists: Owned<Playlist>;
  /** With the index `stream`. */
  pods: Pick<Reflector<KubeObject<Pod['spec'], Pod['status']>>, 'byIndex'>;
}

/** Uploads that a stream needs besides those of its playlists. */
export const uploadsOf = ({ spec, status }: Pick<LoopStream, 'spec' | 'status'>): string[] => [
  ...(spec.uploadRef ? [spec.uploadRef] : []),
  ...(status?.playing ? itemsOf(status.playing).map(({ id }) => id) : []),
];

export interface Holders {
  streamIDs: string[];
  playlistIDs: string[];
}

export function createHolders({ streams, playlists, pods }: HoldersDeps) {
  const idsOf = (objects: LoopStream[] | Playlist[]) => objects.map(({ metadata }) => metadata.name).sort();

  /** The text is looked through first, for a program may have hundreds of items. */
  const plays = (pod: KubeObject, id: string): boolean => {
    if (!pod.metadata.annotations?.[PROGRAM_ANNOTATION]?.includes(JSON.stringify(id))) return false;
    const program = programOfPod(pod);
    return program !== undefined && itemsOf(program).some((item) => item.id === id);
  };

  /**
   * No index: of thousands of pods with hundreds of items each it would be large and be kept up with every change of a pod,
   * and uploads are seldom deleted.
   */
  const onAir = (accountId: string, id: string): LoopStream[] =>
    streams
      .list(accountId)
      .filter(({ metadata }) => pods.byIndex('stream', metadata.name).some((pod) => plays(pod, id)));

  /** What of an account needs an upload. */
  return (accountId: string, id: string): Holders => {
    const needing = new Set([...streams.referring(accountId, 'upload', id), ...onAir(accountId, id)]);
    return { streamIDs: idsOf([...needing]), playlistIDs: idsOf(playlists.referring(accountId, 'upload', id)) };
  };
}

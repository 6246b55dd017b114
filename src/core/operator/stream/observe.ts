/** Reads the caches of the operator for one stream. */

import type { Pod } from '../../kube/core.ts';
import { FINALIZER, POD_FINALIZER, podNames } from '../../resources/common/names.ts';
import { withScene } from '../../resources/scene/resource.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import { listItems } from '../../resources/stream/playing.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { listShownImages } from '../../resources/upload/layers.ts';
import { BY_STREAM } from '../caches/caches.ts';
import { listPlaylistNames, listRulePlaylists, listUploadNames } from '../media/items.ts';
import { isOwnedBy, isStray } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import { isOutOfService } from '../pods/taints.ts';
import { joinKey } from '../runtime/controller.ts';
import type { StreamControllerDeps } from './controller-deps.ts';
import { isOutdated } from './handover.ts';
import type { Observation } from './observation.ts';
import { type PodTime, readPodTime } from './sessions.ts';

/** The objects of these names that exist. */
function collect<T>(names: readonly string[], get: (name: string) => T | undefined): Map<string, T> {
  const found = new Map<string, T>();
  for (const name of names) {
    const object = get(name);
    if (object) found.set(name, object);
  }
  return found;
}

/** The stream's pods: first the one that publishes as far as the status knows, or the older one, then the other. */
function sortPods(stream: LoopStream, own: readonly Pod[]): [main: Pod | undefined, other: Pod | undefined] {
  const since = ({ metadata }: Pod) => metadata.creationTimestamp;
  const sorted = own.toSorted((a, b) => since(a).localeCompare(since(b)));
  const main =
    sorted.find((pod) => pod.metadata.uid === stream.status?.podUID) ?? sorted.find((pod) => !isOver(pod)) ?? sorted[0];
  return [main, sorted.find((pod) => pod !== main)];
}

/** Whether a pod needs its finalizer again. A pod that is being deleted accepts none. */
export const isLoose = (pod: Pod): boolean =>
  !isOver(pod) && pod.metadata.deletionTimestamp === undefined && !pod.metadata.finalizers?.includes(POD_FINALIZER);

function lacksFinalizer({ metadata }: LoopStream, own: readonly Pod[]): boolean {
  if (metadata.deletionTimestamp !== undefined || own.every(isOver)) return false;
  return !metadata.finalizers?.includes(FINALIZER) || own.some(isLoose);
}

/** Observes a stream, which has the layers of its scene as if they were its own. */
export function observeStream(
  { caches, streamers, settings, rollout }: Omit<StreamControllerDeps, 'kube'>,
  found: LoopStream,
  now: Date,
): Observation {
  const { namespace = '', name } = found.metadata;
  const stream = withScene(found, (scene) => caches.scenes.get(namespace, scene));
  const getPlaylist = (playlist: string) => caches.playlists.get(namespace, playlist);
  const direct = collect(listPlaylistNames(stream), getPlaylist);
  const ofRules = [...direct.values()].flatMap(listRulePlaylists);
  const playlists = new Map([...direct, ...collect(ofRules, getPlaylist)]);
  const { slate } = stream.spec;
  const images = [...listShownImages(stream.spec), ...(slate ? [slate.uploadName] : [])];
  // Items that go on may be in no list any more, and somebody may put them in quarantine.
  const kept = stream.status?.playing ? listItems(stream.status.playing).map(({ id }) => id) : [];
  const uploads = [...listUploadNames(stream, playlists), ...images, ...kept];
  const named = collect(podNames(name), (pod) => caches.pods.get(namespace, pod));
  const own = [...named.values()].filter((one) => isOwnedBy(one, stream));
  const [pod, other] = sortPods(stream, own);
  const nodeName = pod?.spec.nodeName;
  return {
    stream,
    playlists,
    uploads: collect(uploads, (upload) => caches.uploads.get(namespace, upload)),
    destinations: collect(listReceivers(stream.spec), (destination) => caches.destinations.get(namespace, destination)),
    pod,
    other,
    freeName: podNames(name).find((one) => !named.has(one)),
    isNameTaken: own.length === 0 && named.size > 0,
    strays: [...named.values()].filter((one) => isStray(one, 'streamer', stream)),
    lacksFinalizer: lacksFinalizer(stream, own),
    node: nodeName === undefined ? undefined : caches.nodes?.get('', nodeName),
    ...(pod && isOutdated(pod, settings) && { mayRoll: rollout.mayRoll(stream, now) }),
    report: pod && streamers.report(pod.metadata.uid),
    now,
  };
}

/** The pods of a stream as far as the cache knows them. */
export function listCachedPods({ caches }: Pick<StreamControllerDeps, 'caches'>, stream: LoopStream): Pod[] {
  const { namespace, name } = stream.metadata;
  return caches.pods.byIndex(BY_STREAM, joinKey(namespace, name)).filter((pod) => isOwnedBy(pod, stream));
}

/**
 * The pods of a stream that are being deleted, whose node is out of service as far as the cache knows. An operator that may not look at
 * nodes finds none.
 */
export const findLostPods = ({ caches }: Pick<StreamControllerDeps, 'caches'>, streamKey: string): Pod[] =>
  caches.pods.byIndex(BY_STREAM, streamKey).filter((pod) => {
    if (pod.metadata.deletionTimestamp === undefined || isOver(pod)) return false;
    const node = caches.nodes?.get('', pod.spec.nodeName ?? '');
    return node !== undefined && isOutOfService(node);
  });

/** UIDs of the pods of a stream that are over. */
export const findEndedPods = (
  { caches }: Pick<StreamControllerDeps, 'caches'>,
  streamKey: string,
): ReadonlySet<string> =>
  new Set(
    caches.pods
      .byIndex(BY_STREAM, streamKey)
      .filter(isOver)
      .map(({ metadata }) => metadata.uid),
  );

/** The time on air of each pod of a stream, as the pods are now. */
export const observePodTimes = (
  { caches, streamers }: Pick<StreamControllerDeps, 'caches' | 'streamers'>,
  stream: LoopStream,
): PodTime[] =>
  listCachedPods({ caches }, stream).map((pod) => {
    const report = streamers.report(pod.metadata.uid);
    return readPodTime(pod, report?.runs, report?.reportsTooLittle);
  });

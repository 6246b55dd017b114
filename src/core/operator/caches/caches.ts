/** Caches the objects that decisions are made from, and enqueues the keys that a change concerns. */

import {
  type ContainerStatus,
  JOBS,
  NODES,
  type NodeSpec,
  type NodeStatus,
  PODS,
  type Pod,
  type PodStatus,
} from '../../kube/core.ts';
import { readByPatch } from '../../kube/namespace.ts';
import type { NamespaceWatch } from '../../kube/namespace-watch.ts';
import { createReflector, type Reflector } from '../../kube/reflector.ts';
import { type Kube, KubeError, type KubeObject } from '../../kube/types.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Logger } from '../../lib/log.ts';
import { keepOwnMetadata } from '../../resources/common/kept.ts';
import {
  ACCOUNT_LABEL,
  COMPONENT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PUBLISHED_ANNOTATION,
  STREAM_LABEL,
  UPLOAD_LABEL,
} from '../../resources/common/names.ts';
import { believeDestination } from '../../resources/destination/own-status.ts';
import { findPlatformExpiry, isSameView, withoutPlatform } from '../../resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import { holdsDestination } from '../../resources/destination/spec.ts';
import { believePlaylist } from '../../resources/playlist/own-status.ts';
import { PLAYLISTS, type Playlist } from '../../resources/playlist/resource.ts';
import { SCENES } from '../../resources/scene/resource.ts';
import { listDestinationNames, listReceivers } from '../../resources/stream/destinations.ts';
import { keepSmallTemplate } from '../../resources/stream/kept.ts';
import { believeStream } from '../../resources/stream/own-status.ts';
import { PROFILES, type Profile } from '../../resources/stream/profile.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { soundProfile } from '../../resources/upload/loudness.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { findItemProblem } from '../media/item-problem.ts';
import {
  findHold,
  findProfile,
  isWaiting,
  listItemNames,
  listPlayedLists,
  listPlaylistNames,
  listRulePlaylists,
} from '../media/items.ts';
import { keepRequests } from '../pods/requests.ts';
import { isOver } from '../pods/status.ts';
import { joinKey } from '../runtime/controller.ts';
import {
  BY_IMAGE,
  BY_LOOK,
  isSamePicture,
  listLookReferences,
  listSceneImages,
  listStreamsOfImage,
  listStreamsOfScene,
} from './look-index.ts';
import { BY_SLATE, listSlateKeys, listSlateReferences, listSlatesAsked } from './slate-index.ts';

type Meta = Pick<KubeObject, 'metadata'>;

const buildKey = ({ metadata }: Meta): string => joinKey(metadata.namespace, metadata.name);

/** Indexes by what an object refers to. */
export const BY_UPLOAD = 'upload';
/** Streams by what they ask of an upload or a playlist that they name. */
const BY_ASK = 'ask';
/** Streams by the sound that they want of each item. */
const BY_SOUND = 'sound';
export const BY_PLAYLIST = 'playlist';
/** Playlists by those that their rules play. */
const BY_RULE = 'rule';
export const BY_DESTINATION = 'destination';
/** Uploads by their account. */
const BY_ACCOUNT = 'account';
/** Uploads by their content, each account's for itself. */
const BY_CONTENT = 'content';
/** Pods by the stream that their label names, also those that do not belong to it. */
export const BY_STREAM = 'stream';
/** Pods by the node that they run on. */
export const BY_NODE = 'node';
/** Pods by their own UID. */
export const BY_UID = 'uid';
/** Pods by the UID of their controller. */
export const BY_OWNER = 'owner';

export const listKeys = ({ metadata }: Meta, names: string[]): string[] =>
  names.map((name) => joinKey(metadata.namespace, name));
const uploadLabel = (object: Meta): string[] => {
  const name = object.metadata.labels?.[UPLOAD_LABEL];
  return name === undefined ? [] : [name];
};

const streamLabel = ({ metadata }: Meta): string[] => {
  const name = metadata.labels?.[STREAM_LABEL];
  return name === undefined ? [] : [name];
};

const accountKey = ({ metadata }: Meta): string => joinKey(metadata.namespace, metadata.labels?.[ACCOUNT_LABEL] ?? '');

const contentKey = ({ metadata }: Meta, sha256: string): string =>
  joinKey(metadata.namespace, `${metadata.labels?.[ACCOUNT_LABEL] ?? ''}/${sha256}`);

/**
 * How much a stream asks for: nothing new while it may not go on air (`held`), its media (`open`), its media before that of
 * others since it is to be on air now (`urgent`).
 */
const LEVELS = ['held', 'open', 'urgent'] as const;
type Level = (typeof LEVELS)[number];

const judgeLevel = (stream: LoopStream): Level => (findHold(stream) ? 'held' : isWaiting(stream) ? 'urgent' : 'open');

const ask = (kind: typeof BY_UPLOAD | typeof BY_PLAYLIST, key: string, profile: string, level: Level): string =>
  `${kind} ${key} ${profile} ${level}`;

function listAsks(stream: LoopStream): string[] {
  const { metadata, spec } = stream;
  if (metadata.deletionTimestamp) return [];
  const level = judgeLevel(stream);
  const profiles = [findProfile(stream), ...listSounds(stream)];
  const by = (kind: Parameters<typeof ask>[0]) => (key: string) =>
    profiles.map((profile) => ask(kind, key, profile, level));
  const uploads = spec.uploadName === undefined ? [] : [spec.uploadName];
  return [
    ...listKeys(stream, uploads).flatMap(by(BY_UPLOAD)),
    ...listKeys(stream, listPlaylistNames(stream)).flatMap(by(BY_PLAYLIST)),
  ];
}

const listSounds = ({ spec }: LoopStream): string[] => (spec.loudness ? [soundProfile(spec.loudness)] : []);

const keepStatus = ({ phase, reason, message, podIP, startTime, ...status }: PodStatus): PodStatus => ({
  ...(phase !== undefined && { phase }),
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
  ...(podIP !== undefined && { podIP }),
  ...(startTime !== undefined && { startTime }),
  ...(status.conditions && { conditions: status.conditions }),
  ...(status.containerStatuses && { containerStatuses: status.containerStatuses.map(keepContainer) }),
});

/** A kubelet writes a kilobyte more: images, volumes, the user, resources. */
const keepContainer = ({ name, ready, restartCount, started, state, lastState }: ContainerStatus): ContainerStatus => ({
  name,
  ready,
  restartCount,
  ...(started !== undefined && { started }),
  ...(state && { state }),
  ...(lastState && { lastState }),
});

/** Keeps of a pod's spec and status only what the operator reads. The annotations have what the pod was made with. */
export const stripPod = <P extends Pod>(pod: P): P => {
  const { nodeName, tolerations } = pod.spec;
  return {
    ...pod,
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      ...(tolerations !== undefined && { tolerations }),
      ...(pod.metadata.labels?.[COMPONENT_LABEL] === 'prepare' && keepRequests(pod)),
    },
    ...(pod.status && { status: keepStatus(pod.status) }),
  };
};

export function createCaches({ createCache }: Pick<NamespaceWatch, 'createCache'>) {
  // Only what the operator made itself: a namespace may hold thousands of other pods.
  const made = { labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` };
  return {
    streams: createCache(LOOPSTREAMS, {
      keep: (stream) => believeStream(keepSmallTemplate(stream)),
      readEnding: readByPatch,
      indexes: {
        [BY_UPLOAD]: (stream) => listKeys(stream, stream.spec.uploadName === undefined ? [] : [stream.spec.uploadName]),
        [BY_PLAYLIST]: (stream) => listKeys(stream, listPlaylistNames(stream)),
        [BY_DESTINATION]: (stream) => listKeys(stream, listDestinationNames(stream.spec)),
        [BY_ASK]: listAsks,
        [BY_SOUND]: listSounds,
        [BY_LOOK]: listLookReferences,
        [BY_SLATE]: listSlateReferences,
      },
    }),
    playlists: createCache(PLAYLISTS, {
      keep: (one) => believePlaylist(keepOwnMetadata(one)),
      readEnding: readByPatch,
      indexes: {
        [BY_UPLOAD]: (playlist) => listKeys(playlist, listItemNames(playlist)),
        [BY_RULE]: (playlist) => listKeys(playlist, listRulePlaylists(playlist)),
      },
    }),
    uploads: createCache(UPLOADS, {
      keep: keepOwnMetadata,
      readEnding: readByPatch,
      indexes: {
        [BY_ACCOUNT]: (upload) => [accountKey(upload)],
        [BY_CONTENT]: (upload) => (upload.status?.media ? [contentKey(upload, upload.status.media.sha256)] : []),
      },
    }),
    scenes: createCache(SCENES, { keep: keepOwnMetadata, indexes: { [BY_IMAGE]: listSceneImages } }),
    destinations: createCache(DESTINATIONS, {
      keep: (one) => believeDestination(keepOwnMetadata(one)),
      readEnding: readByPatch,
    }),
    pods: createCache(PODS, {
      ...made,
      keep: stripPod,
      // Nothing of one that is over is on air, so it holds up no stream.
      readEnding: async (pod) => (isOver(pod) ? undefined : pod),
      indexes: {
        [BY_UID]: ({ metadata }) => [metadata.uid],
        [BY_OWNER]: ({ metadata }) => (metadata.ownerReferences ?? []).map((owner) => owner.uid),
        [BY_NODE]: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]),
        [BY_STREAM]: (pod) => listKeys(pod, streamLabel(pod)),
      },
    }),
    jobs: createCache(JOBS, {
      ...made,
      indexes: { [BY_UPLOAD]: (job) => listKeys(job, uploadLabel(job)) },
    }),
  };
}

export type Caches = ReturnType<typeof createCaches> & {
  /** Undefined where the operator may not look at nodes: it works without, but leaves no node before it has to. */
  nodes?: NodeCache;
};
export type NodeCache = Reflector<KubeObject<NodeSpec, NodeStatus>>;

/** Other uploads of the same account with this content. */
export const listUploadsOfContent = (caches: Pick<Caches, 'uploads'>, upload: Upload, sha256: string): Upload[] =>
  caches.uploads
    .byIndex(BY_CONTENT, contentKey(upload, sha256))
    .filter(({ metadata }) => metadata.uid !== upload.metadata.uid && !metadata.deletionTimestamp);

/** Storage key of the source with this hash that another upload of the same account has had for longest. */
export function sameSource(caches: Pick<Caches, 'uploads'>, upload: Upload, sha256: string): string | undefined {
  const others = listUploadsOfContent(caches, upload, sha256);
  others.sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
  return others.find(({ status }) => status?.sourceKey !== undefined)?.status?.sourceKey;
}

/** All uploads of the account that an upload belongs to. */
export const listUploadsOfAccount = (caches: Pick<Caches, 'uploads'>, upload: Upload): Upload[] =>
  caches.uploads.byIndex(BY_ACCOUNT, accountKey(upload));

/** Streams that play an upload: directly, or through a playlist. */
export function listStreamsOfUpload(caches: Pick<Caches, 'streams' | 'playlists'>, uploadKey: string): LoopStream[] {
  const direct = caches.streams.byIndex(BY_UPLOAD, uploadKey);
  const through = listPlaylistsOfUpload(caches, uploadKey).flatMap((key) => caches.streams.byIndex(BY_PLAYLIST, key));
  return [...new Set([...direct, ...through])];
}

/** The keys of a playlist, and of those whose rules play its items. */
export const listPlayingKeys = ({ playlists }: Pick<Caches, 'playlists'>, key: string): string[] => [
  key,
  ...playlists.byIndex(BY_RULE, key).map(buildKey),
];

/** The keys of the playlists that have an upload, and of those whose rules play one of them. */
const listPlaylistsOfUpload = (caches: Pick<Caches, 'playlists'>, uploadKey: string): string[] => [
  ...new Set(
    caches.playlists.byIndex(BY_UPLOAD, uploadKey).flatMap((playlist) => listPlayingKeys(caches, buildKey(playlist))),
  ),
];

/** The profiles that streams ask of an upload. */
export interface Asked {
  /** All of them: what is prepared already is kept. */
  profiles: Profile[];
  /** Profiles that only streams ask for which may not go on air. */
  held: Set<Profile>;
  /** Profiles that a stream waits for which may go on air. */
  urgent: Set<Profile>;
  /** Profiles of sounds (soundProfile) that streams ask for which may go on air. */
  sounds: string[];
  /** Profiles of slates (slateProfile) that streams ask for which may go on air. */
  slates: string[];
}

/**
 * The profiles in which streams play an upload, directly or through a playlist. It takes as long for one stream as for ten
 * thousand that play the same: each of them enqueues the upload when it changes.
 */
export function listProfilesAsked(
  { streams, playlists }: Pick<Caches, 'streams' | 'playlists'>,
  uploadKey: string,
): Asked {
  const through = listPlaylistsOfUpload({ playlists }, uploadKey);
  const isAsked = (profile: string, level: Level) =>
    streams.has(BY_ASK, ask(BY_UPLOAD, uploadKey, profile, level)) ||
    through.some((key) => streams.has(BY_ASK, ask(BY_PLAYLIST, key, profile, level)));
  const at = (level: Level) => new Set(PROFILES.filter((profile) => isAsked(profile, level)));
  const [held, open, urgent] = [at('held'), at('open'), at('urgent')];
  return {
    profiles: PROFILES.filter((profile) => held.has(profile) || open.has(profile) || urgent.has(profile)),
    held: new Set([...held].filter((profile) => !open.has(profile) && !urgent.has(profile))),
    urgent,
    sounds: streams.values(BY_SOUND).filter((profile) => isAsked(profile, 'open') || isAsked(profile, 'urgent')),
    slates: listSlatesAsked({ streams }, uploadKey),
  };
}

/** The queues that keys of each kind are added to. */
export interface Enqueue {
  stream: (key: string) => void;
  upload: (key: string) => void;
  playlist: (key: string) => void;
  destination: (key: string) => void;
  /**
   * Adds a destination that a stream holds from now on when its Secret is next to be read. The start of the stream has just read
   * the Secret, so it is not read again at once.
   */
  heldDestination: (key: string) => void;
  /** Adds a destination for the time from which what is known of its viewers holds no longer. */
  expiringDestination: (key: string, at: Date | undefined) => void;
}

/** The uploads whose wanted profiles depend on a stream: those that it plays, and that of its slate. */
function listUploadKeys(caches: Caches, stream: LoopStream | undefined): string[] {
  if (!stream) return [];
  const { namespace = '' } = stream.metadata;
  const find = (name: string) => caches.playlists.get(namespace, name);
  const items = listPlaylistNames(stream)
    .flatMap((name) => listPlayedLists(find(name), find))
    .flatMap(playlistUploadKeys);
  const direct = stream.spec.uploadName === undefined ? [] : [stream.spec.uploadName];
  const played = [...direct.map((name) => joinKey(namespace, name)), ...items];
  return [...new Set([...played, ...listSlateKeys(stream)])];
}

const heldDestinations = (stream: LoopStream | undefined): string[] =>
  stream && holdsDestination(stream.status?.phase) ? listKeys(stream, listReceivers(stream.spec)) : [];

/** Where a stream has begun to be sent. */
const newlyHeld = (current: LoopStream | undefined, previous: LoopStream | undefined): string[] => {
  const before = new Set(heldDestinations(previous));
  return heldDestinations(current).filter((key) => !before.has(key));
};

/** Whether only what the process `platform` writes has changed. */
const isSameButForPlatform = (current: Destination, previous: Destination): boolean =>
  current.metadata.uid === previous.metadata.uid &&
  current.metadata.generation === previous.metadata.generation &&
  isSameJson(current.metadata.annotations, previous.metadata.annotations) &&
  current.metadata.deletionTimestamp === previous.metadata.deletionTimestamp &&
  !isSameJson(current.status?.platform, previous.status?.platform) &&
  isSameJson(withoutPlatform(current), withoutPlatform(previous));

const playlistUploadKeys = (playlist: Playlist): string[] =>
  listItemNames(playlist).map((name) => joinKey(playlist.metadata.namespace, name));

const readPublishedText = ({ metadata }: Playlist): string | undefined => metadata.annotations?.[PUBLISHED_ANNOTATION];

/** Whether a playlist is the same for the streams that play it, and for its uploads. */
const isSameList = (current: Playlist | undefined, previous: Playlist | undefined): boolean =>
  current !== undefined &&
  previous !== undefined &&
  current.metadata.uid === previous.metadata.uid &&
  current.metadata.generation === previous.metadata.generation &&
  readPublishedText(current) === readPublishedText(previous);

/** Whether an upload is the same for the playlists that have it. A playlist of audio plays uploads of both types. */
const isSameItem = (current: Upload | undefined, previous: Upload | undefined): boolean =>
  isSameJson(findItemProblem('', current, 'audio'), findItemProblem('', previous, 'audio'));

/** A kubelet lists up to fifty images in the status of its node. */
const keepNode = <N extends KubeObject<NodeSpec, NodeStatus>>(node: N): N => {
  const { allocatable } = node.status ?? {};
  return { ...node, status: { ...(allocatable && { allocatable }) } };
};

/** The nodes, as far as this operator may look at them: undefined where it may not. */
export async function createNodeCache(kube: Kube, log: Logger): Promise<NodeCache | undefined> {
  try {
    await kube.page(NODES, { limit: 1 });
  } catch (error) {
    if (error instanceof KubeError && (error.status === 403 || error.status === 401)) {
      log.info(
        'the operator may not read nodes: a stream leaves a node when its pod is evicted, not when the node is cordoned',
      );
      return undefined;
    }
  }
  return createReflector(kube, NODES, { keep: keepNode, log });
}

/** A process that begins to lead reconciles everything once: earlier changes were the last leader's. */
const REPLAY = { replay: true };

/** Lists the namespaces that have media, or have had some since the first call: what is left of it is still to be deleted. */
export function rememberNamespaces({ uploads, jobs, streams }: Pick<Caches, 'uploads' | 'jobs' | 'streams'>) {
  const known = new Set<string>();
  return (): string[] => {
    const objects: Meta[] = [...uploads.list(), ...jobs.list(), ...streams.list()];
    for (const { metadata } of objects) known.add(metadata.namespace ?? '');
    return [...known];
  };
}

/** Enqueues the objects of a namespace, which were held back until all of them were known. */
export function enqueueNamespace(caches: Caches, namespace: string, enqueue: Enqueue): void {
  const listed = (kind: 'streams' | 'uploads' | 'playlists' | 'destinations') =>
    caches[kind].list().filter(({ metadata }) => metadata.namespace === namespace);
  for (const stream of listed('streams')) enqueue.stream(buildKey(stream));
  for (const upload of listed('uploads')) enqueue.upload(buildKey(upload));
  for (const playlist of listed('playlists')) enqueue.playlist(buildKey(playlist));
  for (const destination of listed('destinations')) enqueue.destination(buildKey(destination));
}

/** Enqueues for each change the keys that it concerns, of the object as it was and as it is. */
export function watchCaches(caches: Caches, enqueue: Enqueue): void {
  caches.streams.onChange((key, current, previous) => {
    enqueue.stream(key);
    for (const destination of newlyHeld(current, previous)) enqueue.heldDestination(destination);
    // A status asks nothing new of the uploads, but for whether they are prepared and how urgently.
    const sameLevel = current && previous && judgeLevel(current) === judgeLevel(previous);
    if (sameLevel && current.metadata.generation === previous.metadata.generation) return;
    for (const stream of [previous, current]) listUploadKeys(caches, stream).forEach(enqueue.upload);
  }, REPLAY);
  caches.uploads.onChange((key, current, previous) => {
    enqueue.upload(key);
    for (const stream of listStreamsOfUpload(caches, key)) enqueue.stream(buildKey(stream));
    for (const stream of caches.streams.byIndex(BY_SLATE, key)) enqueue.stream(buildKey(stream));
    for (const stream of listStreamsOfImage(caches, key)) {
      enqueue.stream(buildKey(stream));
      if (!isSamePicture(current, previous)) listUploadKeys(caches, stream).forEach(enqueue.upload);
    }
    // How far it is concerns no playlist: one upload may be in ten thousand of them.
    if (isSameItem(current, previous)) return;
    listPlaylistsOfUpload(caches, key).forEach(enqueue.playlist);
  }, REPLAY);
  caches.playlists.onChange((key, current, previous) => {
    enqueue.playlist(key);
    // Its status concerns nobody else, and changes with each of up to 500 items.
    if (isSameList(current, previous)) return;
    for (const playing of listPlayingKeys(caches, key)) {
      if (playing !== key) enqueue.playlist(playing);
      for (const stream of caches.streams.byIndex(BY_PLAYLIST, playing)) enqueue.stream(buildKey(stream));
    }
    const find = (name: string) => caches.playlists.get((current ?? previous)?.metadata.namespace ?? '', name);
    const lists = [previous, current].flatMap((one) => listPlayedLists(one, find));
    for (const upload of lists.flatMap(playlistUploadKeys)) enqueue.upload(upload);
  }, REPLAY);
  caches.scenes.onChange((key, current, previous) => {
    if (isSameJson(current?.spec, previous?.spec)) return;
    for (const stream of listStreamsOfScene(caches, key)) {
      enqueue.stream(buildKey(stream));
      listUploadKeys(caches, stream).forEach(enqueue.upload);
    }
  }, REPLAY);
  caches.destinations.onChange((key, current, previous) => {
    if (current && previous && isSameButForPlatform(current, previous)) {
      // The process `platform` writes a time every minute: that asks for no read of the Secret, and concerns no stream.
      enqueue.expiringDestination(key, findPlatformExpiry(current));
      if (isSameView(current, previous)) return;
    } else enqueue.destination(key);
    for (const stream of caches.streams.byIndex(BY_DESTINATION, key)) enqueue.stream(buildKey(stream));
  }, REPLAY);
  caches.pods.onChange((_key, current, previous) => {
    const { namespace, labels = {}, ownerReferences } = (current ?? previous)?.metadata ?? {};
    if (labels[COMPONENT_LABEL] === 'probe') {
      for (const { name } of ownerReferences ?? []) enqueue.destination(joinKey(namespace, name));
      return;
    }
    const owner = labels[labels[COMPONENT_LABEL] === 'prepare' ? UPLOAD_LABEL : STREAM_LABEL];
    if (owner === undefined) return;
    enqueue[labels[COMPONENT_LABEL] === 'prepare' ? 'upload' : 'stream'](joinKey(namespace, owner));
  }, REPLAY);
  caches.nodes?.onChange((_key, current, previous) => {
    // The reports of its kubelet every few minutes do not concern the streams.
    if (isSameJson(current?.spec, previous?.spec)) return;
    for (const { metadata } of caches.pods.byIndex(BY_NODE, (current ?? previous)?.metadata.name ?? '')) {
      const stream = metadata.labels?.[STREAM_LABEL];
      if (stream !== undefined) enqueue.stream(joinKey(metadata.namespace, stream));
    }
  }, REPLAY);
  caches.jobs.onChange((_key, current, previous) => {
    const { namespace, labels } = (current ?? previous)?.metadata ?? {};
    const owner = labels?.[UPLOAD_LABEL];
    if (owner !== undefined) enqueue.upload(joinKey(namespace, owner));
  }, REPLAY);
}

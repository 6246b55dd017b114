/**
 * Builds the targets of the observers from destinations, streams and pods: who publishes to each destination, and since when. Pure: no I/O,
 * no clock.
 */
import type { Pod } from '../kube/core.ts';
import { findAddress } from '../operator/pods/status.ts';
import { joinKey } from '../operator/runtime/controller.ts';
import { RETRY_ANNOTATION, STREAMER_PORT } from '../resources/common/names.ts';
import type { Destination } from '../resources/destination/resource.ts';
import { holdsDestination } from '../resources/destination/spec.ts';
import type { LoopStream } from '../resources/stream/resource.ts';
import type { PlatformTarget, Publishing } from './common/observer.ts';
import type { PodOutputs } from './pod-stats.ts';

/** The process knows these besides the destination. */
export interface TargetDeps {
  /** The streams that are sent there, as their specs say. */
  streams: readonly LoopStream[];
  findPod: (uid: string) => Pod | undefined;
  /** The last answer of a pod, by its UID; undefined while there is none. */
  findOutputs: (podUid: string) => PodOutputs | undefined;
  readViewToken: (stream: LoopStream) => Promise<string | undefined>;
  /** When the spec of the destination changed under this process. */
  editedMs?: number | undefined;
}

/** The pod that publishes a stream, with its URL; undefined while none does. */
export function findPublisher(
  stream: LoopStream,
  findPod: TargetDeps['findPod'],
): { podUid: string; podUrl: string } | undefined {
  const { podUID: podUid, phase } = stream.status ?? {};
  if (podUid === undefined || stream.metadata.deletionTimestamp || !holdsDestination(phase)) return undefined;
  const pod = findPod(podUid);
  const address = pod && findAddress(pod);
  return address === undefined ? undefined : { podUid, podUrl: `http://${address}:${STREAMER_PORT}` };
}

/**
 * Since when a pod publishes to a destination without a break, in milliseconds since 1970. A pod that has not answered yet, or that is of an
 * earlier release, is believed to publish for as long as its stream is live, unless the status says that the destination refuses it.
 */
function findSince(stream: LoopStream, name: string, outputs: PodOutputs | undefined): number | undefined {
  const output = outputs?.destinations.find((one) => one.name === name);
  if (outputs && !output?.connected) return undefined;
  if (output?.connectedSince) return Date.parse(output.connectedSince);
  const { liveSince, phase, rejections = [] } = stream.status ?? {};
  if (phase !== 'live' || liveSince === undefined) return undefined;
  return rejections.some(({ destination }) => destination === name) ? undefined : Date.parse(liveSince);
}

function findPublishing(name: string, deps: TargetDeps): Publishing | null {
  const found = deps.streams.flatMap((stream): Publishing[] => {
    const publisher = findPublisher(stream, deps.findPod);
    if (!publisher) return [];
    const sinceMs = findSince(stream, name, deps.findOutputs(publisher.podUid));
    if (sinceMs === undefined) return [];
    return [{ sinceMs, podUrl: publisher.podUrl, readViewToken: () => deps.readViewToken(stream) }];
  });
  // A key takes one publisher: the first one has it.
  return found.sort((a, b) => a.sinceMs - b.sinceMs)[0] ?? null;
}

/** Undefined where nobody is asked to look. */
export function buildTarget({ metadata, spec, status }: Destination, deps: TargetDeps): PlatformTarget | undefined {
  if (!spec.platform || metadata.deletionTimestamp) return undefined;
  const { lastSeenAt } = status?.platform ?? {};
  const resume = metadata.annotations?.[RETRY_ANNOTATION];
  return {
    key: joinKey(metadata.namespace, metadata.name),
    uid: metadata.uid,
    platform: spec.platform,
    publishing: findPublishing(metadata.name, deps),
    ...(deps.editedMs !== undefined && { editedMs: deps.editedMs }),
    ...(lastSeenAt !== undefined && { lastSeenMs: Date.parse(lastSeenAt) }),
    ...(resume !== undefined && { resume }),
  };
}

/** Whether two targets are the same for an observer. Its own reports are no news to it. */
export function isSameTarget(a: PlatformTarget, b: PlatformTarget): boolean {
  const pick = ({ uid, platform, publishing, editedMs, resume }: PlatformTarget) =>
    JSON.stringify([uid, platform, publishing?.sinceMs, publishing?.podUrl, editedMs, resume]);
  return pick(a) === pick(b);
}

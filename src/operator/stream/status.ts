/**
 * The status of a stream, made of a decision. The same world gives the same status to the last byte, so that a steady
 * stream and a restarted operator write nothing. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../resources/stream/spec.ts';
import { readySince, restartsOf } from '../pods/status.ts';
import { same } from '../runtime/same.ts';
import { conditionsOf } from '../runtime/status.ts';
import type { Decision } from './decide.ts';
import type { World } from './observe.ts';
import { sinceOf } from './program.ts';
import type { Book } from './sessions.ts';

/** Destinations as people call them: those that the API made have ids for names, which tell nobody anything. */
const called = ({ spec }: LoopStream, { destinations }: Pick<World, 'destinations'>): string =>
  spec.destinationRefs.map((name) => destinations.get(name)?.spec.displayName || name).join(', ');

/** `pod` is the stream's own pod after the decision was carried out. */
export function statusOf(
  stream: LoopStream,
  decision: Decision,
  pod: Pod | undefined,
  world: Pick<World, 'destinations' | 'now'>,
  { sessions, behind, doubt }: Book = { sessions: stream.status?.sessions ?? [] },
): LoopStreamStatus {
  const { now } = world;
  const { generation } = stream.metadata;
  const liveSince =
    pod && decision.phase === 'live' ? (readySince(pod) ?? stream.status?.liveSince ?? kubeTime(now)) : undefined;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: decision.phase,
    replicas: pod ? 1 : 0,
    ready: decision.ready,
    ...(decision.epoch !== undefined && sinceOf({ ...decision, epoch: decision.epoch })),
    ...(decision.playing && { playing: decision.playing }),
    ...(decision.unplayable && { unplayable: decision.unplayable }),
    ...(liveSince !== undefined && { liveSince }),
    ...(decision.lastScheduleTime !== undefined && { lastScheduleTime: decision.lastScheduleTime }),
    ...(pod && { podName: pod.metadata.name, podUID: pod.metadata.uid, restarts: restartsOf(pod) }),
    destinations: called(stream, world),
    ...(sessions.length > 0 && { sessions }),
    conditions: conditionsOf(
      [...decision.verdicts, ...[behind, doubt].filter((one) => one !== undefined)],
      stream.status?.conditions,
      generation,
      now,
    ),
  };
}

export const sameSessions = (a: LoopStreamStatus | undefined, b: LoopStreamStatus): boolean =>
  same(a?.sessions, b.sessions);

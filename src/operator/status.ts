/**
 * The status of a stream, made of a decision. The same world gives the same status to the last byte, so that a steady
 * stream and a restarted operator write nothing. Pure: no I/O, no clock.
 */

import type { Pod } from '../kube/core.ts';
import { kubeTime } from '../lib/clock.ts';
import { type Condition, findCondition } from '../resources/common/conditions.ts';
import type { LoopStream } from '../resources/stream/resource.ts';
import type { LoopStreamStatus } from '../resources/stream/spec.ts';
import type { Decision } from './decide.ts';
import { sinceOf } from './media.ts';
import { readySince, restartsOf } from './podview.ts';
import { same } from './same.ts';
import type { Book } from './sessions.ts';
import type { Verdict, World } from './world.ts';

/** Conditions for `verdicts`, in their order; a condition whose status did not change keeps its transition time. */
export const conditionsOf = (
  verdicts: readonly Verdict[],
  current: readonly Condition[] | undefined,
  generation: number | undefined,
  now: Date,
): Condition[] =>
  verdicts.map((verdict) => {
    const before = findCondition(current, verdict.type);
    return {
      ...verdict,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: before && before.status === verdict.status ? before.lastTransitionTime : kubeTime(now),
    };
  });

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

/** The status without what others keep there (server-side apply leaves that alone). */
const ownPart = <S extends { conditions?: Condition[] }>(status: S | undefined, own: readonly Condition[]) => ({
  ...status,
  acknowledgedSession: undefined,
  conditions: own.map(({ type }) => findCondition(status?.conditions, type)),
});

export const sameSessions = (a: LoopStreamStatus | undefined, b: LoopStreamStatus): boolean =>
  same(a?.sessions, b.sessions);

/** True when `next` says what `current` already says. */
export const sameStatus = <S extends { conditions?: Condition[] }>(current: S | undefined, next: S): boolean =>
  same(ownPart(current, next.conditions ?? []), ownPart(next, next.conditions ?? []));

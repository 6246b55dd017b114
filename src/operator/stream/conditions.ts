/**
 * The readiness of a stream as ordered, named checks, one for each readiness condition. They are made for stopped streams
 * too, so that a person sees what is missing before starting. Pure: no I/O, no clock.
 */

import { findCondition } from '../../resources/common/conditions.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { READINESS_CONDITIONS } from '../../resources/stream/spec.ts';
import { assessTracks, countItems, type Entry, mediaProblem, unplayableEntries } from '../media/items.ts';
import type { Finding, Verdict } from '../runtime/status.ts';
import { describeLeftOut } from './left-out.ts';
import type { World } from './observe.ts';
import { airtime } from './schedule.ts';

type ReadinessCondition = (typeof READINESS_CONDITIONS)[number];

interface Check {
  /** Reason and message of the condition while nothing is wrong. */
  fine: (stream: LoopStream, world: World) => Finding;
  problem: (stream: LoopStream, world: World) => Finding | undefined;
}

/** The Destination's own Ready condition is the judgement; it counts only for the spec it was made for. */
function destinationProblem(name: string, destination: Destination | undefined): Finding | undefined {
  if (!destination) return { reason: 'DestinationNotFound', message: `Destination "${name}" does not exist.` };
  const ready = findCondition(destination.status?.conditions, 'Ready');
  if (!ready || (ready.observedGeneration ?? 0) < (destination.metadata.generation ?? 0)) {
    return { reason: 'DestinationChecking', message: `Destination "${name}" is being looked at.`, unknown: true };
  }
  if (ready.status === 'True') return undefined;
  return { reason: ready.reason, message: `Destination "${name}": ${ready.message}` };
}

const named = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Something of each list can be played. */
function mediaFine(stream: LoopStream, world: World): Finding {
  const tracks = assessTracks(stream, world);
  const left = unplayableEntries(tracks);
  if (left.length === 0) return { reason: 'MediaReady', message: 'All media is prepared.' };
  return { reason: 'ItemsLeftOut', message: describeLeftOut(left.length, countItems(tracks), left.map(messageOf)) };
}

const messageOf = ({ problem }: Entry): string => problem?.message ?? '';

const CHECKS: Record<ReadinessCondition, Check> = {
  DestinationReady: {
    fine: ({ spec }) => ({
      reason: 'DestinationReady',
      message:
        spec.destinationRefs.length === 1
          ? `Destination ${named(spec.destinationRefs)} can be sent to.`
          : `Destinations ${named(spec.destinationRefs)} can be sent to.`,
    }),
    problem: (stream, world) => {
      const found = stream.spec.destinationRefs.map((name) => destinationProblem(name, world.destinations.get(name)));
      return found.find((finding) => finding && !finding.unknown) ?? found.find((finding) => finding !== undefined);
    },
  },
  MediaReady: {
    fine: mediaFine,
    problem: mediaProblem,
  },
  ScheduleValid: {
    fine: ({ spec }) =>
      spec.schedule
        ? { reason: 'ScheduleValid', message: 'The schedule can be kept.' }
        : { reason: 'NoSchedule', message: 'The stream has no schedule: it is on air while replicas is 1.' },
    problem: (stream, world) => {
      const time = airtime(stream.spec.schedule, world.now);
      return time.kind === 'invalid' ? { reason: 'ScheduleInvalid', message: time.message } : undefined;
    },
  },
};

/** The readiness conditions, in their order. */
export const readiness = (stream: LoopStream, world: World): Verdict[] =>
  READINESS_CONDITIONS.map((type) => {
    const { fine, problem } = CHECKS[type];
    const found = problem(stream, world);
    const { reason, message, unknown } = found ?? fine(stream, world);
    return { type, status: found ? (unknown ? 'Unknown' : 'False') : 'True', reason, message };
  });

/** A stream starts when nothing speaks against it and nothing is still unknown. */
export const isReady = (verdicts: readonly Verdict[]): boolean =>
  verdicts.every((verdict) => verdict.status === 'True');

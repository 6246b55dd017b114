/**
 * Computes the conditions of a stream: readiness as ordered, named checks, PodScheduled, and Degraded with the items that are
 * left out. Readiness is checked for stopped streams too, so that a person sees what is missing before starting.
 * Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { computeAirtime } from '../../resources/stream/airtime.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import { readTooLarge } from '../../resources/stream/kept.ts';
import { listItems, type Playing } from '../../resources/stream/playing.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import {
  MAX_UNPLAYABLE,
  type MediaField,
  READINESS_CONDITIONS,
  READINESS_ISSUES,
  type Unplayable,
  type UnplayableItem,
} from '../../resources/stream/spec.ts';
import { countItems, type Entry, findMediaProblem, findProfile, listUnplayable } from '../media/items.ts';
import { computePreparation, formatPart } from '../media/preparation.ts';
import { findPodTrouble, findReadySince, findUnschedulable } from '../pods/status.ts';
import { type Finding, toPascalCase, type Verdict } from '../runtime/controller.ts';
import type { AssessedObservation, Observation } from './observation.ts';
import type { BrokenItem, PodReport } from './pod-report.ts';

type ReadinessCondition = (typeof READINESS_CONDITIONS)[number];

interface Check {
  /** Reason and message of the condition while nothing is wrong; undefined where it is not worth a condition. */
  fine: (observed: AssessedObservation) => Finding | undefined;
  problem: (observed: AssessedObservation) => Finding | undefined;
}

/** The Destination's own Ready condition is the judgement; it counts only for the spec it was made for. */
function destinationProblem(name: string, destination: Destination | undefined): Finding | undefined {
  if (!destination) return { reason: 'DestinationNotFound', message: `Destination "${name}" does not exist.` };
  const ready = findCondition(destination.status?.conditions, 'Ready');
  if (!ready || (ready.observedGeneration ?? 0) < (destination.metadata.generation ?? 0)) {
    return { reason: 'DestinationChecking', message: `Destination "${name}" has not been checked yet.`, unknown: true };
  }
  if (ready.status === 'True') return undefined;
  return { reason: ready.reason, message: `Destination "${name}": ${ready.message}` };
}

const quoteNames = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Something of each list can be played. */
function describeMedia(observed: AssessedObservation): Finding {
  const { tracks } = observed;
  const left = listUnplayable(tracks);
  if (left.length === 0) {
    const preparation = computePreparation(observed);
    const message = preparation
      ? `The media can be played; ${formatPart(preparation.prepared)} of it is prepared.`
      : 'All media is prepared.';
    return { reason: 'MediaReady', message };
  }
  return { reason: LEFT_OUT, message: describeLeftOut(left.length, countItems(tracks), left.map(readMessage)) };
}

const readMessage = ({ problem }: Entry): string => problem?.message ?? '';

const CHECKS: Record<ReadinessCondition, Check> = {
  DestinationReady: {
    fine: ({ stream: { spec } }) => ({
      reason: 'DestinationReady',
      message:
        spec.destinationNames.length === 1
          ? `Destination ${quoteNames(spec.destinationNames)} is ready.`
          : `Destinations ${quoteNames(spec.destinationNames)} are ready.`,
    }),
    problem: ({ stream, destinations }) => {
      const found = stream.spec.destinationNames.map((name) => destinationProblem(name, destinations.get(name)));
      return found.find((finding) => finding && !finding.unknown) ?? found.find((finding) => finding !== undefined);
    },
  },
  MediaReady: {
    fine: describeMedia,
    problem: ({ stream, tracks }) => findMediaProblem(stream, tracks),
  },
  ScheduleValid: {
    fine: ({ stream: { spec } }) =>
      spec.schedule
        ? { reason: 'ScheduleValid', message: 'The schedule is valid.' }
        : { reason: 'NoSchedule', message: 'The stream has no schedule: it is on air while replicas is 1.' },
    problem: ({ stream, now }) => {
      const time = computeAirtime(stream.spec.schedule, now);
      return time.kind === 'invalid' ? { reason: 'ScheduleInvalid', message: time.message } : undefined;
    },
  },
  TemplateAccepted: {
    fine: () => undefined,
    problem: ({ stream }) => {
      const found = readTooLarge(stream);
      if (!found) return undefined;
      const { size, limit } = found;
      return { reason: 'TooLarge', message: `spec.template has ${size} characters; at most ${limit} are accepted.` };
    },
  },
};

/** The readiness conditions, in their order. */
export const checkReadiness = (observed: AssessedObservation): Verdict[] =>
  READINESS_CONDITIONS.flatMap((type): Verdict[] => {
    const { fine, problem } = CHECKS[type];
    const found = problem(observed);
    const said = found ?? fine(observed);
    if (!said) return [];
    const { reason, message, unknown } = said;
    return [{ type, status: found ? (unknown ? 'Unknown' : 'False') : 'True', reason, message }];
  });

/** A stream starts when nothing speaks against it and nothing is still unknown. */
export const isReady = (verdicts: readonly Verdict[]): boolean =>
  verdicts.every((verdict) => verdict.status === 'True');

/** Reasons for which there is no pod that could be scheduled. */
const NO_POD: ReadonlySet<string> = new Set(['PodRefused', 'PodNameTaken', 'QuotaExceeded']);

/**
 * Whether a node has taken the pod. The condition becomes True with the next change that is worth a write: the pod is ready or in
 * trouble. `before` is the condition of the same pod.
 */
function judgePodScheduled(pod: Pod, before: Verdict | undefined): Verdict {
  const type = 'PodScheduled';
  const trouble = findPodTrouble(pod);
  if (findUnschedulable(pod)) {
    return { type, status: 'False', reason: 'Unschedulable', message: trouble?.message ?? '' };
  }
  if (before?.status === 'True') return before;
  if (pod.spec.nodeName === undefined || (!trouble && findReadySince(pod) === undefined)) {
    return { type, status: 'Unknown', reason: 'Scheduling', message: 'The pod was created and waits for a node.' };
  }
  return { type, status: 'True', reason: 'Scheduled', message: `The pod is on node "${pod.spec.nodeName}".` };
}

/** `progressing` says why there is no pod where there is to be one. Without a pod there is most often nothing to say. */
export function judgeScheduling(
  { status }: LoopStream,
  pod: Pod | undefined,
  { reason, message }: Pick<Verdict, 'reason' | 'message'>,
): Verdict | undefined {
  if (!pod) return NO_POD.has(reason) ? { type: 'PodScheduled', status: 'False', reason, message } : undefined;
  const before = findCondition(status?.conditions, 'PodScheduled');
  if (!before || status?.podUID !== pod.metadata.uid) return judgePodScheduled(pod, undefined);
  return judgePodScheduled(pod, {
    type: before.type,
    status: before.status,
    reason: before.reason,
    message: before.message,
  });
}

/** The items that a stream on air goes without. */
export function findLeftOut(observed: AssessedObservation, about: About): Finding[] {
  const { total, count, items } = findUnplayable(observed, about) ?? { total: 0, count: 0, items: [] };
  const messages = items.map(({ message }) => message);
  return count === 0 ? [] : [{ reason: LEFT_OUT, message: describeLeftOut(count, total, messages) }];
}

/** Items on air whose preparation has failed before its end. */
export function findCutShort({ stream, tracks }: AssessedObservation, { profile, ...current }: Playing): Finding[] {
  if (profile !== findProfile(stream)) return [];
  const playing = new Set(listItems(current).flatMap((item) => (isLeftOut(item) ? [] : [item.id])));
  return listUnplayable(tracks).flatMap(({ upload = '', problem }) =>
    problem?.reason === CUT_SHORT && playing.has(upload)
      ? [{ reason: CUT_SHORT, message: `${problem.message} The stream goes on with the part that is prepared.` }]
      : [],
  );
}

/** Items that one sentence names; more are counted. */
const MAX_NAMED = 3;

function describeLeftOut(count: number, total: number, messages: readonly string[]): string {
  const more = count - Math.min(messages.length, MAX_NAMED);
  return [
    `${count} of ${total} items ${count === 1 ? 'is' : 'are'} left out.`,
    ...messages.slice(0, MAX_NAMED),
    ...(more > 0 ? [`${more} more cannot be played.`] : []),
    `${count === 1 ? 'It joins' : 'Each joins'} automatically when it can be played.`,
  ].join(' ');
}

type Found = Omit<UnplayableItem, 'since'>;

const describeEntry = ({ problem, ...entry }: Entry): Found[] =>
  problem ? [{ ...entry, reason: problem.reason, message: problem.message }] : [];

function describeBroken({ spec }: LoopStream, { id, name, track, code, message, index, playlist }: BrokenItem): Found {
  const video: MediaField = spec.playlistNames?.length ? 'playlistNames' : 'uploadName';
  return {
    field: track === 'audio' ? 'audioPlaylistNames' : video,
    ...(playlist !== undefined && { playlist }),
    ...(index !== undefined && { index }),
    upload: id,
    name,
    reason: toPascalCase(code),
    message: `Item "${name}" (${id}) could not be played: ${message}`,
  };
}

const samePlace = (a: Found, b: Found): boolean =>
  a.field === b.field && a.playlist === b.playlist && a.index === b.index && a.upload === b.upload;

interface About {
  /** The stream has a pod. */
  hasPod: boolean;
  /** The pod plays another list than the stream now has: only its report counts. */
  brokenOnly?: boolean;
}

/** Items that the pod could not play, by its last report; as the status has them while there is none. */
function findBroken({ stream, report }: Observation): Found[] {
  if (report) return (report.broken ?? []).map((broken) => describeBroken(stream, broken));
  return (stream.status?.unplayable?.items ?? []).filter(({ reason }) => !Object.hasOwn(READINESS_ISSUES, reason));
}

/** Undefined when everything can be played. */
export function findUnplayable(
  observed: AssessedObservation,
  { hasPod, brokenOnly = false }: About,
): Unplayable | undefined {
  const { stream, tracks, now } = observed;
  const known = listUnplayable(tracks).flatMap(describeEntry);
  const broken = (hasPod ? findBroken(observed) : []).filter(
    ({ field, upload }) => !known.some((one) => one.field === field && one.upload === upload),
  );
  const all = brokenOnly ? broken : [...broken, ...known];
  if (all.length === 0) return undefined;
  const before = stream.status?.unplayable?.items ?? [];
  const items = all.slice(0, MAX_UNPLAYABLE).map((item) => {
    const since = before.find((one) => samePlace(one, item) && one.reason === item.reason)?.since;
    return { ...item, since: since ?? kubeTime(now) };
  });
  return { total: countItems(tracks), count: all.length, items };
}

/** Sentences in one condition; more are counted. */
const MAX_SENTENCES = 5;

const LEFT_OUT = 'ItemsLeftOut';
const CUT_SHORT = 'MediaFailed';

const HEALTHY: Verdict = {
  type: 'Degraded',
  status: 'False',
  reason: 'Healthy',
  message: 'The stream is on air without known problems.',
};

/** Reasons of a stream on air, the gravest first. */
const GRAVITY = ['NothingPlayable', CUT_SHORT, 'PreparationBehind', LEFT_OUT, 'DestinationReconnecting'];

/**
 * The condition of a stream on air. `found` is what the operator knows of its items: which it goes without, which will not be
 * prepared to their end. Without a report of its pod the rest stays as it was.
 */
export function judgeDegraded(
  report: PodReport | undefined,
  before: Verdict | undefined,
  found: readonly Finding[] = [],
): Verdict {
  if (!report && found.length === 0) return before && ![LEFT_OUT, CUT_SHORT].includes(before.reason) ? before : HEALTHY;
  const all = [...(report?.problems ?? []), ...found];
  all.sort((a, b) => GRAVITY.indexOf(a.reason) - GRAVITY.indexOf(b.reason));
  const [first] = all;
  if (!first) return HEALTHY;
  const more = all.length - MAX_SENTENCES;
  const sentences = all.slice(0, MAX_SENTENCES).map(({ message }) => message);
  if (more > 0) sentences.push(`${more} more problems were reported.`);
  return { type: 'Degraded', status: 'True', reason: first.reason, message: sentences.join(' ') };
}

/**
 * Computes the conditions of a stream: readiness as ordered, named checks, PodScheduled, and Degraded with the items that are
 * left out. Readiness is checked for stopped streams too, so that a person sees what is missing before starting.
 * Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { findPlatformCode } from '../../lib/codes/platforms.ts';
import { READINESS_ISSUES } from '../../lib/codes/streams.ts';
import type { Program } from '../../protocol/program.ts';
import { beginWith, callObject } from '../../resources/common/called.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import {
  type DestinationView,
  describeView,
  findViewReason,
  judgeViewers,
  listTroubledViews,
  listViews,
} from '../../resources/destination/views.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import { readTooLarge } from '../../resources/stream/kept.ts';
import { listItems } from '../../resources/stream/playing.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import {
  type LeftOutItem,
  MAX_UNPLAYABLE,
  type MediaField,
  READINESS_CONDITIONS,
  type Unplayable,
} from '../../resources/stream/spec.ts';
import { formatPart } from '../media/assess.ts';
import { type Entry, findProfile, isOnTheWay, QUARANTINED } from '../media/items.ts';
import { findBackgroundProblem, findImageProblem, findSlateProblem } from '../media/looks.ts';
import { findPodTrouble, findReadySince, findUnschedulable } from '../pods/status.ts';
import type { Finding, Verdict } from '../runtime/controller.ts';
import type { Course } from './course.ts';
import { type BrokenItem, describeProblem, type PodReport } from './pod-report.ts';
import type { Situation } from './situation.ts';

const LEFT_OUT = 'ItemsLeftOut';
const CUT_SHORT = 'MediaFailed';
const NO_OVERLAYS = 'OverlaysMissing';
const NO_CARDS = 'CardsMissing';
const NO_SLATE = 'SlateMissing';

type ReadinessCondition = (typeof READINESS_CONDITIONS)[number];

/** The part of a situation that readiness is checked of. */
type Checked = Pick<Situation, 'stream' | 'destinations' | 'media' | 'schedule'>;

interface Check {
  /** Reason and message of the condition while nothing is wrong; undefined where it is not worth a condition. */
  fine: (given: Checked) => Finding | undefined;
  problem: (given: Checked) => Finding | undefined;
}

/** The Destination's own Ready condition is the judgement; it counts only for the spec it was made for. */
function destinationProblem(name: string, destination: Destination | undefined): Finding | undefined {
  const called = beginWith(callObject('destination', name, destination?.spec.displayName));
  if (!destination) return { reason: 'DestinationNotFound', message: `${called} does not exist.` };
  const ready = findCondition(destination.status?.conditions, 'Ready');
  if (!ready || (ready.observedGeneration ?? 0) < (destination.metadata.generation ?? 0)) {
    return { reason: 'DestinationChecking', message: `${called} has not been checked yet.`, unknown: true };
  }
  if (ready.status === 'True') return undefined;
  return { reason: ready.reason, message: `${called}: ${ready.message}` };
}

/** Something of each list can be played. */
function describeMedia({ media: { unplayable, itemCount, preparation } }: Checked): Finding {
  if (unplayable.length === 0) {
    const message = preparation
      ? `The media can be played; ${formatPart(preparation.prepared)} of it is prepared.`
      : 'All media is prepared.';
    return { reason: 'MediaReady', message };
  }
  const messages = unplayable.map(({ problem }) => problem?.message ?? '');
  return { reason: LEFT_OUT, message: describeLeftOut(unplayable.length, itemCount, messages) };
}

const CHECKS: Record<ReadinessCondition, Check> = {
  DestinationReady: {
    fine: ({ stream, destinations }) => {
      const called = listReceivers(stream.spec).map((name) =>
        callObject('destination', name, destinations.get(name)?.spec.displayName),
      );
      const message = `${beginWith(called.join(', '))} ${called.length === 1 ? 'is' : 'are'} ready.`;
      return { reason: 'DestinationReady', message };
    },
    problem: ({ stream, destinations }) => {
      const found = listReceivers(stream.spec).map((name) => destinationProblem(name, destinations.get(name)));
      return found.find((finding) => finding && !finding.unknown) ?? found.find((finding) => finding !== undefined);
    },
  },
  MediaReady: {
    fine: describeMedia,
    problem: ({ media }) => media.problem,
  },
  ScheduleValid: {
    fine: ({ stream: { spec } }) =>
      spec.schedule
        ? { reason: 'ScheduleValid', message: 'The schedule is valid.' }
        : { reason: 'NoSchedule', message: 'The stream has no schedule: it is on air while replicas is 1.' },
    problem: ({ schedule }) =>
      schedule.kind === 'invalid' ? { reason: 'ScheduleInvalid', message: schedule.message } : undefined,
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
export const checkReadiness = (given: Checked): Verdict[] =>
  READINESS_CONDITIONS.flatMap((type): Verdict[] => {
    const { fine, problem } = CHECKS[type];
    const found = problem(given);
    const said = found ?? fine(given);
    if (!said) return [];
    const { reason, message, unknown } = said;
    return [{ type, status: found ? (unknown ? 'Unknown' : 'False') : 'True', reason, message }];
  });

/** A stream starts when nothing speaks against it and nothing is still unknown. */
export const isReady = (verdicts: readonly Verdict[]): boolean =>
  verdicts.every((verdict) => verdict.status === 'True');

/** The part of a decision beside the course. */
interface Judgement {
  /** Readiness conditions, Live, Progressing; of a stream with a pod PodScheduled, of one on air Degraded. */
  conditions: Verdict[];
  /** Items that cannot be played; undefined when everything can be played. */
  unplayable: Unplayable | undefined;
}

export function judgeConditions(situation: Situation, { phase, live, progressing }: Course): Judgement {
  const { stream, pod, readiness } = situation;
  const scheduled = judgeScheduling(stream, pod, progressing);
  const leftOut = findLeftOut(situation);
  const isOnAir = pod !== undefined && phase !== 'stopping';
  const views = phase === 'live' ? listViews(listReceivers(stream.spec), situation.destinations, situation.now) : [];
  const conditions: Verdict[] = [
    ...readiness,
    ...(scheduled ? [scheduled] : []),
    { type: 'Live', ...live },
    { type: 'Progressing', ...progressing },
    ...(isOnAir ? [judgeOnAir(situation, leftOut, views)] : []),
    ...[judgeViewers(views)].filter((one) => one !== undefined),
  ];
  return { conditions, unplayable: countUnplayable(situation, leftOut) };
}

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
  return judgePodScheduled(pod, withoutTimes(before));
}

const withoutTimes = ({ type, status, reason, message }: Verdict): Verdict => ({ type, status, reason, message });

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

/** An item that cannot be played. */
type Found = Omit<LeftOutItem, 'since'>;

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
    message: `${beginWith(callObject('upload', id, name))} could not be played: ${message}`,
  };
}

const samePlace = (a: Found, b: Found): boolean =>
  a.field === b.field && a.playlist === b.playlist && a.index === b.index && a.upload === b.upload;

/** Items that a stream goes without. */
interface LeftOut {
  /** The pod could not play them. */
  broken: readonly Found[];
  /** Their media is not there, or not prepared. */
  known: readonly Found[];
}

function findLeftOut(situation: Situation): LeftOut {
  const known = situation.media.unplayable.flatMap(describeEntry);
  const broken = findBroken(situation).filter(
    ({ field, upload }) => !known.some((one) => one.field === field && one.upload === upload),
  );
  return { broken, known };
}

/** Items that the pod could not play, by its last report; as the status has them while there is none. */
function findBroken({ stream, pod, report }: Situation): Found[] {
  if (!pod) return [];
  if (report) return (report.broken ?? []).map((broken) => describeBroken(stream, broken));
  return (stream.status?.unplayable?.items ?? []).filter(({ reason }) => !Object.hasOwn(READINESS_ISSUES, reason));
}

function countUnplayable({ stream, media, now }: Situation, { broken, known }: LeftOut): Unplayable | undefined {
  const all = [...broken, ...known];
  if (all.length === 0) return undefined;
  const before = stream.status?.unplayable?.items ?? [];
  const items = all.slice(0, MAX_UNPLAYABLE).map((item) => {
    const since = before.find((one) => samePlace(one, item) && one.reason === item.reason)?.since;
    return { ...item, since: since ?? kubeTime(now) };
  });
  return { total: media.itemCount, count: all.length, items };
}

/**
 * The condition Degraded of a stream on air. A stream whose program stays lacks only broken items, those in quarantine and the ends of
 * cut ones.
 */
function judgeOnAir(situation: Situation, leftOut: LeftOut, views: readonly DestinationView[]): Verdict {
  const { stream, program, stays, report, media, destinations } = situation;
  const before = findCondition(stream.status?.conditions, 'Degraded');
  const known = stays ? leftOut.known.filter(({ reason }) => reason === QUARANTINED) : leftOut.known;
  const without = [...leftOut.broken, ...known];
  const found = [
    ...describeWithout(without, media.itemCount),
    ...(stays && program ? findCutShort(stream, leftOut, program) : []),
    ...describePictures(situation),
    ...listTroubledViews(views).map((one) => ({ reason: findViewReason(one.view) ?? '', message: describeView(one) })),
  ];
  return judgeDegraded(report, before && withoutTimes(before), found, destinations);
}

const describeWithout = (items: readonly Found[], total: number): Finding[] => {
  const messages = items.map(({ message }) => message);
  return items.length === 0 ? [] : [{ reason: LEFT_OUT, message: describeLeftOut(items.length, total, messages) }];
};

/** Pictures that will not come by themselves. Where the overlays are required, the items are left out and say so. */
function describePictures({ stream, uploads }: Situation): Finding[] {
  if (!stream.spec.overlays && !stream.spec.cards && !stream.spec.slate) return [];
  const findUpload = (name: string) => uploads.get(name);
  const found = {
    [NO_OVERLAYS]: stream.spec.overlays?.required ? undefined : findImageProblem(stream, findUpload),
    [NO_CARDS]: findBackgroundProblem(stream, findUpload),
    [NO_SLATE]: findSlateProblem(stream, findUpload),
  };
  return Object.entries(found).flatMap(([reason, problem]) =>
    problem === undefined || isOnTheWay(problem.reason) ? [] : [{ reason, message: problem.message }],
  );
}

/** Items on air whose preparation has failed before its end. */
function findCutShort(stream: LoopStream, { known }: LeftOut, current: Program): Finding[] {
  if (current.profile !== findProfile(stream)) return [];
  const playing = new Set(listItems(current).flatMap((item) => (isLeftOut(item) ? [] : [item.id])));
  return known.flatMap(({ upload = '', reason, message }) =>
    reason === CUT_SHORT && playing.has(upload)
      ? [{ reason, message: `${message} The stream goes on with the part that is prepared.` }]
      : [],
  );
}

/** Sentences in one condition; more are counted. */
const MAX_SENTENCES = 5;

const HEALTHY: Verdict = {
  type: 'Degraded',
  status: 'False',
  reason: 'Healthy',
  message: 'The stream is on air without known problems.',
};

/** Reasons of a stream on air, the gravest first. Before them is that viewers do not see the stream, behind them what they do not notice yet. */
const GRAVITY = [
  'NothingPlayable',
  CUT_SHORT,
  'PreparationBehind',
  LEFT_OUT,
  NO_OVERLAYS,
  NO_CARDS,
  NO_SLATE,
  'DestinationReconnecting',
];
const LEAST_GRAVE: ReadonlySet<string> = new Set(['HealthBad', 'LimitNear']);
const rankGravity = (reason: string): number => (LEAST_GRAVE.has(reason) ? GRAVITY.length : GRAVITY.indexOf(reason));

/** Reasons of which the operator knows without a report of the pod. */
const isFound = (reason: string): boolean =>
  [LEFT_OUT, CUT_SHORT, NO_OVERLAYS, NO_CARDS, NO_SLATE].includes(reason) ||
  findPlatformCode(reason) !== undefined ||
  reason === 'NotSeen';

/**
 * The condition of a stream on air. `found` is what the operator knows of its items: which it goes without, which will not be
 * prepared to their end. Without a report of its pod the rest stays as it was.
 */
export function judgeDegraded(
  report: PodReport | undefined,
  before: Verdict | undefined,
  found: readonly Finding[] = [],
  destinations: ReadonlyMap<string, Destination> = new Map(),
): Verdict {
  if (!report && found.length === 0) return before && !isFound(before.reason) ? before : HEALTHY;
  const reported = report?.problems ?? [];
  const all: Finding[] = [
    ...reported.map((problem) => ({ ...problem, message: describeProblem(problem, destinations) })),
    ...found,
  ];
  all.sort((a, b) => rankGravity(a.reason) - rankGravity(b.reason));
  const [first] = all;
  if (!first) return HEALTHY;
  const more = all.length - MAX_SENTENCES;
  const sentences = all.slice(0, MAX_SENTENCES).map(({ message }) => message);
  if (more > 0) sentences.push(`${more} more problems were reported.`);
  return { type: 'Degraded', status: 'True', reason: first.reason, message: sentences.join(' ') };
}

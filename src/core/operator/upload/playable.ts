/**
 * Decides whether a rendition may be played while the rest of it is prepared, and what its status shows of that. Its Job reports the
 * part in storage (protocol/task.ts). Pure: no I/O, no clock.
 */
import { kubeTime } from '../../lib/clock.ts';
import { CHUNK_SECONDS } from '../../pods/rendition/format.ts';
import type { PreparedPart, PrepareProgress } from '../../protocol/task.ts';
import type { RenditionStatus } from '../../resources/upload/spec.ts';
import { hasMoved } from './progress.ts';
import { isExpectedBitrate, isExpectedSeconds } from './result-bounds.ts';

/**
 * The beginning that is prepared before a stream plays it: one chunk. Two cores take 17 s to encode it in 1080p30; two chunks would
 * keep every stream waiting for twice as long, to save the few whose Jobs become slow at once from a repetition.
 */
const START_SECONDS = 30;
/** The rest is expected within this part of the whole length: then it comes in time even where it takes a quarter longer. */
const MAX_SHARE = 0.8;
/** No tool prepares this many seconds of media in one second. */
const MAX_SPEED = 100_000;
/** A later end is no estimate. */
const MAX_ESTIMATE_SECONDS = 366 * 86_400;

/** Seconds until all is prepared, at the measured speed. */
const secondsLeft = ({ seconds, totalSeconds, speed }: PreparedPart): number =>
  seconds >= totalSeconds ? 0 : (totalSeconds - seconds) / speed;

/** Whether a stream that begins now finds each part prepared when it comes to it. */
export const mayPlay = (part: PreparedPart): boolean =>
  part.seconds >= part.totalSeconds ||
  (part.seconds >= START_SECONDS && secondsLeft(part) <= MAX_SHARE * part.totalSeconds);

/** Returns the part that a Job reports of a source of this length; undefined where that cannot be true. */
export function boundPart(part: PreparedPart | undefined, sourceSeconds: number): PreparedPart | undefined {
  if (!part || !isExpectedSeconds(part.totalSeconds, sourceSeconds)) return undefined;
  const isPossible = part.seconds <= part.totalSeconds && part.speed <= MAX_SPEED;
  return isPossible && isExpectedBitrate(readBitrate(part) ?? 0) ? part : undefined;
}

/**
 * Returns the ranges that other pods may make, by the report of a Job that has made the beginning of its rendition; undefined where there
 * are none, or not so many: a range has at least one chunk.
 */
export function boundRanges(report: PrepareProgress | undefined, sourceSeconds: number): number | undefined {
  const part = boundPart(report?.prepared, sourceSeconds);
  const ranges = report?.ranges;
  return part && part.seconds > 0 && ranges !== undefined && isExpectedSeconds(ranges * CHUNK_SECONDS, sourceSeconds)
    ? ranges
    : undefined;
}

/** Whether a report is worth another look at the upload: it is the first one, or its part is a step longer, or can be played now. */
export function hasPartMoved(before: PreparedPart | undefined, now: PreparedPart | undefined): boolean {
  if (!now || now.seconds === 0) return false;
  if (!before || before.seconds === 0 || (mayPlay(now) && !mayPlay(before))) return true;
  return hasMoved(before.seconds / before.totalSeconds, now.seconds / now.totalSeconds);
}

/** The mean of the part, in kbit/s. */
const readBitrate = ({ bytes, seconds }: PreparedPart): number | undefined =>
  bytes === undefined || seconds === 0 ? undefined : Math.round((bytes * 8) / seconds / 1000);

type Shown = Pick<
  RenditionStatus,
  'key' | 'durationSeconds' | 'bitrateKbps' | 'preparedSeconds' | 'playable' | 'estimatedReadyAt'
>;

function pickShown({ key, durationSeconds, bitrateKbps, preparedSeconds, playable, estimatedReadyAt }: Shown): Shown {
  return {
    ...(key !== undefined && { key }),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(bitrateKbps !== undefined && { bitrateKbps }),
    ...(preparedSeconds !== undefined && { preparedSeconds }),
    ...(playable && { playable }),
    ...(estimatedReadyAt !== undefined && { estimatedReadyAt }),
  };
}

interface Seen {
  /** The same rendition in the status. */
  shown: Shown | undefined;
  /** The report of the Job; undefined while nobody can say. */
  part: PreparedPart | undefined;
  /** A Job works on it. */
  isWorkedOn: boolean;
  /** Storage key of the rendition. */
  key: string;
  now: Date;
}

/**
 * Returns the status of a rendition that is not complete. It changes in steps that are worth a write, and at once when the rendition
 * can be played. Nothing is taken back: the part stays in storage when a pod is replaced or cannot be asked.
 */
export function showPart({ shown, part, isWorkedOn, key, now }: Seen): Shown {
  const { estimatedReadyAt: estimate, ...prepared } = pickShown(shown ?? {});
  const kept = { ...prepared, ...(isWorkedOn && estimate !== undefined && { estimatedReadyAt: estimate }) };
  if (!part || part.seconds === 0) return kept;
  const playable = shown?.playable === true || mayPlay(part);
  const longer = part.seconds > (shown?.preparedSeconds ?? 0);
  const isStep = hasMoved(fraction(shown?.preparedSeconds, part.totalSeconds), part.seconds / part.totalSeconds);
  if (playable === (shown?.playable === true) && !(longer && isStep)) return kept;
  const left = secondsLeft(part);
  const estimatedReadyAt = left <= MAX_ESTIMATE_SECONDS && kubeTime(new Date(now.getTime() + left * 1000));
  const bitrateKbps = longer ? readBitrate(part) : shown?.bitrateKbps;
  return {
    ...(bitrateKbps !== undefined && { bitrateKbps }),
    preparedSeconds: longer ? round(part.seconds) : (shown?.preparedSeconds ?? 0),
    ...(playable && { playable, key, durationSeconds: round(part.totalSeconds) }),
    ...(estimatedReadyAt && { estimatedReadyAt }),
  };
}

const fraction = (seconds: number | undefined, total: number): number | undefined =>
  seconds === undefined ? undefined : seconds / total;

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;

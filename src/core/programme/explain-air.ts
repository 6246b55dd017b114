/**
 * Explains what a stream plays at a time, or does not, from its resource and the lists on air. A stream that is off air then needs no fold.
 * Pure: no I/O, no clock.
 */
import type { LoopStream } from '../resources/stream/resource.ts';
import { computeScheduleState } from '../resources/stream/schedule.ts';
import { isWanted, type Phase } from '../resources/stream/spec.ts';
import {
  buildExplanation,
  type ExplainAsked,
  type ExplainContext,
  explain,
  isListed,
  type TurnExplanation,
} from './explain.ts';
import { formatMoment } from './explain-words.ts';
import type { OnAirList } from './on-air.ts';
import { PROGRAMME_TRACKS, type ProgrammeTrack } from './tracks.ts';

export interface ExplainedStream {
  stream: Pick<LoopStream, 'spec' | 'status'>;
  phase: Phase;
  /** The lists on air; none of a stream off air. */
  lists: Partial<Record<ProgrammeTrack, OnAirList>>;
  /** The list that the request names; by default the first that has the rule or the upload. */
  track?: ProgrammeTrack | undefined;
  asked: ExplainAsked;
  atMs: number;
  now: Date;
}

export interface ListExplanation extends TurnExplanation {
  track: ProgrammeTrack;
  /** False where an item before that time has no exact length yet. */
  exact: boolean;
}

/** Explains a time before the list began to play as it does, by the sessions that the status has. */
function explainPast({ stream, atMs }: ExplainedStream): TurnExplanation {
  const sessions = stream.status?.sessions ?? [];
  const began = sessions.filter(({ startedAt }) => Date.parse(startedAt) <= atMs);
  const isOver = (endedAt: string | undefined) => endedAt !== undefined && Date.parse(endedAt) <= atMs;
  if (began.length > 0 && began.every(({ endedAt }) => isOver(endedAt)))
    return buildExplanation('stream_off_air', `The stream was not on air at ${formatMoment(atMs)}.`, {
      fix: 'Its sessions say when it was, and why they ended.',
    });
  return buildExplanation('not_known', `What played at ${formatMoment(atMs)} is not known any more.`);
}

/** Explains a time at which no list of the stream is on air: from now on, or after the end of its schedule. */
function explainOff({ stream, phase, atMs, lists }: ExplainedStream): TurnExplanation {
  const { spec, status } = stream;
  if (!isWanted(spec)) return buildExplanation('stream_stopped', 'The stream is stopped.');
  const lastStart = status?.lastScheduleTime === undefined ? undefined : new Date(status.lastScheduleTime);
  const schedule = computeScheduleState(spec.schedule, new Date(atMs), lastStart);
  const asked = formatMoment(atMs);
  if (schedule.kind === 'before') {
    const startAt = schedule.startAt.toISOString();
    const cause = `The schedule of the stream has it off air at ${asked}: it goes on air at ${formatMoment(Date.parse(startAt))}.`;
    return buildExplanation('not_scheduled', cause, { nextAt: startAt });
  }
  if (schedule.kind === 'after')
    return buildExplanation('not_scheduled', `The schedule of the stream is over at ${asked}.`);
  if (Object.keys(lists).length > 0)
    return buildExplanation('not_known', `Another window of the schedule is open at ${asked}.`, {
      fix: 'Ask again once the stream is on air in that window: only then is it known what it plays.',
    });
  return buildExplanation('stream_off_air', `The stream is ${phase}, and not on air.`);
}

function explainAny(given: ExplainedStream, list: OnAirList | undefined, context: ExplainContext): TurnExplanation {
  const { lists, track, asked, atMs, now } = given;
  const isOnAir = Object.keys(lists).length > 0;
  if (isOnAir && !list) return buildExplanation('not_listed', `The stream has no ${track} list.`);
  const sinceMs = list?.sinceMs ?? now.getTime();
  if (atMs < sinceMs) return explainPast(given);
  if (!list || atMs >= (list.untilMs ?? Number.POSITIVE_INFINITY)) return explainOff(given);
  return explain(list, asked, atMs, context);
}

/** Explains why a rule or an upload plays at a time, or does not. */
export function explainStream(given: ExplainedStream, context: ExplainContext): ListExplanation {
  const { lists, asked, atMs } = given;
  const listing = PROGRAMME_TRACKS.find((kind) => {
    const list = lists[kind];
    return list !== undefined && isListed(list, asked);
  });
  const track = given.track ?? listing ?? 'video';
  const list = lists[track];
  const { exactUntilMs } = list ?? {};
  return {
    ...explainAny({ ...given, track }, list, context),
    track,
    exact: exactUntilMs === undefined || atMs < exactUntilMs,
  };
}

/**
 * What a streamer's pod tells of itself (GET /stats), as far as the operator has to know it: where it stands, and what is
 * wrong while it is on air. A pod may be older or newer than this operator, so each part is taken as it is found.
 * Pure: no I/O, no clock.
 */

import type { Condition } from '../../resources/common/conditions.ts';
import type { Program } from '../../resources/stream/program.ts';
import { same } from '../runtime/same.ts';
import { CHECKPOINT_SECONDS, isTime, type Run, runsOf } from './runs.ts';

export interface TrackClock {
  version: number;
  /** RFC 3339. */
  epoch: string;
}

export interface StreamClock {
  video?: TrackClock;
  audio?: TrackClock;
}

export interface PodNews {
  clock: StreamClock;
  /** It does not publish, because it does not know that it may. */
  held?: boolean;
  problems: Problem[];
  /** Items that it could not play when it was last their turn. */
  broken?: BrokenItem[];
  /** The processes of the pod that were on air; the last one may still be. */
  runs: Run[];
  /** It reports much less time on air than the operator has seen (plausible.ts). */
  reportsTooLittle?: boolean;
}

interface Problem {
  reason: 'NothingPlayable' | 'DestinationReconnecting';
  message: string;
}

export interface BrokenItem {
  id: string;
  name: string;
  track: 'video' | 'audio';
  code: string;
  message: string;
  /** Place in its playlist, from 0; a pod of an older release does not tell it. */
  index?: number;
  playlist?: string;
}

/** Sentences in one condition; more are counted. */
const MAX_TOLD = 5;
const MAX_TEXT = 200;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown) => (isRecord(value) ? value : {});
/** More of a list is not looked at: a playlist may have 500 items, of which five are named. */
const MAX_LIST = 1000;
const records = (value: unknown) => (Array.isArray(value) ? value.slice(0, MAX_LIST).filter(isRecord) : []);
/** Without control characters: what a pod says is shown in terminals. */
const text = (value: unknown) =>
  typeof value === 'string' ? value.slice(0, MAX_TEXT).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ') : '';

function trackClock(value: unknown): TrackClock | undefined {
  const { version, epoch } = record(value);
  return Number.isSafeInteger(version) && isTime(epoch) ? { version: version as number, epoch } : undefined;
}

export function clockOf(value: unknown): StreamClock {
  const video = trackClock(record(value).video);
  const audio = trackClock(record(value).audio);
  return { ...(video && { video }), ...(audio && { audio }) };
}

function problemsOf(stats: Record<string, unknown>): Problem[] {
  const nothing: Problem[] =
    stats.playable === false ? [{ reason: 'NothingPlayable', message: 'No item can be played.' }] : [];
  const destinations = records(stats.destinations).flatMap(({ name, connected, lastError }): Problem[] => {
    if (connected !== false || !isRecord(lastError)) return [];
    return [
      {
        reason: 'DestinationReconnecting',
        message: `Destination "${text(name)}" does not take the stream (${text(lastError.code)}): ${text(lastError.message)}`,
      },
    ];
  });
  return [...nothing, ...destinations];
}

const brokenOf = (stats: Record<string, unknown>): BrokenItem[] =>
  records(stats.brokenItems).map(({ id, name, track, code, message, index, playlistID }) => ({
    id: text(id),
    name: text(name),
    track: track === 'audio' ? 'audio' : 'video',
    code: /^[a-z]+(?:_[a-z]+)*$/.test(text(code)) ? text(code) : 'item_invalid',
    message: text(message),
    ...(Number.isSafeInteger(index) && (index as number) >= 0 && { index: index as number }),
    ...(text(playlistID) !== '' && { playlist: text(playlistID) }),
  }));

/** Undefined when it is not what a streamer says. */
export function newsOf(told: unknown): PodNews | undefined {
  if (!isRecord(told) || typeof told.playable !== 'boolean') return undefined;
  const broken = brokenOf(told);
  return {
    clock: clockOf(told.clock),
    ...(told.held === true && { held: true }),
    problems: problemsOf(told),
    ...(broken.length > 0 && { broken }),
    runs: runsOf(told),
  };
}

/** Whether two answers say the same, but for time on air that only goes by: that is of interest once an hour. */
export function sameNews(a: PodNews, b: PodNews | undefined): boolean {
  const steady = ({ runs, ...rest }: PodNews) => ({
    ...rest,
    runs: runs.map(({ run, onAirSeconds }) => [run, Math.floor(onAirSeconds / CHECKPOINT_SECONDS)]),
  });
  return b !== undefined && same(steady(a), steady(b));
}

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const HEALTHY: Verdict = {
  type: 'Degraded',
  status: 'False',
  reason: 'Healthy',
  message: 'Nothing is known to be wrong with what is on air.',
};

/**
 * The condition of a stream on air. `leftOut` says which items it goes without, as far as anybody knows; without news of its pod
 * the rest stays as it was.
 */
export function degraded(
  news: PodNews | undefined,
  before: Verdict | undefined,
  leftOut: string | undefined = undefined,
): Verdict {
  if (!news && leftOut === undefined) return before && before.reason !== LEFT_OUT ? before : HEALTHY;
  const { problems } = news ?? { problems: [] };
  const nothing = problems.filter(({ reason }) => reason === 'NothingPlayable');
  const destinations = problems.filter(({ reason }) => reason !== 'NothingPlayable');
  const items = leftOut === undefined ? [] : [{ reason: LEFT_OUT, message: leftOut }];
  const all = [...nothing, ...items, ...destinations];
  const [first] = all;
  if (!first) return HEALTHY;
  const more = all.length - MAX_TOLD;
  const sentences = all.slice(0, MAX_TOLD).map(({ message }) => message);
  if (more > 0) sentences.push(`${more} more of the kind.`);
  return { type: 'Degraded', status: 'True', reason: first.reason, message: sentences.join(' ') };
}

const LEFT_OUT = 'ItemsLeftOut';

/** `told` when it is another moment than `known`: the two may be written differently. */
const moved = (known: string, told: string | undefined): string =>
  told !== undefined && Date.parse(told) !== Date.parse(known) ? told : known;

/**
 * The program with the epochs that its pod now has, where they are of this version of it; the same object when they are
 * what it says. The pod knows what it has been given from then on; the one after it does not.
 */
export function withClock(program: Program, { video, audio }: StreamClock): Program {
  const told = (clock: TrackClock | undefined) => (clock?.version === program.version ? clock.epoch : undefined);
  const { audioEpoch: audioBefore = program.epoch, ...rest } = program;
  const epoch = moved(program.epoch, told(video));
  const audioEpoch = moved(audioBefore, told(audio));
  if (epoch === program.epoch && audioEpoch === audioBefore) return program;
  return { ...rest, epoch, ...(program.audio && audioEpoch !== epoch && { audioEpoch }) };
}

/** True while a pod has not yet taken up the version that it was given. */
export const isBehind = (program: Program, { clock }: PodNews): boolean =>
  (clock.video !== undefined && clock.video.version !== program.version) ||
  (clock.audio !== undefined && clock.audio.version !== program.version);

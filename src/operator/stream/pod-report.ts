/**
 * Parses the report of a streamer's pod, which the pod pushes, or answers with when it is asked (GET /stats), as far as the operator needs
 * it: its playhead, its time on air, and what is wrong while it is on air. A pod may be older or newer than this operator, so each part is
 * taken as it is found. Pure: no I/O, no clock.
 */

import { isSameJson } from '../../lib/json-equal.ts';
import { CHECKPOINT_SECONDS, isTime, parseRuns, type Run } from './sessions.ts';

export interface TrackClock {
  version: number;
  /** RFC 3339. */
  epoch: string;
}

export interface StreamClock {
  video?: TrackClock;
  audio?: TrackClock;
}

export interface PodReport {
  clock: StreamClock;
  /** Whether a destination takes media. Only of a pushed report: an answer may be older than what kubelet says by its probes. */
  live?: boolean;
  /** It does not publish, because it does not know that it may. */
  held?: boolean;
  problems: PodProblem[];
  /** Items that it could not play when it was last their turn. */
  broken?: BrokenItem[];
  /** The processes of the pod that were on air; the last one may still be. */
  runs: Run[];
  /** It reports much less time on air than the operator has seen (sessions.ts). */
  reportsTooLittle?: boolean;
}

export interface PodProblem {
  reason: 'NothingPlayable' | 'PreparationBehind' | 'DestinationReconnecting';
  message: string;
  /** Of a destination: the code of its failure (media/streamer/output/failure.ts). */
  code?: string;
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

const MAX_TEXT = 200;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown) => (isRecord(value) ? value : {});
/** The rest of a longer list is ignored: a playlist may have 500 items, of which five are named. */
const MAX_LIST = 1000;
const records = (value: unknown) => (Array.isArray(value) ? value.slice(0, MAX_LIST).filter(isRecord) : []);
/** Without control characters: what a pod says is shown in terminals. */
const text = (value: unknown) =>
  typeof value === 'string' ? value.slice(0, MAX_TEXT).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ') : '';

function trackClock(value: unknown): TrackClock | undefined {
  const { version, epoch } = record(value);
  return Number.isSafeInteger(version) && isTime(epoch) ? { version: version as number, epoch } : undefined;
}

export function parseClock(value: unknown): StreamClock {
  const video = trackClock(record(value).video);
  const audio = trackClock(record(value).audio);
  return { ...(video && { video }), ...(audio && { audio }) };
}

/** The item that is played faster than it is prepared; a pod of an older release does not tell it. */
function parseBehind({ preparationBehind }: Record<string, unknown>): PodProblem[] {
  const { item } = record(preparationBehind);
  if (!isRecord(item)) return [];
  const message =
    `Preparing "${text(item.name) || text(item.id)}" is slower than playing it, so the stream repeats what is prepared. ` +
    'Wait until more is prepared, give the preparation a faster node, or choose a lower quality.';
  return [{ reason: 'PreparationBehind', message }];
}

function parseProblems(stats: Record<string, unknown>): PodProblem[] {
  const nothing: PodProblem[] =
    stats.playable === false ? [{ reason: 'NothingPlayable', message: 'No item can be played.' }] : [];
  const destinations = records(stats.destinations).flatMap(({ name, connected, lastError }): PodProblem[] => {
    if (connected !== false || !isRecord(lastError)) return [];
    const code = text(lastError.code);
    const message = `Destination "${text(name)}" does not accept the stream (${code}): ${text(lastError.message)}`;
    return [{ reason: 'DestinationReconnecting', message, code }];
  });
  return [...nothing, ...parseBehind(stats), ...destinations];
}

const parseBroken = (stats: Record<string, unknown>): BrokenItem[] =>
  records(stats.brokenItems).map(({ id, name, track, code, message, index, playlistID }) => ({
    id: text(id),
    name: text(name),
    track: track === 'audio' ? 'audio' : 'video',
    code: /^[a-z]+(?:_[a-z]+)*$/.test(text(code)) ? text(code) : 'item_invalid',
    message: text(message),
    ...(Number.isSafeInteger(index) && (index as number) >= 0 && { index: index as number }),
    ...(text(playlistID) !== '' && { playlist: text(playlistID) }),
  }));

/** Undefined when the answer is not a streamer's. `isPushed`: the pod pushes each change, so the report is of this moment. */
export function parsePodReport(answer: unknown, isPushed = false): PodReport | undefined {
  if (!isRecord(answer) || typeof answer.playable !== 'boolean') return undefined;
  const broken = parseBroken(answer);
  return {
    clock: parseClock(answer.clock),
    ...(isPushed && typeof answer.live === 'boolean' && { live: answer.live }),
    ...(answer.held === true && { held: true }),
    problems: parseProblems(answer),
    ...(broken.length > 0 && { broken }),
    runs: parseRuns(answer),
  };
}

/** Whether a pod says that its pushed reports arrive. A pod of an older release pushes none. */
export const isPushing = (answer: unknown): boolean => isRecord(answer) && answer.pushes === true;

/** Whether two answers say the same, but for time on air that only goes by: that is of interest once an hour. */
export function isSameReport(a: PodReport, b: PodReport | undefined): boolean {
  const steady = ({ runs, ...rest }: PodReport) => ({
    ...rest,
    runs: runs.map(({ run, onAirSeconds }) => [run, Math.floor(onAirSeconds / CHECKPOINT_SECONDS)]),
  });
  return b !== undefined && isSameJson(steady(a), steady(b));
}

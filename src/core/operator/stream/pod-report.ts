/**
 * Condenses what a streamer's pod reports (protocol/report.ts) to what the operator decides by: its playhead, its time on air, and what is
 * wrong while it is on air. Pure: no I/O, no clock.
 */

import { DEGRADATIONS } from '../../lib/codes/streams.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { ReportedDrop, Run, StreamerReport } from '../../protocol/report.ts';
import { beginWith, callObject } from '../../resources/common/called.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { MovedAnchor } from '../../resources/stream/facts.ts';
import type { TrackStanding } from '../../resources/stream/standing.ts';
import { CHECKPOINT_SECONDS, listLatestRuns } from './sessions.ts';

export interface TrackClock {
  version: number;
  /** RFC 3339. */
  epoch: string;
  /** A turn and when it began. Pods of an earlier release do not say it. */
  anchor?: MovedAnchor;
  /** Hash of the list that plays. */
  programme?: string;
  /** Places of the items that take no time, since they cannot be played. */
  broken?: number[];
  /** Where a list with rules stood at its epoch. */
  standing?: TrackStanding;
}

export interface PodClock {
  video?: TrackClock;
  audio?: TrackClock;
}

export interface PodReport {
  clock: PodClock;
  /** Whether a destination takes media. Only of a pushed report: an answer may be older than what kubelet says by its probes. */
  live?: boolean;
  /** It does not publish, because it does not know that it may. */
  held?: boolean;
  problems: PodProblem[];
  /** The names of the destinations that take media. */
  accepting?: string[];
  /** Items that it could not play when it was last their turn. */
  broken?: BrokenItem[];
  /** Rules that its process left out. */
  droppedRules?: ReportedDrop[];
  /** How long no destination took media, when it was last so and is over. */
  interruption?: NonNullable<StreamerReport['interruption']>;
  /** The processes of the pod that were on air; the last one may still be. */
  runs: Run[];
  /** It reports much less time on air than the operator has seen (sessions.ts). */
  reportsTooLittle?: boolean;
}

export interface PodProblem {
  reason: keyof typeof DEGRADATIONS;
  /** Of a destination: why it does not accept the stream, without its name (describeProblem). */
  message: string;
  /** Of a destination: the code of its failure (lib/codes/destinations.ts). */
  code?: string;
  /** The name of that destination's resource. */
  destination?: string;
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

/** Sentences of the status hold several of these. */
const MAX_TEXT = 200;
const shorten = (text: string): string => text.slice(0, MAX_TEXT);

export const toClock = ({ video, audio }: StreamerReport['clock']): PodClock => ({
  ...(video && { video }),
  ...(audio && { audio }),
});

/** The item that is played faster than it is prepared. */
function describeBehind({ item }: StreamerReport['preparationBehind']): PodProblem[] {
  if (!item) return [];
  const message =
    `Preparing ${shorten(item.name ? `"${item.name}"` : callObject('upload', item.id))} is slower than playing it, so the stream repeats what is prepared. ` +
    DEGRADATIONS.PreparationBehind.fix;
  return [{ reason: 'PreparationBehind', message }];
}

function listProblems({ playable, preparationBehind, destinations }: StreamerReport): PodProblem[] {
  const nothing: PodProblem[] = playable
    ? []
    : [{ reason: 'NothingPlayable', message: DEGRADATIONS.NothingPlayable.meaning }];
  const failing = destinations.flatMap(({ name, connected, lastError }): PodProblem[] => {
    if (connected || !lastError) return [];
    const { code, message } = lastError;
    return [{ reason: 'DestinationReconnecting', message: shorten(message), code, destination: name }];
  });
  return [...nothing, ...describeBehind(preparationBehind), ...failing];
}

/** A pod knows its destinations by the names of their resources. People know them by the titles that they gave. */
export function describeProblem(
  { destination: name, message }: PodProblem,
  destinations: ReadonlyMap<string, Destination>,
): string {
  if (name === undefined) return message;
  const called = callObject('destination', shorten(name), destinations.get(name)?.spec.displayName);
  return `${beginWith(called)} does not accept the stream. ${message}`;
}

const toBroken = ({ playlistID, index, ...item }: StreamerReport['brokenItems'][number]): BrokenItem => ({
  ...item,
  id: shorten(item.id),
  name: shorten(item.name),
  message: shorten(item.message),
  ...(index !== null && { index }),
  ...(playlistID !== null && { playlist: shorten(playlistID) }),
});

/** `isPushed`: the pod pushes each change, so the report is of this moment. */
export function toPodReport(report: StreamerReport, isPushed = false): PodReport {
  const { clock, live, held, brokenItems, droppedRules, destinations, runs, interruption } = report;
  const accepting = destinations.flatMap(({ name, connected }) => (connected ? [name] : []));
  return {
    clock: toClock(clock),
    ...(isPushed && live !== undefined && { live }),
    ...(held && { held }),
    problems: listProblems(report),
    ...(accepting.length > 0 && { accepting }),
    ...(brokenItems.length > 0 && { broken: brokenItems.map(toBroken) }),
    ...(droppedRules && droppedRules.length > 0 && { droppedRules }),
    ...(interruption && { interruption }),
    runs: listLatestRuns(runs),
  };
}

/** Whether two answers say the same, but for time on air that only goes by: that is of interest once an hour. */
export function isSameReport(a: PodReport, b: PodReport | undefined): boolean {
  const steady = ({ runs, interruption: _, ...rest }: PodReport) => ({
    ...rest,
    runs: runs.map(({ run, onAirSeconds }) => [run, Math.floor(onAirSeconds / CHECKPOINT_SECONDS)]),
  });
  return b !== undefined && isSameJson(steady(a), steady(b));
}

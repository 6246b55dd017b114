/** Describes how far a stream has played, and how much of its media is prepared, on one bar. Pure: no I/O, no clock. */
import type { LiveStats, Readiness, Stream } from '../../api/api.ts';
import { formatLength, formatTimeLeft } from '../../lib/format.ts';

interface Mark {
  /** From 0 to 1. */
  at: number;
  text: string;
}

/** The bar is the current item; of a list that is being prepared, it is the whole list, which has no playhead. */
export interface TimelineView {
  /** Undefined once all is prepared. */
  prepared: Mark | undefined;
  playhead: Mark | undefined;
}

type Seen = Pick<Readiness, 'prepared' | 'estimatedReadyAt'> | undefined;

function describePrepared(readiness: Seen, nowMs: number): Mark | undefined {
  const { prepared = 1, estimatedReadyAt = null } = readiness ?? {};
  // A stream goes on with what it has while nothing of its next media is prepared.
  if (prepared === 0 || prepared >= 1) return undefined;
  const seconds = estimatedReadyAt === null ? undefined : (Date.parse(estimatedReadyAt) - nowMs) / 1000;
  const left = formatTimeLeft(seconds);
  const percent = `${Math.floor(100 * prepared)} % prepared`;
  return { at: prepared, text: left === undefined ? percent : `${percent} · ${left}` };
}

function describePlayhead(stats: Pick<LiveStats, 'positionSeconds' | 'durationSeconds'> | undefined): Mark | undefined {
  const { positionSeconds = null, durationSeconds = null } = stats ?? {};
  if (positionSeconds === null || !durationSeconds) return undefined;
  const text = `${formatLength(positionSeconds)} of ${formatLength(durationSeconds)}`;
  return { at: Math.min(1, positionSeconds / durationSeconds), text };
}

/** Undefined where there is nothing to show. `stats` only while the stream runs. */
export function describeTimeline(
  { videoUploadObjectID }: Pick<Stream, 'videoUploadObjectID'>,
  readiness: Seen,
  stats: Pick<LiveStats, 'positionSeconds' | 'durationSeconds'> | undefined,
  nowMs: number,
): TimelineView | undefined {
  const prepared = describePrepared(readiness, nowMs);
  const isList = videoUploadObjectID === null;
  const playhead = isList && prepared ? undefined : describePlayhead(stats);
  return prepared || playhead ? { prepared, playhead } : undefined;
}

/** Says where a stream that is not on air stands. Pure: no I/O, no clock. */
import type { Stream, StreamEvent } from '../../api/api.ts';
import { formatTime } from '../../lib/format.ts';

/** The one line that says where a stream that is not on air stands. */
export function restingLine(
  stream: Pick<Stream, 'nextStartAt' | 'scheduleEndAt'>,
  phase: string,
  offAirSince?: string,
): string {
  const start = formatTime(stream.nextStartAt);
  const end = formatTime(stream.scheduleEndAt);
  if (phase === 'scheduled') return start ? `Goes on air ${start}` : 'Goes on air by its schedule';
  if (phase === 'ended') return end ? `Ended ${end}` : 'Schedule has ended';
  if (phase === 'idle') return 'Never on air';
  if (phase === 'waiting') return 'Starts as soon as it is ready';
  if (phase === 'stopping') return 'Going off air';
  const since = formatTime(offAirSince);
  return since ? `Off air since ${since}` : 'Off air';
}

const WENT_OFF_AIR: readonly string[] = ['Stopped', 'Ended', 'Stopping', 'Failed'];

/** Since when a stream has been off air, by its events (newest first); undefined once they are forgotten. */
export const offAirSince = (events: readonly StreamEvent[] | undefined): string | undefined =>
  events?.find((event) => WENT_OFF_AIR.includes(event.reason))?.time;

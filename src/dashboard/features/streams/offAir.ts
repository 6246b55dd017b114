/** What happened to a stream, and when, in words and in the reader's own zone. Pure: no I/O, no clock. */
import type { Stream, StreamEvent } from '../../api/api.ts';

const FORMAT: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
};

/** `Fri, Nov 20, 18:00` in the reader's zone and language; undefined for a time that is missing or unreadable. */
export function clockTime(at: string | null | undefined, locale?: string, timeZone?: string): string | undefined {
  const date = at ? new Date(at) : undefined;
  if (!date || Number.isNaN(date.getTime())) return undefined;
  return date.toLocaleString(locale, timeZone ? { ...FORMAT, timeZone } : FORMAT);
}

/** The one line that says where a stream that is not on air stands. */
export function restingLine(
  stream: Pick<Stream, 'nextStartAt' | 'scheduleEndAt'>,
  phase: string,
  offAirSince?: string,
): string {
  const start = clockTime(stream.nextStartAt);
  const end = clockTime(stream.scheduleEndAt);
  if (phase === 'scheduled') return start ? `Goes on air ${start}` : 'Goes on air by its schedule';
  if (phase === 'ended') return end ? `Ended ${end}` : 'Its schedule is over';
  if (phase === 'idle') return 'Never been on air';
  if (phase === 'waiting') return 'Starts as soon as it is ready';
  if (phase === 'stopping') return 'Going off air';
  const since = clockTime(offAirSince);
  return since ? `Off air since ${since}` : 'Off air';
}

const WENT_OFF_AIR: readonly string[] = ['Stopped', 'Ended', 'Stopping', 'Failed'];

/** Since when a stream has been off air, by its events (newest first); undefined once they are forgotten. */
export const offAirSince = (events: readonly StreamEvent[] | undefined): string | undefined =>
  events?.find((event) => WENT_OFF_AIR.includes(event.reason))?.time;

/** `NotReady` as `Not ready`: reasons are CamelCase for machines. */
export function wordsOf(reason: string): string {
  const words = reason.replace(/(?<=[a-z0-9])[A-Z]/g, ' $&').toLowerCase();
  return words === '' ? 'Event' : words.charAt(0).toUpperCase() + words.slice(1);
}

/** How long until then: `in a moment`, `in 5 min`, `in 3 h`, `in 2 days`; nothing for a time that is missing or over. */
export function formatIn(at: string | null | undefined, now: Date): string {
  const minutes = Math.round((Date.parse(at ?? '') - now.getTime()) / 60_000);
  if (Number.isNaN(minutes) || minutes < 0) return '';
  if (minutes === 0) return 'in a moment';
  if (minutes < 60) return `in ${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 36 ? `in ${hours} h` : `in ${Math.round(hours / 24)} days`;
}

/** The words of starting and stopping a stream in each state, and the schedule that starts it ahead of its time. Pure: no I/O, no clock. */
import type { StreamSchedule } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';

/** The words of a stop: its label, and its question. */
export interface StopWords {
  label: string;
  question: string;
  consequence: string;
  no: string;
  yes: string;
}

const STOP: StopWords = {
  label: 'Stop',
  question: 'Take this stream off air?',
  consequence: 'The stream ends for viewers immediately, on every destination.',
  no: 'Keep on air',
  yes: 'Stop stream',
};

const CANCEL: StopWords = {
  label: 'Cancel the schedule',
  question: 'Cancel the schedule?',
  consequence:
    'The stream does not go on air by itself, until you start it. The times stay, so that you can change them.',
  no: 'Keep it',
  yes: 'Cancel the schedule',
};

/** A stream that waits for its time is not stopped: its schedule is called off. */
export const findStopWords = (phase: string): StopWords => (phase === 'scheduled' ? CANCEL : STOP);

/** Names a stop of a stream for those who do not see its row. */
export const nameStop = ({ label }: StopWords, name: string): string =>
  label === STOP.label ? `Stop ${name}` : `${label} of ${name}`;

type Scheduled = Pick<Stream, 'status' | 'recurrence' | 'scheduleStartAt' | 'scheduleEndAt' | 'nextStartAt'>;

/**
 * The schedule that puts a stream on air now; undefined where a start does. A start leaves recurring windows as they are, so the stream
 * is kept on air until the first of them.
 */
export function findAheadSchedule(stream: Scheduled, nowMs: number): StreamSchedule | undefined {
  const { status, recurrence, scheduleStartAt, scheduleEndAt, nextStartAt } = stream;
  if (status !== 'scheduled' || recurrence === null || nextStartAt === null) return undefined;
  // A start that has passed is refused, and means nothing any more.
  const isAhead = scheduleStartAt !== null && Date.parse(scheduleStartAt) > nowMs;
  return {
    recurrence,
    ...(isAhead && { scheduleStartAt }),
    ...(scheduleEndAt !== null && { scheduleEndAt }),
    scheduleOnAirUntil: nextStartAt,
  };
}

interface StartWords {
  label: string;
  /** Says what the start does to a schedule. */
  hint?: string;
}

export function findStartWords(phase: string, { recurrence }: Pick<Stream, 'recurrence'>): StartWords {
  if (phase !== 'scheduled') return { label: 'Start' };
  const hint = recurrence
    ? 'On air at once, and by its schedule from its next time on.'
    : 'On air at once, instead of at its scheduled time.';
  return { label: 'Start now', hint };
}

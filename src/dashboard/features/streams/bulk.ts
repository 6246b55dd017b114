/** Says what is done to several streams at once, before, meanwhile and afterwards. Pure: no I/O, no clock. */
import { ProblemError } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { problemText } from '../../api/problem.ts';
import type { ActFailure } from '../../lib/runAll.ts';
import { actionsIn, isRunning, stopAsks } from './phase.ts';
import { findStopWords } from './power.ts';

export type BulkKind = 'start' | 'stop' | 'delete';

interface BulkWords {
  verb: string;
  doing: string;
  done: string;
}

export const BULK_WORDS: Record<BulkKind, BulkWords> = {
  start: { verb: 'Start', doing: 'Starting', done: 'started' },
  stop: { verb: 'Stop', doing: 'Stopping', done: 'stopped' },
  delete: { verb: 'Delete', doing: 'Deleting', done: 'deleted' },
};

/** `1 stream`, `12 streams`. */
export const countStreams = (count: number): string => (count === 1 ? '1 stream' : `${count} streams`);

/** Those for which an act makes sense in their state. */
export const listActedOn = (kind: BulkKind, streams: readonly Stream[]): Stream[] =>
  streams.filter(({ status }) => kind === 'delete' || actionsIn(status).includes(kind));

/** Nothing that viewers see or wait for ends without a question, and nothing is deleted without one. */
export const needsQuestion = (kind: BulkKind, streams: readonly Stream[]): boolean =>
  kind === 'delete' || (kind === 'stop' && streams.some(({ status }) => stopAsks(status)));

const isScheduled = ({ status }: Stream): boolean => status === 'scheduled';

/** A stop of streams that only wait for their times calls their schedules off. */
export const nameAct = (kind: BulkKind, streams: readonly Stream[]): string =>
  kind === 'stop' && streams.every(isScheduled) ? `${findStopWords('scheduled').label} of` : BULK_WORDS[kind].verb;

/** `It is`, `All 2 are`, `1 of them is`. */
function countThem(some: number, all: number): string {
  if (some < all) return `${some} of them ${some === 1 ? 'is' : 'are'}`;
  return all === 1 ? 'It is' : `All ${all} are`;
}

/** Says how many go off air, and how many no longer go on air by themselves. */
export function formatConsequence(kind: BulkKind, streams: readonly Stream[]): string {
  const count = streams.length;
  const onAir = streams.filter(({ status }) => isRunning(status)).length;
  const scheduled = kind === 'stop' ? streams.filter(isScheduled).length : 0;
  const sentences = [
    onAir > 0 &&
      `${countThem(onAir, count)} on air, and go${onAir === 1 ? 'es' : ''} off air for viewers immediately, on every destination.`,
    scheduled > 0 &&
      `${countThem(scheduled, count)} scheduled, and no longer ${scheduled === 1 ? 'goes on air by itself' : 'go on air by themselves'}. The times stay.`,
    onAir + scheduled === 0 && 'None of them is on air.',
    kind === 'delete' && 'Media, playlists and destinations stay. You cannot undo this.',
  ];
  return sentences.filter(Boolean).join(' ');
}

const explain = (error: unknown): string =>
  error instanceof ProblemError && error.issues.length > 0
    ? error.issues.map(({ message, fix }) => [message, fix].filter(Boolean).join(' ')).join(' ')
    : problemText(error);

/** The reasons, each once, with the streams that it is about: often all fail for the same one. */
export function groupFailures(failures: readonly ActFailure<Stream>[]): { reason: string; streams: Stream[] }[] {
  const groups = new Map<string, Stream[]>();
  for (const { item, error } of failures) {
    const reason = explain(error);
    groups.set(reason, [...(groups.get(reason) ?? []), item]);
  }
  return [...groups].map(([reason, streams]) => ({ reason, streams }));
}

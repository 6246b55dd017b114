/** Says what is done to several streams at once, before, meanwhile and afterwards. Pure: no I/O, no clock. */
import { ProblemError } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { problemText } from '../../api/problem.ts';
import type { ActFailure } from '../../lib/runAll.ts';
import { actionsIn, isRunning } from './phase.ts';

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

/** Nothing that viewers see ends without a question, and nothing is deleted without one. */
export const needsQuestion = (kind: BulkKind, streams: readonly Stream[]): boolean =>
  kind === 'delete' || (kind === 'stop' && streams.some(({ status }) => isRunning(status)));

/** Says how many go off air. */
export function formatConsequence(kind: BulkKind, streams: readonly Stream[]): string {
  const onAir = streams.filter(({ status }) => isRunning(status)).length;
  const rest = kind === 'delete' ? 'Media, playlists and destinations stay. You cannot undo this.' : '';
  if (onAir === 0) return `None of them is on air. ${rest}`.trim();
  const who =
    onAir === streams.length
      ? onAir === 1
        ? 'It is'
        : `All ${onAir} are`
      : `${onAir} of them ${onAir === 1 ? 'is' : 'are'}`;
  return `${who} on air, and go${onAir === 1 ? 'es' : ''} off air for viewers immediately, on every destination. ${rest}`.trim();
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

/** Selects the streams for the overview. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import type { LoadedStreams } from '../streams/loadedStreams.ts';
import { isRunning, isUnseen, needsAttention } from '../streams/phase.ts';

/** States that the overview is about: a stream in any other is not on air and nobody waits for it. */
export const OVERVIEW_PHASES = ['live', 'starting', 'reconnecting', 'waiting', 'failed', 'scheduled'] as const;

/**
 * Whether the overview still needs a stream after a change. The data of an account with one page of streams has all of them, so that it
 * says when there are none.
 */
export const belongsToOverview = ({ status, nextStartAt }: Stream, { pages }: LoadedStreams): boolean =>
  pages.length === 1 || nextStartAt !== null || (OVERVIEW_PHASES as readonly string[]).includes(status);

export interface Overview {
  onAir: Stream[];
  /** On air and not as they should be, kept off air, or soon to be. */
  needing: Stream[];
  /** Failed uploads; their owner has to add them again. */
  failed: readonly Upload[];
  /** The streams that go on air by themselves, the next one first. A stream on air has a next start, too. */
  next: Stream[];
}

const byTime =
  (time: (stream: Stream) => string | null) =>
  (a: Stream, b: Stream): number =>
    Date.parse(time(a) ?? '') - Date.parse(time(b) ?? '') || (a.id < b.id ? -1 : 1);

export function buildOverview(streams: readonly Stream[], failed: readonly Upload[] = []): Overview {
  return {
    failed,
    onAir: streams.filter(({ status }) => isRunning(status)),
    needing: streams.filter(
      (stream) =>
        needsAttention(stream.status) ||
        isUnseen(stream, stream.status) ||
        (isRunning(stream.status) && stream.degraded !== null) ||
        (stream.status === 'scheduled' && !stream.ready),
    ),
    next: streams.filter(({ nextStartAt }) => nextStartAt !== null).sort(byTime(({ nextStartAt }) => nextStartAt)),
  };
}

const HEADLINES = ['on air', 'needs you', 'need you'] as const;

/** `2 on air · 1 needs you`: the overview in a line. */
export function formatSummary({ onAir, needing, failed }: Overview): string {
  const count = needing.length + failed.length;
  const [air, one, more] = HEADLINES;
  const parts = [`${onAir.length} ${air}`, count > 0 && `${count} ${count === 1 ? one : more}`];
  return parts.filter(Boolean).join(' · ');
}

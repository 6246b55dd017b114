/**
 * Decides which items of a stream on air webhooks receive as `item.started`, and when the next one may begin. Pure: no I/O, no clock.
 */
import type { StreamNow, StreamTimelineItem } from '../../timeline/record.ts';

/** A shorter item is not told, and no two of a list within this time: a list of jingles must not cost a request every few seconds. */
export const LEAST_SECONDS = 30;
/** An item that began longer ago is no news, as after the election of another server. */
const FRESH_MS = 60_000;
/** Borders are rounded. */
const ROUNDING_MS = 1_000;
const LEAST_WAIT_MS = 1_000;
const MOST_WAIT_MS = 3_600_000;

/** The last start of a list that webhooks have received. */
export type KnownStart = Pick<StreamTimelineItem, 'id' | 'index' | 'rule' | 'startAt' | 'endAt'>;

const msOf = (time: string): number => Date.parse(time);

/** Whether webhooks have received this play of the item: a move of the list computes the start of an item on air anew. */
const isSamePlay = (item: KnownStart, last: KnownStart): boolean =>
  item.id === last.id &&
  item.index === last.index &&
  item.rule === last.rule &&
  msOf(item.startAt) < msOf(last.endAt) - ROUNDING_MS;

/** Whether the start of the item on air is to be told. A stream may join an item late: that counts from `liveSinceMs` on. */
export function isNewStart(
  item: StreamTimelineItem,
  last: KnownStart | undefined,
  { nowMs, liveSinceMs }: { nowMs: number; liveSinceMs: number },
): boolean {
  const startMs = msOf(item.startAt);
  if (item.durationSeconds < LEAST_SECONDS || nowMs - Math.max(startMs, liveSinceMs) > FRESH_MS) return false;
  if (!last) return true;
  return startMs - msOf(last.startAt) >= LEAST_SECONDS * 1000 && !isSamePlay(item, last);
}

/** Milliseconds until the next item may begin that is told. Changes of the stream are looked at besides. */
export function findNextLookMs({ current, next }: Pick<StreamNow, 'current' | 'next'>, nowMs: number): number {
  const long = next.find(({ durationSeconds }) => durationSeconds >= LEAST_SECONDS);
  const at = long?.startAt ?? next.at(-1)?.startAt ?? current?.endAt;
  const waitMs = at === undefined ? LEAST_SECONDS * 1000 : msOf(at) - nowMs;
  return Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, waitMs));
}

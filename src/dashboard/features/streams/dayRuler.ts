/** Lays out what a stream plays on a ruler of a day: blocks, ticks and the next items in words. Pure: no I/O, no clock. */
import type { StreamTimeline, StreamTimelineItem } from '../../../service/client/index.ts';

export const RULER_HOURS = 24;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Shades of blocks: an upload has the same one wherever it plays, and its neighbours in the list have others. */
export const SHADES = 5;
/** A phone has room for the words of so many ticks. */
const MAX_TICKS = 6;
const STEPS_MS = [1, 5, 15, 30, 60, 180, 360].map((minutes) => minutes * MINUTE_MS);

export interface RulerBlock {
  item: StreamTimelineItem;
  /** Parts of the ruler, from 0 to 1. */
  start: number;
  width: number;
  shade: number;
}

export interface RulerTick {
  at: number;
  /** RFC 3339. */
  time: string;
}

export interface Ruler {
  blocks: RulerBlock[];
  ticks: RulerTick[];
  /** RFC 3339. A list of short items has too many of them for a day. */
  endAt: string;
  /** Part of the ruler from which on the times are estimates; undefined where all are exact. */
  estimateFrom: number | undefined;
}

/** Ticks at round times of the reader's clock. */
function listTicks(fromMs: number, toMs: number): RulerTick[] {
  const span = toMs - fromMs;
  const step = STEPS_MS.find((one) => span / one <= MAX_TICKS) ?? 6 * HOUR_MS;
  const offsetMs = new Date(fromMs).getTimezoneOffset() * MINUTE_MS;
  const first = Math.ceil((fromMs - offsetMs) / step) * step + offsetMs;
  const count = Math.max(0, Math.ceil((toMs - first) / step));
  return Array.from({ length: count }, (_, i) => first + i * step).map((ms) => ({
    at: (ms - fromMs) / span,
    time: new Date(ms).toISOString(),
  }));
}

/** Returns the ruler of a timeline that begins now; undefined where nothing plays. */
export function layOutRuler({ items, from, to, nextFrom, exactUntil }: StreamTimeline): Ruler | undefined {
  const fromMs = Date.parse(from);
  const endAt = nextFrom ?? to;
  const span = Date.parse(endAt) - fromMs;
  if (items.length === 0 || span <= 0) return undefined;
  const place = (time: string) => Math.min(1, Math.max(0, (Date.parse(time) - fromMs) / span));
  const shades = new Map<string, number>();
  const blocks = items.map((item) => {
    if (!shades.has(item.id)) shades.set(item.id, shades.size % SHADES);
    const start = place(item.startAt);
    return { item, start, width: place(item.endAt) - start, shade: shades.get(item.id) ?? 0 };
  });
  const ticks = listTicks(fromMs, fromMs + span);
  return { blocks, ticks, endAt, estimateFrom: exactUntil === null ? undefined : place(exactUntil) };
}

/** Lists what a stream on air plays in a span of time, as people and programs read it. Pure: no I/O, no clock. */
import { findPlace, type Place } from '../resources/stream/item-place.ts';
import type { ProgramItem, Track } from '../resources/stream/playing.ts';
import type { OnAirList } from './on-air.ts';
import { findTurn, listTurnsBefore, type PlannedTurn, timeline } from './timeline.ts';

/** An item's turn on air. */
export interface PlannedItem {
  /** RFC 3339, to the millisecond. */
  startAt: string;
  /** The start of the next item, or the end of the time on air. */
  endAt: string;
  durationSeconds: number;
  /** Name of the Upload. */
  id: string;
  name: string;
  playlistID: string | null;
  /** Position in the playlist, from 0; 0 for a single upload. */
  index: number | null;
  /** Name of the rule that placed it; null for an item of the list itself. */
  rule: string | null;
  /** False for an estimate. */
  exact: boolean;
}

export interface PlannedPart {
  items: PlannedItem[];
  /** Where the rest begins; undefined when all are listed. */
  nextMs: number | undefined;
}

const toTime = (ms: number): string => new Date(ms).toISOString();

/** Returns the item of a turn, its place in the playlists, and the rule that placed it; null for the list itself. */
export function findTurnItem(
  track: Track,
  { rule: ruleIndex, item: index }: Pick<PlannedTurn, 'rule' | 'item'>,
): { item: ProgramItem | undefined; place: Place; rule: string | null } {
  const rule = ruleIndex === null ? undefined : track.rules?.[ruleIndex];
  const place = rule ? { playlistID: rule.list ?? null, index } : findPlace(track.lists, index);
  return { item: (rule ?? track).items[index], place, rule: rule?.name ?? null };
}

export function showPlanned({ track, exactUntilMs, untilMs }: OnAirList, planned: PlannedTurn): PlannedItem {
  const { startMs, endMs: end } = planned;
  const { item, place, rule } = findTurnItem(track, planned);
  const { id = '', name = '' } = item ?? {};
  const endMs = Math.min(end, untilMs ?? end);
  return {
    startAt: toTime(startMs),
    endAt: toTime(endMs),
    durationSeconds: (endMs - startMs) / 1000,
    id,
    name: name || id,
    ...place,
    rule,
    exact: exactUntilMs === undefined || endMs <= exactUntilMs,
  };
}

/** Returns the item on air at a moment; undefined where none is, or none is known. */
export function findItemAt(list: OnAirList, atMs: number): PlannedTurn | undefined {
  if (atMs < list.sinceMs || (list.untilMs !== undefined && atMs >= list.untilMs)) return undefined;
  return findTurn(list.programme, list.anchor, atMs);
}

/** Lists the item on air at the begin of [fromMs, toMs) and those that begin in it, as far as they are known, `limit` at most. */
export function listPlanned(list: OnAirList, fromMs: number, toMs: number, limit: number): PlannedPart {
  const begin = Math.max(fromMs, list.sinceMs);
  const end = Math.min(toMs, list.untilMs ?? toMs);
  if (begin >= end) return { items: [], nextMs: undefined };
  const items: PlannedItem[] = [];
  const first = findItemAt(list, begin);
  if (first && first.startMs < begin) items.push(showPlanned(list, first));
  for (const planned of timeline(list.programme, list.anchor, begin, end)) {
    if (items.length >= limit) return { items, nextMs: planned.startMs };
    items.push(showPlanned(list, planned));
  }
  return { items, nextMs: undefined };
}

/** The item that plays, what comes next and what came before, the latest first. */
export interface PlannedMoment {
  current: PlannedItem | null;
  next: PlannedItem[];
  last: PlannedItem[];
}

/** A programme without a schedule goes on for ever; the next items are looked for within this time. */
const AHEAD_MS = 31 * 86_400_000;

export function describeMoment(list: OnAirList, nowMs: number, counts: { next: number; last: number }): PlannedMoment {
  const current = findItemAt(list, nowMs);
  const { items } = listPlanned(list, current?.endMs ?? nowMs, nowMs + AHEAD_MS, counts.next);
  const span = { sinceMs: list.sinceMs, beforeMs: current?.startMs ?? nowMs, count: counts.last };
  return {
    current: current ? showPlanned(list, current) : null,
    next: items,
    last: listTurnsBefore(list.programme, list.anchor, span).map((planned) => showPlanned(list, planned)),
  };
}

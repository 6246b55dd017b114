/** Shows what was on air as clients read it: items with their words, totals, the times without items, and CSV. Pure: no I/O, no clock. */
import { formatCsv, quoteCsv } from '../../../core/lib/csv.ts';
import type { AiredItem, AirSpan, FindLength, Stretch } from '../../../core/programme/as-run.ts';
import type { AirPeriod } from '../uptime/compute.ts';
import type { StreamAsRunGap, StreamAsRunItem, StreamAsRunTotal } from './record.ts';
import type { RecordedItem } from './recorded-item.ts';
import type { ItemVersion } from './store.ts';

export interface ItemWords {
  findLength: FindLength;
  /** Returns the words of an upload as they were at a moment. */
  findTags: (uploadId: string, atMs: number) => RecordedItem['tags'];
}

const toTime = (ms: number): string => new Date(ms).toISOString();

/** `current` are the uploads as they are now: their latest lengths may not be recorded yet. */
export function readWords(versions: readonly ItemVersion[], current: ReadonlyMap<string, RecordedItem>): ItemWords {
  const byUpload = Map.groupBy(versions, ({ uploadId }) => uploadId);
  const lengths = new Map(
    [...versions, ...[...current.values()].map((item) => ({ item }))].flatMap(({ item }) =>
      Object.entries(item.lengths),
    ),
  );
  return {
    findLength({ id, rendition }) {
      const exact = lengths.get(rendition);
      if (exact !== undefined) return { seconds: exact, isExact: true };
      const seconds = current.get(id)?.seconds ?? byUpload.get(id)?.at(-1)?.item.seconds;
      return seconds === undefined ? undefined : { seconds, isExact: false };
    },
    findTags(uploadId, atMs) {
      const known = byUpload.get(uploadId) ?? [];
      const version = known.findLast(({ at }) => at.getTime() <= atMs) ?? known[0];
      return (version?.item ?? current.get(uploadId))?.tags ?? {};
    },
  };
}

const showTags = ({ title, artist, isrc, label, license, licenseUrl }: RecordedItem['tags']) => ({
  title: title ?? null,
  artist: artist ?? null,
  isrc: isrc ?? null,
  label: label ?? null,
  license: license ?? null,
  licenseUrl: licenseUrl ?? null,
});

export function showItem(
  { startMs, endMs, airedMs, item, place, rule, isCut, isExact }: AiredItem,
  words: ItemWords,
): StreamAsRunItem {
  return {
    startAt: toTime(startMs),
    endAt: toTime(endMs),
    seconds: airedMs / 1000,
    cut: isCut,
    id: item.id,
    name: item.name || item.id,
    ...showTags(words.findTags(item.id, startMs)),
    playlistID: place.playlistID,
    index: place.index,
    rule,
    exact: isExact,
  };
}

/** Adds up plays by upload. An item has the words of its last play. */
export function addPlays(items: readonly StreamAsRunItem[]): StreamAsRunTotal[] {
  const totals = new Map<string, StreamAsRunTotal & { ms: number }>();
  for (const { id, name, title, artist, isrc, label, license, licenseUrl, seconds } of items) {
    const { plays = 0, ms = 0 } = totals.get(id) ?? {};
    const sum = ms + Math.round(seconds * 1000);
    const words = { title, artist, isrc, label, license, licenseUrl };
    totals.set(id, { id, name, ...words, plays: plays + 1, seconds: sum / 1000, ms: sum });
  }
  return [...totals.values()].map(({ ms: _, ...total }) => total).toSorted((a, b) => b.seconds - a.seconds);
}

const REASONS = { offAir: 'off_air', unwanted: 'stopped', unknown: 'unknown' } as const;

/** Lists the times of a span in which nothing was on air, or nobody knows what was. */
export function listGaps(
  periods: readonly AirPeriod[],
  stretches: readonly Stretch[],
  { startMs, endMs }: AirSpan,
): StreamAsRunGap[] {
  const gaps: StreamAsRunGap[] = [];
  const add = (begin: number, end: number, reason: StreamAsRunGap['reason']) => {
    const [from, to] = [Math.max(begin, startMs), Math.min(end, endMs)];
    if (from < to) gaps.push({ startAt: toTime(from), endAt: toTime(to), reason });
  };
  const unknown = stretches.flatMap((one) => (one.list ? [] : [{ startMs: one.startMs, endMs: one.endMs }]));
  unknown.unshift({ startMs: Number.NEGATIVE_INFINITY, endMs: stretches[0]?.startMs ?? Number.POSITIVE_INFINITY });
  let knownMs = startMs;
  for (const { state, startedAt, endedAt } of periods) {
    const [begin, end] = [startedAt.getTime(), endedAt?.getTime() ?? Number.POSITIVE_INFINITY];
    add(knownMs, begin, 'stopped');
    knownMs = Math.max(knownMs, end);
    if (state !== 'onAir') add(begin, end, REASONS[state]);
    else for (const one of unknown) add(Math.max(one.startMs, begin), Math.min(one.endMs, end), 'unknown');
  }
  add(knownMs, endMs, 'stopped');
  return gaps;
}

const quote = (text: string | null): string => (text === null ? '' : quoteCsv(text));
const WORDS = ['title', 'artist', 'isrc', 'label', 'license', 'licenseUrl'] as const;

/** RFC 4180, a line for each item. */
export function asRunCsv(items: readonly StreamAsRunItem[]): string {
  const header = [...WORDS, 'started', 'ended', 'seconds', 'rule', 'cut', 'id', 'name', 'exact'];
  const rows = items.map((item) => [
    ...WORDS.map((word) => quote(item[word])),
    ...[item.startAt, item.endAt, item.seconds, quote(item.rule), item.cut, item.id, quote(item.name), item.exact],
  ]);
  return formatCsv(header, rows);
}

export function totalsCsv(items: readonly StreamAsRunTotal[]): string {
  const header = [...WORDS, 'plays', 'seconds', 'id', 'name'];
  const rows = items.map((item) => [
    ...WORDS.map((word) => quote(item[word])),
    ...[item.plays, item.seconds, item.id, quote(item.name)],
  ]);
  return formatCsv(header, rows);
}

import { expect, test } from 'vitest';
import { layOutRuler, SHADES } from '../../../../../src/dashboard/features/streams/dayRuler.ts';
import type { StreamTimeline } from '../../../../../src/service/client/index.ts';

const FROM = Date.parse('2027-01-31T18:10:00Z');
const at = (minutes: number) => new Date(FROM + minutes * 60_000).toISOString();
const item = (id: string, start: number, end: number): StreamTimeline['items'][number] => ({
  startAt: at(start),
  endAt: at(end),
  durationSeconds: (end - start) * 60,
  id,
  name: id,
  playlistID: null,
  index: 0,
  rule: null,
  exact: true,
});
const timeline = (more: Partial<StreamTimeline> = {}): StreamTimeline => ({
  from: at(0),
  to: at(100),
  onAir: true,
  track: 'video',
  exactUntil: null,
  items: [item('a', -20, 30), item('b', 30, 80), item('a', 80, 130)],
  nextFrom: null,
  ...more,
});

test('blocks fill the ruler from now on, and an upload has one shade', () => {
  const ruler = layOutRuler(timeline());
  expect(ruler?.blocks.map(({ start, width, shade }) => [start, Number(width.toFixed(6)), shade])).toEqual([
    [0, 0.3, 0],
    [0.3, 0.5, 1],
    [0.8, 0.2, 0],
  ]);
  expect(ruler?.estimateFrom).toBeUndefined();
  const many = Array.from({ length: 2 * SHADES }, (_, i) => item(`i${i}`, i * 10, i * 10 + 10));
  const shades = layOutRuler(timeline({ items: many }))?.blocks.map(({ shade }) => shade);
  expect(shades).toEqual([...Array(2 * SHADES).keys()].map((n) => n % SHADES));
});

test('ticks are at round times of the reader, as many as a phone has room for', () => {
  const { ticks = [] } = layOutRuler(timeline()) ?? {};
  expect(ticks.map(({ time }) => new Date(time).getMinutes() % 30)).toEqual(ticks.map(() => 0));
  expect(ticks).toHaveLength(3);
  const day = layOutRuler(timeline({ to: at(1440) }))?.ticks ?? [];
  expect(day.length).toBeLessThanOrEqual(7);
  for (const { time } of day) expect(new Date(time).getHours() % 6).toBe(0);
});

test('a list of short items ends where the next part begins, and estimates are told', () => {
  const short = layOutRuler(timeline({ nextFrom: at(50), exactUntil: at(25) }));
  expect(short).toMatchObject({ endAt: at(50), estimateFrom: 0.5 });
  expect(layOutRuler(timeline({ items: [] }))).toBeUndefined();
});

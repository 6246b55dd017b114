/** Tests the orders of the list of streams, and its count in words. */
import { expect, test } from 'vitest';
import type { Stream } from '../../../../../src/dashboard/api/api.ts';
import {
  formatListCount,
  SORTS,
  type StreamSort,
  sortStreams,
  toServerOrder,
} from '../../../../../src/dashboard/features/streams/listOrder.ts';

const stream = (name: string, more: Partial<Stream> = {}): Stream =>
  ({ id: `str-${name}`, name, status: 'idle', liveSince: null, createdAt: '2026-01-01T00:00:00Z', ...more }) as Stream;
const names = (streams: readonly Stream[], sort: StreamSort) => sortStreams(streams, sort).map(({ name }) => name);

const STREAMS = [
  stream('Channel 10', { createdAt: '2026-01-03T00:00:00Z' }),
  stream('channel 2', { status: 'live', liveSince: '2026-01-09T00:00:00Z', createdAt: '2026-01-01T00:00:00Z' }),
  stream('Alpha', { status: 'failed', createdAt: '2026-01-02T00:00:00Z' }),
  // It was on air before.
  stream('Zulu', { status: 'reconnecting', liveSince: '2026-01-08T00:00:00Z', createdAt: '2026-01-04T00:00:00Z' }),
];

test('streams on air come first, each part by name with its numbers in their order', () => {
  expect(names(STREAMS, 'onAir')).toEqual(['channel 2', 'Zulu', 'Alpha', 'Channel 10']);
});

test.each([
  ['name', ['Alpha', 'channel 2', 'Channel 10', 'Zulu']],
  ['-name', ['Zulu', 'Channel 10', 'channel 2', 'Alpha']],
  ['state', ['channel 2', 'Zulu', 'Alpha', 'Channel 10']],
  ['uptime', ['Zulu', 'channel 2', 'Alpha', 'Channel 10']],
  ['createdAt', ['channel 2', 'Alpha', 'Channel 10', 'Zulu']],
  ['-createdAt', ['Zulu', 'Channel 10', 'Alpha', 'channel 2']],
] as const)('by %s', (sort, expected) => {
  expect(names(STREAMS, sort)).toEqual(expected);
});

test('streams with one name keep one order, however the list comes', () => {
  const twins = ['b', 'a', 'c'].map((id) => ({ ...stream('Same'), id }));
  for (const sort of Object.keys(SORTS) as StreamSort[])
    expect(sortStreams(twins, sort)).toEqual(sortStreams(twins.toReversed(), sort));
});

test('each order has one of the server, for an account with more than the page reads', () => {
  expect((Object.keys(SORTS) as StreamSort[]).map(toServerOrder)).toEqual([
    ...['onAir', 'name', '-name', 'onAir', 'onAir', '-createdAt', 'createdAt'],
  ]);
});

test('the count says how many there are and how many are on air', () => {
  const all = { hasMore: false, isFiltered: false };
  expect(formatListCount({ streams: STREAMS, ...all })).toBe('4 streams, 2 on air');
  expect(formatListCount({ streams: STREAMS.slice(0, 1), ...all })).toBe('1 stream, 0 on air');
  expect(formatListCount({ streams: STREAMS, ...all, isFiltered: true })).toBe('4 found, 2 on air');
  const thousand = Array.from({ length: 1000 }, (_, i) => stream(`${i}`));
  expect(formatListCount({ streams: thousand, ...all, hasMore: true })).toMatch(/^The first 1.?000 streams, 0 on air$/);
});

/** Tests that a new answer changes only those streams of a list that are different. */
import { expect, test } from 'vitest';
import type { Stream } from '../../../../../src/dashboard/api/api.ts';
import { keepEqualStreams } from '../../../../../src/dashboard/features/streams/loadedStreams.ts';

const stream = (id: string, name = id): Stream => ({ id, name, status: 'idle', destinationIDs: ['tv'] }) as Stream;

test('equal streams stay the same objects, wherever they stand in the new list', () => {
  const before = [stream('a'), stream('b'), stream('c')];
  const [first, second, third] = keepEqualStreams(before, [stream('new'), stream('c'), stream('a')]);
  expect(first).toEqual(stream('new'));
  expect(second).toBe(before[2]);
  expect(third).toBe(before[0]);
});

test('a stream that has changed is the new one', () => {
  const before = [stream('a'), stream('b')];
  const now = keepEqualStreams(before, [stream('a', 'renamed'), stream('b')]);
  expect(now[0]).toEqual(stream('a', 'renamed'));
  expect(now[1]).toBe(before[1]);
});

test('the order and the length are those of the new list', () => {
  expect(keepEqualStreams([], [])).toEqual([]);
  expect(keepEqualStreams([stream('a')], [])).toEqual([]);
  expect(keepEqualStreams([], [stream('a')])).toEqual([stream('a')]);
});

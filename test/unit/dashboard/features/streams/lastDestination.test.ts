import { expect, test } from 'vitest';
import { findLastDestinations } from '../../../../../src/dashboard/features/streams/lastDestination.ts';
import { exampleLiveStats } from '../../../../../src/service/domain/streams/examples.ts';

const [one] = exampleLiveStats.destinations;
if (!one) throw new Error('the example has no destination');
const stats = (connected: readonly string[], lost: readonly string[] = []) => ({
  destinations: [
    ...connected.map((id) => ({ ...one, id, connected: true })),
    ...lost.map((id) => ({ ...one, id, connected: false })),
  ],
});

test.each([
  ['the only one is replaced', ['a'], ['b'], stats(['a']), ['a']],
  ['the only one that works is removed', ['a', 'b'], ['b'], stats(['a'], ['b']), ['a']],
  ['both that work are removed', ['a', 'b', 'c'], ['c'], stats(['a', 'b'], ['c']), ['a', 'b']],
  ['one that works stays', ['a', 'b'], ['b'], stats(['a', 'b']), []],
  ['one that does not work is removed', ['a', 'b'], ['a'], stats(['a'], ['b']), []],
  ['nobody receives it', ['a'], ['b'], stats([], ['a']), []],
  ['one is added', ['a'], ['a', 'b'], stats(['a']), []],
  ['all are removed before statistics are there', ['a', 'b'], ['c'], undefined, ['a', 'b']],
])('%s', (_what, before, after, live, lost) => {
  expect(findLastDestinations(before, after, live)).toEqual(lost);
});

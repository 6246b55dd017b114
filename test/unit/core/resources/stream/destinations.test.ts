import { expect, test } from 'vitest';
import { listDestinationNames, listReceivers } from '../../../../../src/core/resources/stream/destinations.ts';

test('the short form names destinations that all receive the stream', () => {
  const spec = { destinationNames: ['a', 'b'] };
  expect([listDestinationNames(spec), listReceivers(spec)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

test('a destination that is not enabled is referred to, and receives nothing', () => {
  const spec = { destinations: [{ name: 'a' }, { name: 'b', enabled: false }, { name: 'c', enabled: true }] };
  expect(listDestinationNames(spec)).toEqual(['a', 'b', 'c']);
  expect(listReceivers(spec)).toEqual(['a', 'c']);
});

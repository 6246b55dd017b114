/** Tests what a change of a destination says of the streams that are on air to it. */
import { expect, test } from 'vitest';
import { judgeDestinationChange } from '../../../../../src/service/domain/destinations/effect.ts';
import { stream } from '../../../../kit/make/operator.ts';

const onAir = (name: string, displayName: string, receiving: string[]) => {
  const made = stream({ displayName, destinationNames: ['tv', 'web'] });
  return { stream: { ...made, metadata: { ...made.metadata, name } }, receiving };
};

test('a person reads the titles of the streams, and a program gets their ids', () => {
  const { effect, streamIDs, takesOffAir } = judgeDestinationChange('tv', [
    onAir('str-2', 'Aquarium', ['tv', 'web']),
    onAir('str-1', 'Night fireplace', ['tv']),
  ]);
  expect(effect).toMatch(/^The streams "Aquarium" and "Night fireplace" leave the old address and key, and connect/);
  expect(streamIDs).toEqual(['str-1', 'str-2']);
  expect(takesOffAir).toBe(true);
});

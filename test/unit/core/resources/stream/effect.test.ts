import { describe, expect, test } from 'vitest';
import { judgeEdit } from '../../../../../src/core/resources/stream/effect.ts';
import { at, NOW, stream } from '../../../../kit/make/operator.ts';

describe('an edit of the destinations of a stream on air', () => {
  test.each([
    ['the only one is replaced', ['b'], ['a'], ['a'], true],
    ['the only one that receives it is removed', ['b'], ['a'], ['a'], true],
    ['both that receive it are removed', ['c'], ['a', 'b'], ['a', 'b'], true],
    ['one that receives it stays', ['b'], ['a', 'b'], ['a'], false],
    ['one that does not receive it is removed', ['a'], ['a'], [], false],
    ['nobody receives it', ['b'], [], [], false],
    ['one is added', ['a', 'b'], ['a'], [], false],
  ])('%s', (_what, destinationNames, receiving, lost, takesOffAir) => {
    const effect = judgeEdit(stream({ destinationNames }), { receiving, now: NOW });
    expect(effect).toEqual({ takesOffAir, isEnded: false, lost });
  });

  test('one that is no longer enabled receives nothing', () => {
    const destinations = [{ name: 'a', enabled: false }, { name: 'b' }];
    const edited = stream({ destinations, destinationNames: undefined as never });
    expect(judgeEdit(edited, { receiving: ['a', 'b'], now: NOW })).toMatchObject({ lost: ['a'], takesOffAir: false });
    expect(judgeEdit(edited, { receiving: ['a'], now: NOW })).toMatchObject({ lost: ['a'], takesOffAir: true });
  });
});

test('a stream that goes off air leaves every destination', () => {
  const edited = stream({ schedule: { startAt: at(60).toISOString() } });
  expect(judgeEdit(edited, { receiving: ['tv'], now: NOW })).toEqual({
    takesOffAir: true,
    isEnded: true,
    lost: ['tv'],
  });
});

/** Tests what the operator makes of the part of a destination's status that the process `platform` writes. */
import { describe, expect, test } from 'vitest';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import {
  findPlatformExpiry,
  isSameView,
  readPlatformView,
  settlePlatform,
} from '../../../../../src/core/resources/destination/platform.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { at, destination, NOW } from '../../../../kit/make/operator.ts';
import { watched } from '../../../../kit/make/watched.ts';

const SEEN = watched('tv', { status: 'True', more: { viewers: 7 } }, NOW);
const ENDED = watched('tv', { status: 'False', reason: 'broadcast_ended' }, NOW);
const EXPIRED = at(90);

describe('what nobody has confirmed in time', () => {
  test.each([SEEN, ENDED])('holds until its time, and is Unknown from then on', (one) => {
    expect(settlePlatform(one, at(89))).toBeUndefined();
    const settled = settlePlatform(one, EXPIRED);
    const condition = findCondition(settled?.conditions, 'PlatformLive');
    expect(condition).toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
    expect(condition?.lastTransitionTime).toBe('2026-06-01T12:01:30Z');
    expect(findCondition(settled?.conditions, 'Ready')).toEqual(findCondition(one.status?.conditions, 'Ready'));
    expect(settled?.platform).toEqual(one.status?.platform);
  });

  test('is written once', () => {
    const settled = settlePlatform(SEEN, EXPIRED);
    expect(settled && settlePlatform({ ...SEEN, status: settled }, at(600))).toBeUndefined();
  });

  test('is the same for a reader before and after the operator has written it', () => {
    const status = settlePlatform(SEEN, EXPIRED);
    const [before, after] = [SEEN, { ...SEEN, ...(status && { status }) }].map((one) => readPlatformView(one, at(91)));
    expect(before).toMatchObject({ status: 'Unknown', reason: 'not_checked' });
    expect(after).toMatchObject({ status: 'Unknown', reason: 'not_checked' });
  });

  test('was Unknown for another reason since before', () => {
    const unsure = watched('tv', { status: 'Unknown', reason: 'starting', since: at(-60) }, NOW);
    const condition = findCondition(settlePlatform(unsure, EXPIRED)?.conditions, 'PlatformLive');
    expect(condition).toMatchObject({ reason: 'NotChecked', lastTransitionTime: at(-60).toISOString() });
  });
});

test('without spec.platform, nothing of it stays, and the rest does', () => {
  const asked: Destination = { ...SEEN, spec: { secretName: 'tv' } };
  const settled = settlePlatform(asked, NOW);
  expect(settled).toEqual({ ...destination('tv').status });
  expect(settled && settlePlatform({ ...asked, status: settled }, NOW)).toBeUndefined();
  expect(readPlatformView(asked, NOW)).toBeUndefined();
  expect(findPlatformExpiry(asked)).toBeUndefined();
});

test('a destination of which nobody has said anything is left alone', () => {
  expect(settlePlatform(watched('tv', undefined, NOW), at(3_600))).toBeUndefined();
  expect(settlePlatform(destination('tv'), NOW)).toBeUndefined();
});

test('numbers and times do not change what is said of the viewers', () => {
  expect(isSameView(SEEN, watched('tv', { status: 'True', more: { viewers: 8 } }, at(30)))).toBe(true);
  expect(isSameView(watched('tv', { status: 'True' }, at(30)), SEEN)).toBe(true);
  expect(isSameView(watched('tv', { status: 'True' }, at(91)), SEEN)).toBe(false);
  expect(isSameView(SEEN, ENDED)).toBe(false);
  expect(isSameView(ENDED, watched('tv', { status: 'False', reason: 'black' }, NOW))).toBe(false);
  expect(isSameView(SEEN, undefined)).toBe(false);
});

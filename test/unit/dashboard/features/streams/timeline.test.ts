import { expect, test } from 'vitest';
import { describeTimeline } from '../../../../../src/dashboard/features/streams/timeline.ts';

const NOW = Date.parse('2027-01-01T00:00:00Z');
const film = { videoUploadObjectID: 'u1' };
const list = { videoUploadObjectID: null };
const partly = { prepared: 0.129, estimatedReadyAt: '2027-01-01T00:30:00Z' };
const whole = { prepared: 1, estimatedReadyAt: null };
const playing = { positionSeconds: 42, durationSeconds: 36_000 };

test('the prepared part and the playhead stand on one bar, each with its text', () => {
  expect(describeTimeline(film, partly, playing, NOW)).toEqual({
    prepared: { at: 0.129, text: '12 % prepared · about 30 min left' },
    playhead: { at: 42 / 36_000, text: '0:42 of 10:00:00' },
  });
});

test('an end that nobody can estimate is left out, and one that is over is near', () => {
  const text = (estimatedReadyAt: string | null) =>
    describeTimeline(film, { prepared: 0.5, estimatedReadyAt }, undefined, NOW)?.prepared?.text;
  expect(text(null)).toBe('50 % prepared');
  expect(text('2026-12-31T23:00:00Z')).toBe('50 % prepared · a few seconds left');
});

test('a list has a playhead once all of it is prepared: before, the bar is the whole list', () => {
  expect(describeTimeline(list, partly, playing, NOW)?.playhead).toBeUndefined();
  expect(describeTimeline(list, whole, playing, NOW)).toEqual({
    prepared: undefined,
    playhead: { at: 42 / 36_000, text: '0:42 of 10:00:00' },
  });
});

test('there is no bar where nothing is known', () => {
  const unknown = { positionSeconds: null, durationSeconds: null };
  for (const readiness of [undefined, whole, { prepared: 0, estimatedReadyAt: null }])
    expect(describeTimeline(film, readiness, unknown, NOW)).toBeUndefined();
  expect(describeTimeline(film, whole, { positionSeconds: 3, durationSeconds: 0 }, NOW)).toBeUndefined();
});

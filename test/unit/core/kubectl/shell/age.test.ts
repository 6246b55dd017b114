/** Tests durations: two units at most, as kubectl has them. */
import { expect, test } from 'vitest';
import { formatAge, formatDuration } from '../../../../../src/core/kubectl/shell/age.ts';

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

test.each([
  [-5, '0s'],
  [42, '42s'],
  [119, '119s'],
  [5 * MINUTE + 10, '5m10s'],
  [5 * MINUTE, '5m'],
  [59 * MINUTE, '59m'],
  [3 * HOUR + 20 * MINUTE, '3h20m'],
  [30 * HOUR, '30h'],
  [2 * DAY + 5 * HOUR, '2d5h'],
  [40 * DAY, '40d'],
])('%d s is %s', (seconds, text) => expect(formatDuration(seconds * 1000)).toBe(text));

test('a time that cannot be read has no age', () => {
  const now = new Date('2026-01-01T00:01:00Z');
  expect(formatAge('2026-01-01T00:00:00Z', now)).toBe('60s');
  expect([undefined, 'soon'].map((time) => formatAge(time, now))).toEqual(['', '']);
});

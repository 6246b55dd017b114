import { expect, test } from 'vitest';
import { LargestSteps } from '../../../../../../src/core/pods/streamer/timeline/largest-steps.ts';

test('the largest step of the last hour is forgotten after an hour, and one that still counts is not', () => {
  const steps = new LargestSteps();
  const minute = (n: number) => n * 60_000;
  expect(steps.largestMs(0)).toBe(0);
  for (const timestamp of [500, 533, 633]) steps.add(timestamp, minute(0));
  steps.add(667, minute(30));
  expect(steps.largestMs(minute(59))).toBe(100);
  expect(steps.largestMs(minute(60))).toBe(34);
  expect(steps.largestMs(minute(90))).toBe(0);
  steps.add(700, minute(90));
  expect(steps.largestMs(minute(90))).toBe(33);
});

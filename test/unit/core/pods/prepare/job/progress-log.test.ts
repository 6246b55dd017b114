import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { progressLog } from '../../../../../../src/core/pods/prepare/job/progress-log.ts';

/** Logs each [milliseconds since the start, fraction] and returns the logged fractions. */
function logSteps(steps: [number, number][]): number[] {
  const lines: { progress: number }[] = [];
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  let now = 5_000;
  const report = progressLog('import', pino(sink), { monotonicMs: () => now });
  for (const [ms, fraction] of steps) {
    now = 5_000 + ms;
    report(fraction);
  }
  return lines.map(({ progress }) => progress);
}

test('a task of milliseconds logs no progress, a long one each twentieth', () => {
  expect(logSteps(Array.from({ length: 101 }, (_, i) => [i * 5, i / 100]))).toEqual([]);
  const hour = logSteps(Array.from({ length: 3601 }, (_, i) => [i * 1000, i / 3600]));
  expect(hour).toHaveLength(19);
  expect(hour[0]).toBe(0.05);
});

test('between two lines are two seconds at least, and the end is not one of them', () => {
  const steps: [number, number][] = [
    [1_999, 0.3],
    [2_000, 0.31],
    [3_999, 0.6],
    [4_000, 0.61],
    [9_000, 1],
  ];
  expect(logSteps(steps)).toEqual([0.31, 0.61]);
});

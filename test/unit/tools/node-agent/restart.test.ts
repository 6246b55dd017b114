import { describe, expect, it } from 'vitest';
import { backoffMs, restarts, restartsAfter } from '../../../../tools/node-agent/restart.ts';

describe('restarts', () => {
  it('the first is at once, then 1 s doubling to 60 s, until a run of ten minutes', () => {
    expect([0, 1, 2, 3, 6, 7, 100].map(backoffMs)).toEqual([0, 1000, 2000, 4000, 32_000, 60_000, 60_000]);
    expect(restartsAfter(5, 599_999)).toBe(5);
    expect(restartsAfter(5, 600_000)).toBe(0);
  });

  it.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 1, false],
  ] as const)('%s after exit code %i: %s', (policy, exitCode, expected) => {
    expect(restarts(policy, { exitCode })).toBe(expected);
  });
});

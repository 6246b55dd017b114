/** Tests when a destination that hangs up counts as recovered. */
import { describe, expect, it } from 'vitest';
import { Recovery } from '../../../../../src/media/streamer/output/recovery.ts';

/** How often a destination is shown as connected that hangs up after each connection of `seconds`, `turns` times. */
function countShown(seconds: number, turns = 40): number {
  const recovery = new Recovery();
  let shown = 0;
  for (let turn = 0; turn < turns; turn++) {
    if (seconds * 1000 >= recovery.holdMs) shown++;
    recovery.end(seconds * 1000);
  }
  return shown;
}

describe('a destination that hangs up again and again', () => {
  it.each([0.5, 1.2, 5, 9.9, 10, 10.1, 12, 15, 20, 29.9])('after %f s is in one lasting state', (seconds) => {
    expect(countShown(seconds)).toBeLessThanOrEqual(4);
  });

  it('counts as recovered at once after one break of a healthy connection', () => {
    const recovery = new Recovery();
    recovery.end(60_000);
    expect(recovery.holdMs).toBe(0);
  });

  it('is trusted again after a connection that held for long', () => {
    const recovery = new Recovery();
    for (let turn = 0; turn < 10; turn++) recovery.end(1200);
    expect(recovery.holdMs).toBe(160_000);
    recovery.end(12 * 160_000);
    expect(recovery.holdMs).toBe(0);
  });
});

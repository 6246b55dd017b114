/** Tests when a destination that hangs up counts as recovered. */
import { describe, expect, it } from 'vitest';
import { Recovery } from '../../../../../../src/core/pods/streamer/output/recovery.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How often the destination is shown as healthy after its first failure, if its connections last so long, one after the other. */
function countRecoveries(lastMs: number[]): number {
  const recovery = new Recovery();
  return lastMs.filter((ms, i) => recovery.end(ms) && i > 0).length;
}
const always = (ms: number): number[] => Array.from({ length: 100 }, () => ms);

describe('a destination that hangs up again and again', () => {
  it.each([0.5, 1.2, 5, 9, 10, 12, 15, 19.999])('after %f s is never healthy in between', (seconds) => {
    expect(countRecoveries(always(seconds * SECOND))).toBe(0);
  });

  it.each([20, 20.001, 30, 40, 60, 120, 160, 240, 299])(
    'after %f s is healthy once, after the first time',
    (seconds) => {
      expect(countRecoveries(always(seconds * SECOND))).toBe(1);
    },
  );

  it('after another time within fifteen seconds each turn is never healthy in between', () => {
    const turns = Array.from({ length: 500 }, (_, i) => 500 + ((i * 7919) % (14.5 * SECOND)));
    expect(countRecoveries(turns)).toBe(0);
  });

  it('after a different time each turn is healthy a few times at most', () => {
    const turns = Array.from({ length: 500 }, (_, i) => 100 + ((i * 7919) % (60 * SECOND)));
    expect(countRecoveries(turns)).toBeLessThanOrEqual(4);
  });

  it('after exactly the time that it has to hold gains nothing by that', () => {
    const recovery = new Recovery();
    let recovered = 0;
    // A destination that adapts to the hold is healthy each time that it doubles, until the longest.
    for (let turn = 0; turn < 10; turn++) {
      const { holdMs } = recovery;
      if (holdMs >= 5 * MINUTE) break;
      recovery.end(Math.max(holdMs, SECOND));
      recovered++;
    }
    expect(recovered).toBeLessThanOrEqual(6);
    expect(recovery.holdMs).toBe(5 * MINUTE);
  });

  it('is healthy again once a connection has held for twice as long as those before', () => {
    const recovery = new Recovery();
    for (const ms of always(1200)) recovery.end(ms);
    expect(recovery.holdMs).toBe(20 * SECOND);
    recovery.end(12 * SECOND);
    expect(recovery.holdMs).toBe(24 * SECOND);
  });
});

describe('a healthy destination', () => {
  it.each([20 * SECOND, MINUTE, 10 * MINUTE, 1000 * MINUTE])(
    'that hangs up once, after %i ms, is back at once',
    (ms) => {
      const recovery = new Recovery();
      recovery.end(ms);
      expect(recovery.holdMs).toBe(0);
    },
  );

  it('that hangs up every ten minutes is back at once each time', () => {
    expect(countRecoveries(always(10 * MINUTE))).toBe(99);
  });

  it('is trusted again after five minutes, whatever was before', () => {
    const recovery = new Recovery();
    for (const ms of always(100 * SECOND)) recovery.end(ms);
    expect(recovery.holdMs).toBe(200 * SECOND);
    recovery.end(5 * MINUTE);
    expect(recovery.holdMs).toBe(0);
    recovery.end(MINUTE);
    expect(recovery.holdMs).toBe(0);
  });
});

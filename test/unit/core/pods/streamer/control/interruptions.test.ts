import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeInterruption, Interruptions } from '../../../../../../src/core/pods/streamer/control/interruptions.ts';

const LIVE = { isLive: true, isTaking: true };
const GONE = { isLive: false, isTaking: false };

function start(): Interruptions {
  const interruptions = new Interruptions();
  interruptions.look(1_000, LIVE);
  interruptions.add(1_000, 9_500);
  return interruptions;
}

describe('an interruption', () => {
  test('begins when the connection broke off, and ends with the first media of the next', () => {
    const interruptions = start();
    interruptions.look(10_000, GONE);
    expect(interruptions.last).toBeUndefined();
    interruptions.look(12_000, LIVE);
    expect(interruptions.last).toEqual({ beganMs: 10_000, endedMs: 12_000, offAirMs: 2_000 });
    interruptions.add(12_000, 30_000);
    expect(interruptions.last).toEqual({ beganMs: 10_000, endedMs: 12_000, offAirMs: 2_000 });
  });

  test('of a destination that hung begins when it last took media', () => {
    const interruptions = start();
    interruptions.look(25_000, GONE);
    interruptions.look(26_000, LIVE);
    expect(interruptions.last).toEqual({ beganMs: 9_500, endedMs: 26_000, offAirMs: 16_500 });
  });

  test('is as long as no media was taken, where connections in between did not hold', () => {
    const interruptions = start();
    interruptions.look(10_000, GONE);
    interruptions.add(12_000, 14_000);
    interruptions.look(14_500, GONE);
    interruptions.add(20_000, 41_000);
    interruptions.look(41_000, LIVE);
    expect(interruptions.last).toEqual({ beganMs: 10_000, endedMs: 20_000, offAirMs: 2_000 + 5_500 });
  });

  test('is none where another destination took media all the time', () => {
    const interruptions = start();
    interruptions.look(10_000, LIVE);
    interruptions.add(9_400, 12_000);
    expect(interruptions.last).toBeUndefined();
  });

  test('is none before a process was live', () => {
    const interruptions = new Interruptions();
    interruptions.look(1_000, GONE);
    interruptions.look(2_000, LIVE);
    expect(interruptions.last).toBeUndefined();
  });

  test('is told in the times of the wall clock', () => {
    const clock = { now: () => new Date('2027-01-31T18:00:10Z'), monotonicMs: () => 50_000 };
    expect(describeInterruption({ beganMs: 44_000, endedMs: 46_500.4, offAirMs: 2_500.4 }, clock)).toEqual({
      startedAt: '2027-01-31T18:00:04Z',
      endedAt: '2027-01-31T18:00:06.500Z',
      offAirSeconds: 2.5,
    });
    expect(describeInterruption(undefined, clock)).toBeNull();
  });
});

test('an interruption is never longer than from its begin to its end, for any connections', () => {
  const connection = fc.record({
    pauseMs: fc.integer({ min: 1, max: 9_000 }),
    takesMs: fc.integer({ min: 1, max: 9_000 }),
  });
  fc.assert(
    fc.property(fc.array(connection, { minLength: 1, maxLength: 20 }), (connections) => {
      const interruptions = start();
      interruptions.look(10_000, GONE);
      let nowMs = 10_000;
      let pausesMs = 0;
      for (const { pauseMs, takesMs } of connections) {
        nowMs += pauseMs;
        pausesMs += pauseMs;
        interruptions.add(nowMs, nowMs + takesMs);
        nowMs += takesMs;
        interruptions.look(nowMs, GONE);
      }
      interruptions.look(nowMs + 1, LIVE);
      const { beganMs, endedMs, offAirMs } = interruptions.last ?? { beganMs: 0, endedMs: 0, offAirMs: 0 };
      expect(offAirMs).toBe(pausesMs + 1);
      expect(endedMs - beganMs).toBeGreaterThanOrEqual(offAirMs);
    }),
  );
});

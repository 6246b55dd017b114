import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AirtimeInterval,
  ConnectionAirtime,
} from '../../../../../../src/core/pods/streamer/output/connection-airtime.ts';
import { parseQueues } from '../../../../../../src/core/pods/streamer/output/unreceived-bytes.ts';

const toMs = (intervals: readonly (AirtimeInterval | undefined)[]): number =>
  intervals.reduce((sum, one) => sum + (one ? one.untilMs - one.sinceMs : 0), 0);

test('it counts from the first report of media to when the media was handed over that was taken last', () => {
  const airtime = new ConnectionAirtime({ sameBytes: true });
  airtime.addSent(100, 0);
  airtime.addSent(1100, 500);
  // The publish was accepted late: the waiting media was taken at once, and the receiver has it from that moment.
  expect(airtime.addTaken(2000, 800)).toBeUndefined();
  airtime.addSent(2100, 1000);
  expect(airtime.addTaken(3000, 1040)).toEqual({ sinceMs: 800, untilMs: 1000 });
  airtime.addSent(3100, 1500);
  // Nothing of that was taken, however often it is reported.
  expect(airtime.addTaken(3000, 1900)).toBeUndefined();
  expect(airtime.addTaken(3099, 2100)).toBeUndefined();
  expect(airtime.addTaken(3100, 2300)).toEqual({ sinceMs: 1000, untilMs: 1500 });
});

test('headers alone are no media', () => {
  const airtime = new ConnectionAirtime({ sameBytes: true });
  airtime.addSent(100, 0);
  expect(airtime.addTaken(99, 200)).toBeUndefined();
  airtime.addSent(200, 500);
  expect(airtime.addTaken(150, 600)).toBeUndefined();
  airtime.addSent(300, 1000);
  expect(airtime.addTaken(350, 1100)).toEqual({ sinceMs: 600, untilMs: 1000 });
});

test('in another container, growth stands for all that was handed over before', () => {
  const airtime = new ConnectionAirtime({ sameBytes: false });
  airtime.addSent(1_000_000, 0);
  expect(airtime.addTaken(188, 300)).toBeUndefined();
  airtime.addSent(2_000_000, 500);
  expect(airtime.addTaken(376, 600)).toEqual({ sinceMs: 300, untilMs: 500 });
  expect(airtime.addTaken(376, 1200)).toBeUndefined();
});

const batch = fc.record({ everyMs: fc.integer({ min: 1, max: 900 }), bytes: fc.integer({ min: 20, max: 200_000 }) });

test('for any link and any time of reports: never more than the receiver sees, nor less by more than the unreported part', () => {
  fc.assert(
    fc.property(
      fc.array(batch, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.oneof(fc.integer({ min: 5000, max: 2_000_000 }), fc.constant(100_000_000)),
      fc.integer({ min: 50, max: 1500 }),
      fc.integer({ min: 0, max: 40_000 }),
      (batches, acceptedMs, bytesPerSecond, reportMs, endMs) => {
        const airtime = new ConnectionAirtime({ sameBytes: true });
        // Each batch begins with a tag of ten bytes; the first has a header of five before it.
        let at = 0;
        let handed = 0;
        const plan = batches.map(({ everyMs, bytes }, i) => {
          at += everyMs;
          const from = handed + (i === 0 ? 15 : 10);
          handed += bytes;
          return { atMs: at, fromBytes: from, throughBytes: handed };
        });
        const arrivals: number[] = [];
        const counted: (AirtimeInterval | undefined)[] = [];
        let took = 0;
        let next = 0;
        let reportedMs = 0;
        let notToldSince = 0;
        for (let now = 0; now <= endMs; now += 10) {
          while (plan[next] && (plan[next]?.atMs ?? 0) <= now) {
            const { fromBytes, atMs } = plan[next] as { fromBytes: number; atMs: number };
            airtime.addSent(fromBytes, atMs);
            next++;
          }
          const there = plan[next - 1]?.throughBytes ?? 0;
          const before = took;
          if (now >= acceptedMs) took = Math.min(there, took + bytesPerSecond / 100);
          // The receiver has a tag only when it is complete.
          if (plan.some(({ fromBytes }) => fromBytes > before && fromBytes <= took)) arrivals.push(now);
          if (now - reportedMs < reportMs) continue;
          reportedMs = now;
          counted.push(airtime.addTaken(took, now));
          notToldSince = now;
        }
        const seen = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0);
        expect(toMs(counted)).toBeLessThanOrEqual(seen);
        // Everything was reported over a link without a queue: the difference is at most the wait for the first report.
        if (bytesPerSecond < 100_000_000 || acceptedMs > 0 || (arrivals.at(-1) ?? 0) > notToldSince) return;
        expect(seen - toMs(counted)).toBeLessThanOrEqual(reportMs + 100);
      },
    ),
    { numRuns: 300 },
  );
});

test('media that reached no receiver is reported once, and media that may be on its way never', () => {
  const airtime = new ConnectionAirtime({ sameBytes: true });
  for (let n = 0; n <= 10; n++) {
    airtime.addSent(n * 1000 + 100, n * 500);
    airtime.addTaken((n + 1) * 1000, n * 500);
  }
  expect(airtime.revoke(0)).toBe(0);
  // The last two batches, in part or as a whole.
  expect(airtime.revoke(2500, 1001)).toBe(0);
  expect(airtime.revoke(2500)).toBe(1000);
  expect(airtime.revoke(2500)).toBe(0);
  expect(airtime.revoke(1_000_000)).toBe(4000);
});

test('a process’s connections have a known amount of unacknowledged media', () => {
  const line = (n: number, queue: string, inode: number) =>
    `  ${n}: 0100007F:A1B2 0100007F:078F 01 ${queue}:00000000 01:00000014 00000000     0        0 ${inode} 2 0000 20 4 31 10 -1`;
  const table = [
    '  sl  local_address rem_address   st tx_queue',
    line(0, '0000C350', 4711),
    line(1, '00000000', 12),
  ].join('\n');
  expect([...parseQueues(table)]).toEqual([...Object.entries({ 4711: 50_000 }), ...Object.entries({ 12: 0 })]);
});

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { AirtimeCounter } from '../../../../../../src/core/pods/streamer/control/airtime.ts';
import type { Run } from '../../../../../../src/core/protocol/report.ts';
import { silent } from '../../../../../kit/real/kube.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

const START = Date.parse('2026-06-01T12:00:00Z');
let dir: string;
beforeEach(() => {
  dir = tempDir();
});

/** Starts a process of the pod `atMs` after START. Its container's termination message is a file of its own. */
function begin(atMs = 0, message = `message-${atMs}`) {
  const time = { ms: atMs };
  const clock = { now: () => new Date(START + time.ms), monotonicMs: () => time.ms - atMs };
  const files = { message: join(dir, message), history: join(dir, 'sessions.json') };
  const airtime = new AirtimeCounter(files, clock, silent);
  return {
    airtime,
    /** The runs that kubelet would read now. */
    said: (): Run[] => JSON.parse(readFileSync(files.message, 'utf8') || '{"runs":[]}').runs,
    /** Reports at least every two seconds. */
    taken(fromMs: number, toMs: number) {
      for (let ms = fromMs; ms < toMs; ) {
        const next = Math.min(ms + 2000, toMs);
        time.ms = atMs + next;
        airtime.add(ms, next);
        ms = next;
      }
    },
    /** Reports all of it at once. */
    late(fromMs: number, toMs: number) {
      time.ms = atMs + toMs;
      airtime.add(fromMs, toMs);
    },
  };
}

test('time in which two destinations took media counts once, and time in which none did not at all', () => {
  const { airtime, taken, said } = begin();
  expect(airtime.runs()).toEqual([]);
  taken(500, 1000);
  taken(800, 1300);
  taken(1000, 1500);
  taken(61_000, 61_550);
  const run = { run: START / 1000, startedAt: '2026-06-01T12:00:00Z', lastAt: '2026-06-01T12:01:01Z' };
  expect(airtime.runs()).toEqual([{ ...run, onAirSeconds: 1.5 }]);
  expect(said()).toEqual(airtime.runs());
});

test('the counted time is never more than the time in which a destination took media', () => {
  const report = fc.record({ destination: fc.integer({ min: 0, max: 2 }), pauseMs: fc.integer({ min: 0, max: 900 }) });
  fc.assert(
    fc.property(fc.array(report, { maxLength: 60 }), (reports) => {
      const { airtime, taken } = begin(0, 'any');
      const last = [0, 0, 0];
      const covered = new Set<number>();
      let now = 0;
      for (const { destination, pauseMs } of reports) {
        now += pauseMs;
        const from = last[destination] ?? 0;
        // A destination that took nothing for long has another connection.
        if (now - from < 1200) {
          taken(from, now);
          for (let ms = from; ms < now; ms++) covered.add(ms);
        }
        last[destination] = now;
      }
      const counted = (airtime.runs()[0]?.onAirSeconds ?? 0) * 1000;
      airtime.close();
      rmSync(join(dir, 'sessions.json'), { force: true });
      expect(counted).toBeLessThanOrEqual(covered.size);
    }),
    { numRuns: 100 },
  );
});

test('a killed process has stored all its counts, and the next one of the pod reports them too', () => {
  const first = begin();
  first.taken(0, 10_000);
  expect(first.said()).toMatchObject([{ onAirSeconds: 10 }]);
  const second = begin(20_000);
  expect(second.said()).toEqual(first.said());
  second.taken(1000, 3000);
  const both = [{ onAirSeconds: 10 }, { onAirSeconds: 2, startedAt: '2026-06-01T12:00:21Z' }];
  expect(second.said()).toMatchObject(both);
  const third = begin(20_500);
  expect(third.airtime.runs()).toMatchObject(both);
  third.taken(0, 500);
  const runs = third.said().map(({ run }) => run);
  expect(runs).toEqual([...new Set(runs)].sort((a, b) => a - b));
});

test('the message stays within Kubernetes’ limit, for any number of restarts', () => {
  for (let n = 0; n < 60; n++) {
    const { taken, airtime } = begin(n * 400_000_000, 'same');
    taken(399_990_000, 399_999_950);
    airtime.close();
  }
  const text = readFileSync(join(dir, 'same'), 'utf8');
  expect(Buffer.byteLength(text)).toBeLessThan(4096);
  expect(JSON.parse(text).runs).toHaveLength(24);
});

test('an unreadable history begins again, with a number above those before it', () => {
  const first = begin();
  first.taken(0, 1000);
  writeFileSync(join(dir, 'sessions.json'), '{"runs":[{"run":');
  const second = begin(5000);
  second.taken(0, 1000);
  expect(second.airtime.runs()).toHaveLength(1);
  expect(second.airtime.runs()[0]?.run).toBeGreaterThan(first.airtime.runs()[0]?.run ?? 0);
});

test('of a report that comes late, because the process was held up, no more is believed than a slow link would need', () => {
  const { airtime, late } = begin();
  late(0, 500);
  late(500, 9000);
  expect(airtime.runs()).toMatchObject([{ onAirSeconds: 3 }]);
});

test('nothing is counted after the end', () => {
  const { airtime, taken } = begin();
  taken(0, 1000);
  airtime.close();
  taken(1000, 2000);
  expect(airtime.runs()).toMatchObject([{ onAirSeconds: 1 }]);
});

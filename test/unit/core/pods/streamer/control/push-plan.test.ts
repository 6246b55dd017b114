import { expect, test } from 'vitest';
import { admit } from '../../../../../../src/core/lib/rate.ts';
import {
  afterPush,
  describeChange,
  isPushDue,
  NOTHING_PUSHED,
  type PushState,
} from '../../../../../../src/core/pods/streamer/control/push-plan.ts';
import type { StreamerReport } from '../../../../../../src/core/protocol/report.ts';
import { REPORT_RATE } from '../../../../../../src/core/protocol/report-rate.ts';

type DestinationStats = StreamerReport['destinations'][number];
const destination = (state: Partial<DestinationStats> = {}): DestinationStats => ({
  name: 'tv',
  connected: true,
  bytesSent: 1,
  reconnects: 0,
  lastError: null,
  dropped: 0,
  ...state,
});
const report = (state: Partial<StreamerReport> = {}): StreamerReport => ({
  live: true,
  held: false,
  playable: true,
  clock: { video: { version: 1, epoch: '2026-06-01T12:00:00.000Z' }, audio: null },
  brokenItems: [],
  preparationBehind: { count: 0, item: null, since: null },
  runs: [{ run: 1, startedAt: '2026-06-01T12:00:00Z', lastAt: '2026-06-01T12:00:10Z', onAirSeconds: 10 }],
  interruption: null,
  destinations: [destination()],
  ...state,
});
const dropped = (minutes: number) => ({
  ...({ track: 'video', rule: 'news', reason: 'late', count: minutes + 1, since: '2026-06-01T12:00:00.000Z' } as const),
  dueAt: new Date(Date.parse('2026-06-01T12:00:00Z') + minutes * 60_000).toISOString(),
});
const refused = { code: 'connection_refused', message: 'Nothing listens.' } as DestinationStats['lastError'];
const [minute, hour] = [60_000, 3_600_000];

const push = (state: PushState, change: string, nowMs: number, isAccepted = true) =>
  afterPush(state, { change, isAccepted }, nowMs, 0.5);

test('what the operator acts on or shows is a change', () => {
  const before = describeChange(report());
  const item = { id: 'a', name: 'A', index: 0, playlistID: null, track: 'video' } as const;
  const broken = { ...item, code: 'item_missing', message: '' };
  const changes: Partial<StreamerReport>[] = [
    { live: false },
    { held: true },
    { playable: false },
    { clock: { video: { version: 2, epoch: '2026-06-01T12:00:00.000Z' }, audio: null } },
    { brokenItems: [broken] },
    { preparationBehind: { count: 1, item, since: null } },
    { destinations: [destination({ connected: false, lastError: refused })] },
    { runs: [] },
    { droppedRules: [dropped(0)] },
  ];
  for (const change of changes) expect(describeChange(report(change)), JSON.stringify(change)).not.toBe(before);
});

test('a rule that is left out again and again is a change every ten minutes, so it takes no report from an outage', () => {
  const changes = new Set<string>();
  for (let minutes = 0; minutes < 60; minutes++)
    changes.add(describeChange(report({ droppedRules: [dropped(minutes)] })));
  expect(changes.size).toBe(6);
});

test('what only goes by is none: time on air but for each hour, bytes, a destination that connects', () => {
  const before = describeChange(report());
  const run = report().runs[0];
  if (!run) throw new Error('no run');
  const onAir = (onAirSeconds: number) => describeChange(report({ runs: [{ ...run, onAirSeconds }] }));
  expect(onAir(3599)).toBe(before);
  expect(onAir(3600)).not.toBe(before);
  expect(describeChange(report({ destinations: [destination({ bytesSent: 2, dropped: 1 })] }))).toBe(before);
  expect(describeChange(report({ destinations: [destination({ connected: false })] }))).toBe(before);
});

test('a change is pushed at once; without one, the next push is a heartbeat within five minutes', () => {
  expect(isPushDue(NOTHING_PUSHED, 'a', 0)).toBe(true);
  const pushed = push(NOTHING_PUSHED, 'a', 0);
  expect(isPushDue(pushed, 'a', minute)).toBe(false);
  expect(isPushDue(pushed, 'b', minute)).toBe(true);
  expect(isPushDue(pushed, 'a', 5 * minute)).toBe(true);
  // Random, so that pods that began together drift apart.
  const beats = [0, 1].map(
    (random) => afterPush(NOTHING_PUSHED, { change: 'a', isAccepted: true }, 0, random).heartbeatMs,
  );
  expect(beats).toEqual([4 * minute, 5 * minute]);
});

test('changes of one moment go together', () => {
  const pushed = push(NOTHING_PUSHED, 'a', 0);
  expect([10, 199, 200].map((ms) => isPushDue(pushed, 'b', ms))).toEqual([false, false, true]);
});

test('a flapping output costs a burst, then one report in 15 s, and has its burst again after a quiet time', () => {
  const flap = (from: PushState, startMs: number) => {
    let [state, pushes] = [from, 0];
    for (let ms = startMs; ms < startMs + hour; ms += 1000) {
      if (!isPushDue(state, String(ms), ms)) continue;
      state = push(state, String(ms), ms);
      pushes++;
    }
    return { state, pushes };
  };
  const { state, pushes } = flap(NOTHING_PUSHED, 0);
  const most = hour / REPORT_RATE.everyMs + REPORT_RATE.burst;
  expect(pushes).toBeGreaterThan(most - 5);
  expect(pushes).toBeLessThanOrEqual(most);
  const quiet = 3 * hour;
  let later = state;
  for (let n = 0; n < REPORT_RATE.burst; n++) {
    expect(isPushDue(later, `later ${n}`, quiet + n * 1000)).toBe(true);
    later = push(later, `later ${n}`, quiet + n * 1000);
  }
});

test('an operator that is away costs one push for each backoff, whatever changes meanwhile', () => {
  let state = push(NOTHING_PUSHED, 'a', 0);
  const tries: number[] = [];
  for (let ms = 1000; ms < 2 * hour; ms += 500) {
    if (!isPushDue(state, `change ${ms}`, ms)) continue;
    tries.push(ms);
    state = push(state, `change ${ms}`, ms, false);
  }
  expect(tries.length).toBeLessThan(45);
  const waits = tries.slice(1).map((ms, i) => ms - (tries[i] ?? 0));
  expect(waits[0]).toBeLessThanOrEqual(1000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5 * minute);
  // It is back: the next try is accepted, and all is as before.
  const back = push(state, 'b', 2 * hour);
  expect(back).toMatchObject({ accepted: 'b', failures: 0 });
  expect(isPushDue(back, 'c', 2 * hour + 1000)).toBe(true);
});

test('the rate allows its burst at once and its share in the long run', () => {
  const rate = { everyMs: 1000, burst: 3 };
  const count = (times: number[]) => {
    let [paid, admitted] = [Number.NEGATIVE_INFINITY, 0];
    for (const ms of times) {
      const next = admit(rate, paid, ms);
      if (next === undefined) continue;
      [paid, admitted] = [next, admitted + 1];
    }
    return admitted;
  };
  expect(count([0, 0, 0, 0, 0])).toBe(3);
  expect(count(Array.from({ length: 1001 }, (_, i) => i * 100))).toBe(103);
});

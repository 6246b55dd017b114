/**
 * Attacks the bill through a pod's reports: a hijacked streamer reports any time on air. Kubernetes' own record of the pod bounds the
 * charge, whatever the pod reports, and however often it changes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/core/kube/core.ts';
import { kubeTime } from '../../src/core/lib/clock.ts';
import { judgeDegraded } from '../../src/core/operator/stream/conditions.ts';
import { compareWithSight, computeSessions, readPodTime, type Sight } from '../../src/core/operator/stream/sessions.ts';
import { buildStatus } from '../../src/core/operator/stream/status.ts';
import { findCondition } from '../../src/core/resources/common/conditions.ts';
import type { LoopStream } from '../../src/core/resources/stream/resource.ts';
import { lastNumber, MAX_SESSIONS } from '../../src/core/resources/stream/sessions.ts';
import { at, makePod, step, stream, world } from '../kit/make/operator.ts';
import { parsePodReport, parseRuns } from '../kit/make/report.ts';

const CHARGED = { hour: 3600, skew: 60, rounding: 2 };

/** Returns the stream, made at NOW, after its pod reported `runs` `seconds` later. */
function report(runs: unknown, seconds: number, before: LoopStream = stream()) {
  const pod = makePod(before, { ready: true });
  const book = computeSessions(before, [readPodTime(pod, parseRuns({ runs }))], true, at(seconds));
  return { ...book, pod };
}
const ended = (pod: Pod, runs: unknown): Pod => ({
  ...pod,
  status: {
    ...pod.status,
    phase: 'Failed',
    containerStatuses: [
      {
        name: 'streamer',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 1, message: JSON.stringify({ runs }), finishedAt: kubeTime(at(10)) } },
      },
    ],
  },
});
const claim = (onAirSeconds: number, startedAt = kubeTime(at(0)), lastAt = kubeTime(at(10))) => [
  { run: 7, startedAt, lastAt, onAirSeconds },
];

describe('a pod that reports more than it can have had', () => {
  it.each([
    ['10¹⁵ seconds within ten', claim(1e15)],
    ['a run from 1970 to 2099', claim(1e9, '1970-01-01T00:00:00Z', '2099-01-01T00:00:00Z')],
    ['a run that begins in the future', claim(500, '2099-01-01T00:00:00Z', '2100-01-01T00:00:00Z')],
    ['a run that ends before it begins', claim(500, kubeTime(at(9)), kubeTime(at(1)))],
    ['the same time twice', [...claim(10), { ...claim(10)[0], run: 8 }, { ...claim(10)[0], run: 9 }]],
  ])('is charged no more than its age, and the stream says so: %s', (_what, runs) => {
    const { pod } = report([], 10);
    const dead = readPodTime(ended(pod, runs));
    const { sessions, doubt } = computeSessions(stream(), [dead], true, at(36_000));
    const seconds = sessions.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0);
    expect(seconds).toBeLessThanOrEqual(10 + CHARGED.skew + CHARGED.rounding);
    if (runs.length === 1) expect(seconds).toBeLessThanOrEqual(10 + CHARGED.rounding);
    for (const { startedAt, endedAt = '' } of sessions) {
      expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(at(-CHARGED.skew).getTime());
      expect(Date.parse(endedAt)).toBeLessThanOrEqual(at(10 + CHARGED.skew).getTime());
    }
    if (runs.length === 1)
      expect(doubt).toMatchObject({ type: 'TimekeepingPlausible', status: 'False', reason: 'MoreThanPossible' });
  });

  it('is charged nothing for hours that have not passed while it is on air', () => {
    const { sessions, doubt } = report(claim(36_000, kubeTime(at(0)), kubeTime(at(36_000))), 100);
    expect(sessions.map(({ onAirSeconds }) => onAirSeconds)).toEqual([0]);
    expect(doubt?.reason).toBe('MoreThanPossible');
  });

  it('shows in the conditions of its stream until a pod’s report is possible again, without further writes', () => {
    const lie = claim(1e15);
    const [first, second] = [100, 200].map((seconds) => report(lie, seconds));
    expect(first?.doubt).toEqual(second?.doubt);
    const { decision } = step(stream(), world());
    const status = buildStatus(stream(), decision, undefined, world(), first);
    expect(findCondition(status.conditions, 'TimekeepingPlausible')?.message).toContain('not charged');
    const doubted = stream({}, { status });
    expect(computeSessions(doubted, [], true, at(300)).doubt).toEqual(first?.doubt);
    expect(report(claim(9), 300, doubted).doubt).toBeUndefined();
  });

  it('never has its account charged for more than its age, for any reports in any number', () => {
    const lie = fc.record({
      run: fc.integer({ min: 0, max: 60 }),
      from: fc.integer({ min: -1000, max: 8000 }),
      length: fc.integer({ min: -100, max: 8000 }),
      onAirSeconds: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constant(1e15)),
    });
    const rounds = fc.array(
      fc.record({ lies: fc.array(lie, { maxLength: 6 }), wait: fc.integer({ min: 1, max: 400 }) }),
      { minLength: 1, maxLength: 15 },
    );
    fc.assert(
      fc.property(rounds, (list) => {
        let [now, loopStream] = [0, stream()];
        // A meter's counts by the number of the session.
        const charged = new Map<number, number>();
        for (const { lies, wait } of list) {
          now += wait;
          const runs = lies.map(({ run, from, length, onAirSeconds }) => ({
            run,
            onAirSeconds,
            startedAt: kubeTime(at(from)),
            lastAt: kubeTime(at(from + length)),
          }));
          const { sessions } = report(runs, now, loopStream);
          for (const session of sessions) charged.set(lastNumber(session), session.onAirSeconds);
          expect(sessions.length).toBeLessThanOrEqual(MAX_SESSIONS);
          // Closed sessions are acknowledged at once, so that they may be forgotten.
          const open = sessions.find(({ endedAt }) => endedAt === undefined)?.number ?? Number.POSITIVE_INFINITY;
          const acknowledgedSession = Math.max(0, ...sessions.map(lastNumber).filter((number) => number < open));
          loopStream = { ...loopStream, status: { ...loopStream.status, sessions, acknowledgedSession } };
          const sum = [...charged.values()].reduce((total, seconds) => total + seconds, 0);
          expect(sum).toBeLessThanOrEqual(now + 2 * CHARGED.skew + CHARGED.rounding);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('an honest pod', () => {
  it('is believed where the clock of its node is an hour off', () => {
    for (const off of [-3600, 3600]) {
      const pod = makePod(stream(), { ready: true });
      pod.status = { ...pod.status, startTime: kubeTime(at(off + 2)) };
      const runs = parseRuns({ runs: claim(500, kubeTime(at(off + 5)), kubeTime(at(off + 505))) });
      const dead = { ...readPodTime(pod, runs), endedThrough: 7 };
      const { sessions, doubt } = computeSessions(stream(), [dead], true, at(510));
      expect(doubt).toBeUndefined();
      expect(sessions[0]).toMatchObject({ onAirSeconds: 500, startedAt: kubeTime(at(off + 5)) });
    }
  });

  it('is believed about each process, through any restart', () => {
    const runs = Array.from({ length: 24 }, (_, i) => ({
      run: i + 1,
      startedAt: kubeTime(at(i * 10)),
      lastAt: kubeTime(at(i * 10 + 8)),
      onAirSeconds: 8.4,
    }));
    const { sessions, doubt } = report(runs, 240);
    expect(doubt).toBeUndefined();
    expect(sessions.filter(({ endedAt }) => endedAt).map(({ onAirSeconds }) => onAirSeconds)).toEqual(
      Array(23).fill(8.4),
    );
  });
});

describe('a pod that reports too little', () => {
  const readySince = kubeTime(at(0));
  const watch = (rate: number) => {
    let sight: Sight | undefined;
    const found: (boolean | undefined)[] = [];
    for (let seconds = 0; seconds <= 600; seconds += 15) {
      const seen = compareWithSight(sight, { readySince, seconds: 1000 + seconds * rate, atMs: seconds * 1000 });
      sight = seen.sight;
      found.push(seen.isTooLittle);
    }
    return new Set(found);
  };

  it('is found by the operator’s own observations, and one with a bad link is not accused', () => {
    expect(watch(0)).toEqual(new Set([undefined, true]));
    expect(watch(0.4)).toEqual(new Set([undefined, true]));
    expect(watch(0.6)).toEqual(new Set([undefined, false]));
    expect(watch(1)).toEqual(new Set([undefined, false]));
  });

  it('is charged by its report, and its stream says so', () => {
    const pod = makePod(stream(), { ready: true });
    const { doubt, sessions } = computeSessions(stream(), [readPodTime(pod, [], true)], true, at(600));
    expect(doubt).toMatchObject({ reason: 'LessThanSeen', status: 'False' });
    expect(sessions.map(({ onAirSeconds }) => onAirSeconds)).toEqual([0]);
  });
});

describe('any other report of a pod', () => {
  it('cannot make a status that Kubernetes refuses', () => {
    for (const startedAt of ['Thu, 01 Jan 1970 00:00:00 GMT', '1', '+275760-09-13T00:00:00Z', 'June 1 2026'])
      expect(parseRuns({ runs: claim(1, startedAt) })).toEqual([]);
    expect(parsePodReport({ playable: true, clock: { video: { version: 1, epoch: '2026' } } })?.clock).toEqual({});
  });

  it('is bounded in number and length, and moves no cursor of a terminal', () => {
    const items = Array.from({ length: 100_000 }, () => ({
      id: 'x',
      name: 'n'.repeat(10_000),
      message: '\u001b[2J\u202egone',
    }));
    const news = parsePodReport({ playable: true, brokenItems: items, runs: Array(5000).fill(claim(1)[0]) });
    expect(news?.runs.length).toBeLessThanOrEqual(48);
    expect(news?.problems.length).toBeLessThanOrEqual(1000);
    const { message = '' } = judgeDegraded(news, undefined);
    expect(message.length).toBeLessThan(5000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
    expect(message).not.toMatch(/[\u0000-\u001f\u202e]/);
  });
});

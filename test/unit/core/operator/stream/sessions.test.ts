import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { isSameStatus } from '../../../../../src/core/operator/runtime/controller.ts';
import { isSameReport } from '../../../../../src/core/operator/stream/pod-report.ts';
import { computeSessions, type PodTime, readPodTime } from '../../../../../src/core/operator/stream/sessions.ts';
import type { Run } from '../../../../../src/core/protocol/report.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { MAX_SESSIONS, type Session } from '../../../../../src/core/resources/stream/sessions.ts';
import { at, makePod, NOW, step, stream, world } from '../../../../kit/make/operator.ts';
import { parsePodReport, parseRuns } from '../../../../kit/make/report.ts';

/** `since`: seconds after NOW. */
const run = (number: number, onAirSeconds: number, since = 0): Run => ({
  run: number,
  startedAt: kubeTime(at(since)),
  lastAt: kubeTime(at(since + Math.max(60, onAirSeconds))),
  onAirSeconds,
});
const account = (more: Partial<PodTime> = {}): PodTime => ({
  podUID: 'pod',
  runs: [],
  endedThrough: 0,
  over: false,
  onAirSince: undefined,
  lifetime: { beganMs: NOW.getTime(), createdMs: NOW.getTime() },
  ...more,
});
const holding = (sessions: Session[], acknowledgedSession?: number): LoopStream =>
  stream({}, { status: { sessions, ...(acknowledgedSession !== undefined && { acknowledgedSession }) } });
const open = (more: Partial<Session> = {}): Session => ({
  number: 1,
  podUID: 'pod',
  startedAt: kubeTime(NOW),
  onAirSeconds: 0,
  ...more,
});

describe('a session', () => {
  it('is opened when a destination takes media, and a steady stream writes nothing more', () => {
    const live = account({ onAirSince: kubeTime(NOW) });
    const { sessions } = computeSessions(stream(), [live], false, at(1));
    expect(sessions).toEqual([open()]);
    for (const [seconds, metered] of [
      [3599.9, true],
      [86_400, false],
    ] as const) {
      const later = { ...live, runs: [run(7, seconds)] };
      expect(computeSessions(holding(sessions), [later], metered, at(seconds)).sessions).toEqual(sessions);
    }
  });

  it('of a metered stream is written once an hour while it is open', () => {
    const later = (seconds: number) => account({ onAirSince: kubeTime(NOW), runs: [run(7, seconds)] });
    const [hour] = computeSessions(holding([open()]), [later(3600.4)], true, at(3601)).sessions;
    expect(hour).toEqual(open({ run: 7, onAirSeconds: 3600 }));
    expect(computeSessions(holding([open(hour)]), [later(7199)], true, at(7200)).sessions).toEqual([hour]);
    const parseReport = (seconds: number) => parsePodReport({ playable: true, runs: [run(7, seconds)] });
    const buildReport = (seconds: number) => parseReport(seconds) ?? { clock: {}, problems: [], runs: [] };
    expect(isSameReport(buildReport(100), parseReport(3599))).toBe(true);
    expect(isSameReport(buildReport(3599), parseReport(3600))).toBe(false);
    expect(isSameReport(buildReport(100), undefined)).toBe(false);
  });

  it('closes with its container’s last message, and a restarted container is another one', () => {
    const restarted = account({ runs: [run(7, 60.5)], endedThrough: 7, onAirSince: kubeTime(at(70)) });
    const { sessions } = computeSessions(holding([open()]), [restarted], false, at(71));
    expect(sessions).toEqual([
      open({ run: 7, onAirSeconds: 60.5, endedAt: kubeTime(at(60)) }),
      open({ number: 2, startedAt: kubeTime(at(70)) }),
    ]);
    expect(computeSessions(holding(sessions), [restarted], false, at(99)).sessions).toEqual(sessions);
  });

  it('that no operator saw is recorded on its first report', () => {
    const runs = [run(7, 5), run(8, 6), run(9, 7)];
    const { sessions } = computeSessions(stream(), [account({ runs, endedThrough: 8 })], false, at(99));
    expect(sessions.map(({ number, onAirSeconds, endedAt }) => [number, onAirSeconds, endedAt !== undefined])).toEqual([
      [1, 5, true],
      [2, 6, true],
      [3, 0, false],
    ]);
  });

  it('of a pod that is gone without a message keeps its recorded time', () => {
    const hour = open({ run: 7, onAirSeconds: 3600 });
    expect(computeSessions(holding([hour]), [], true, at(5000)).sessions).toEqual([
      { ...hour, endedAt: kubeTime(at(5000)) },
    ]);
    const lost = account({ runs: [run(7, 4990)], endedThrough: 7, over: true });
    expect(computeSessions(holding([hour]), [lost], true, at(5000)).sessions).toMatchObject([{ onAirSeconds: 4990 }]);
  });
});

describe('the records of a pod', () => {
  const message = (...runs: Run[]) => JSON.stringify({ runs });
  const ended = (pod: Pod, text: string, which: 'state' | 'lastState'): Pod => ({
    ...pod,
    status: {
      ...pod.status,
      containerStatuses: [
        { name: 'streamer', ready: false, restartCount: 1, [which]: { terminated: { exitCode: 137, message: text } } },
      ],
    },
  });

  it('are its last report or its containers’ messages, whichever is more', () => {
    const pod = makePod(stream(), { ready: true });
    expect(readPodTime(pod, [run(7, 5)])).toMatchObject({ runs: [run(7, 5)], endedThrough: 0, over: false });
    expect(readPodTime(ended(pod, message(run(7, 6)), 'lastState'), [run(7, 5)])).toMatchObject({
      runs: [run(7, 6)],
      endedThrough: 7,
      onAirSince: kubeTime(NOW),
    });
    expect(readPodTime(ended(pod, message(run(7, 6)), 'state'), [run(7, 5)]).onAirSince).toBeUndefined();
    expect(readPodTime(ended(pod, 'out of memory', 'lastState'), [run(7, 5), run(8, 1)])).toMatchObject({
      endedThrough: 7,
    });
  });

  it('are final when nothing of it runs any more, and not because of a forced deletion', () => {
    const pod = makePod(stream(), { ready: true, deleted: true });
    expect(readPodTime(pod, [run(7, 5)])).toMatchObject({ over: false, endedThrough: 0 });
    const forced = { ...pod, metadata: { ...pod.metadata, deletionGracePeriodSeconds: 0 } };
    expect(readPodTime(forced, [run(7, 5)])).toMatchObject({ over: false, endedThrough: 0 });
    expect(readPodTime(makePod(stream(), { phase: 'Failed' })).over).toBe(true);
  });

  it('are taken as far as they make sense', () => {
    expect(parseRuns({ runs: [run(2, 1), run(1, 3), null, { run: 3 }, { ...run(4, 1), onAirSeconds: -1 }] })).toEqual([
      run(1, 3),
      run(2, 1),
    ]);
    for (const odd of [undefined, null, 'x', { runs: 'many' }]) expect(parseRuns(odd)).toEqual([]);
  });
});

describe('the list', () => {
  const closed = (number: number, more: Partial<Session> = {}) =>
    open({ number, run: number, podUID: `pod-${number}`, onAirSeconds: 10, endedAt: kubeTime(at(60)), ...more });
  const many = Array.from({ length: MAX_SESSIONS }, (_, i) => closed(i + 1));
  const another = account({ onAirSince: kubeTime(NOW) });
  const numbers = (sessions: Session[]) => [sessions[0]?.number, sessions.at(-1)?.number, sessions.length];

  it('loses its oldest without a meter, and the acknowledged ones with a meter', () => {
    const unmetered = computeSessions(holding(many), [another], false, at(99));
    expect(numbers(unmetered.sessions)).toEqual([2, MAX_SESSIONS + 1, MAX_SESSIONS]);
    const metered = computeSessions(holding(many, 1), [another], true, at(99));
    expect(numbers(metered.sessions)).toEqual([2, MAX_SESSIONS + 1, MAX_SESSIONS]);
    expect(metered.behind).toBeUndefined();
  });

  it('loses no unacknowledged second, and reports that no meter acknowledges', () => {
    const { sessions, behind } = computeSessions(holding(many), [another], true, at(99));
    expect(sessions[0]).toMatchObject({ number: 1, through: 2, onAirSeconds: 20, endedAt: kubeTime(at(60)) });
    expect(numbers(sessions)).toEqual([1, MAX_SESSIONS + 1, MAX_SESSIONS]);
    expect(behind).toMatchObject({ type: 'SessionsMetered', status: 'False', reason: 'MeterBehind' });
    expect(behind?.message).toContain('2 of them were merged into 1');
    expect(computeSessions(holding(sessions, 2), [another], true, at(99)).behind).toBeUndefined();
    // The first of two merged sessions is acknowledged: nothing of it may go.
    const more = [...sessions, closed(MAX_SESSIONS + 2)];
    expect(computeSessions(holding(more, 1), [another], true, at(99)).sessions[0]).toMatchObject({ number: 1 });
  });

  it('keeps enough to recognize a pod’s report again', () => {
    const own = Array.from({ length: MAX_SESSIONS }, (_, i) => closed(i + 1, { podUID: 'pod' }));
    const runs = own.slice(-24).map(({ run: value = 0 }) => run(value, 10));
    const words = account({ runs, endedThrough: MAX_SESSIONS, onAirSince: kubeTime(NOW) });
    const first = computeSessions(holding(own), [words], false, at(99)).sessions;
    expect(computeSessions(holding(first), [words], false, at(99)).sessions).toEqual(first);
    // A pod that has been quiet for long, while another pod restarted again and again.
    const quiet = account({ podUID: 'pod-1', runs: [run(1, 10)], endedThrough: 1 });
    let sessions = many;
    for (let n = 0; n < 3; n++) {
      const anew = account({ podUID: `new-${n}`, runs: [run(1, 1)], endedThrough: 1 });
      sessions = computeSessions(holding(sessions), [quiet, anew], true, at(99)).sessions;
    }
    expect(sessions.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0)).toBe(10 * MAX_SESSIONS + 3);
  });

  it('is no reason to write when a meter has written its part', () => {
    const { status = {} } = step(holding([open()]), world()).stream;
    expect(status.sessions).toEqual([open()]);
    expect(isSameStatus({ ...status, acknowledgedSession: 3 }, status)).toBe(true);
  });
});

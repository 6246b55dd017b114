import { describe, expect, it, test } from 'vitest';
import type { Pod } from '../../../../src/core/kube/core.ts';
import {
  type ContainerRecord,
  containerStatus,
  firstUnfinished,
  initialRecord,
  type PodFacts,
  podStatus,
} from '../../../../tools/node-agent/status.ts';

const NOW = '2026-01-01T00:00:10Z';
const BEFORE = '2026-01-01T00:00:00Z';
const record = (name: string, more: Partial<ContainerRecord> = {}): ContainerRecord => ({
  name,
  sidecar: false,
  image: 'i',
  starts: 0,
  restartsInARow: 0,
  started: false,
  ready: false,
  terminations: [],
  ...more,
});
const running = { starts: 1, started: true, ready: true, running: { startedAt: BEFORE, id: 'local://x' } };
const ended = (exitCode: number) => ({
  starts: 1,
  terminations: [{ exitCode, reason: exitCode ? 'Error' : 'Completed' }],
});

const facts = (main: ContainerRecord[], more: Partial<PodFacts> & { restartPolicy?: string } = {}): PodFacts => ({
  pod: { metadata: {}, spec: { restartPolicy: more.restartPolicy ?? 'Always', containers: [] } } as unknown as Pod,
  init: [],
  main,
  podIP: '127.16.0.1',
  hostIP: '127.0.0.1',
  startTime: BEFORE,
  mounted: true,
  over: false,
  ...more,
});
const phase = (main: ContainerRecord[], more: Parameters<typeof facts>[1] = {}) =>
  podStatus(facts(main, more), [], NOW).phase;
const condition = (given: PodFacts, type: string, previous: Parameters<typeof podStatus>[1] = []) =>
  podStatus(given, previous, NOW).conditions?.find((each) => each.type === type);

describe('phase', () => {
  it('is Pending until every container was started once', () => {
    expect(phase([record('a')])).toBe('Pending');
    expect(phase([record('a', running), record('b')])).toBe('Pending');
    expect(phase([record('a', running)], { init: [record('i')] })).toBe('Pending');
  });

  it('is Running while a container runs or will be restarted', () => {
    expect(phase([record('a', running), record('b', ended(0))], { restartPolicy: 'Never' })).toBe('Running');
    expect(phase([record('a', ended(0))])).toBe('Running');
    expect(phase([record('a', ended(1))], { restartPolicy: 'OnFailure' })).toBe('Running');
  });

  it('is Succeeded or Failed when nothing will be restarted', () => {
    expect(phase([record('a', ended(0))], { restartPolicy: 'OnFailure' })).toBe('Succeeded');
    expect(phase([record('a', ended(0)), record('b', ended(1))], { restartPolicy: 'Never' })).toBe('Failed');
    expect(phase([record('a')], { restartPolicy: 'Never', init: [record('i', ended(1))] })).toBe('Failed');
  });

  it('of a pod that is being deleted is final once its containers have ended, under any policy', () => {
    expect(phase([record('a', running)], { over: true })).toBe('Running');
    expect(phase([record('a', ended(0))], { over: true })).toBe('Succeeded');
    expect(phase([record('a', ended(143))], { over: true })).toBe('Failed');
    expect(phase([record('a')], { over: true })).toBe('Failed');
  });

  it('of a pod past its deadline is Failed with the reason, when its containers have ended', () => {
    const failed = { reason: 'DeadlineExceeded', message: 'too long' };
    expect(phase([record('a', running)], { failed })).toBe('Running');
    expect(podStatus(facts([record('a', ended(0))], { failed }), [], NOW)).toMatchObject({
      phase: 'Failed',
      ...failed,
    });
  });
});

describe('conditions', () => {
  it('say which containers are not ready', () => {
    const pod = facts([record('a', running), record('b', { ...running, ready: false })]);
    expect(condition(pod, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [b]',
    });
    expect(condition(facts([record('a', running)]), 'Ready')).toMatchObject({ status: 'True' });
  });

  it('keep the time of their last change', () => {
    const previous = [{ type: 'Ready', status: 'True', lastTransitionTime: BEFORE }];
    expect(condition(facts([record('a', running)]), 'Ready', previous)?.lastTransitionTime).toBe(BEFORE);
    expect(condition(facts([record('a', ended(1))]), 'Ready', previous)?.lastTransitionTime).toBe(NOW);
  });

  it('of a completed pod do not call it unready', () => {
    expect(condition(facts([record('a', ended(0))], { restartPolicy: 'Never' }), 'Ready')?.reason).toBe('PodCompleted');
  });
});

describe('container status', () => {
  const first = { exitCode: 1, reason: 'Error' };
  const second = { exitCode: 2, reason: 'Error' };

  it('of one that waits for a restart shows its end', () => {
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
    const status = containerStatus(record('a', { starts: 2, waiting, terminations: [second, first] }), '');
    expect(status).toMatchObject({
      restartCount: 1,
      ready: false,
      state: { waiting },
      lastState: { terminated: second },
    });
  });

  it('of an ended one shows the previous end as its last state', () => {
    const status = containerStatus(record('a', { starts: 2, terminations: [second, first] }), '');
    expect(status).toMatchObject({ state: { terminated: second }, lastState: { terminated: first } });
  });

  it('of one under a lost agent begins with an unknown end, and its next start counts as a restart', () => {
    const known = { name: 'a', ready: true, restartCount: 3, state: { running: { startedAt: BEFORE } } };
    const begun = initialRecord({ name: 'a', image: 'i' }, known, NOW);
    expect(begun.terminations[0]).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: BEFORE });
    expect(containerStatus({ ...begun, ...running, starts: begun.starts + 1 }, '').restartCount).toBe(4);
    expect(initialRecord({ name: 'a', image: 'i' }, undefined, NOW)).toMatchObject({ starts: 0, terminations: [] });
  });
});

test('a sidecar lets the main containers begin once it was started, and outlives them for a moment', () => {
  const sidecar = (more: Partial<ContainerRecord>) => record('decoder', { sidecar: true, ...more });
  const running = { startedAt: NOW, id: 'x' };
  const ended = record('main', { terminations: [{ exitCode: 0, reason: 'Completed' }] });
  expect(firstUnfinished([sidecar({})])).toBe(0);
  expect(firstUnfinished([sidecar({ running, started: true })])).toBe(-1);
  // The container failed and will restart: no other waits for it a second time.
  expect(firstUnfinished([sidecar({ terminations: [{ exitCode: 137, reason: 'Error' }] })])).toBe(-1);
  const job = { restartPolicy: 'Never' };
  expect(phase([ended], { ...job, init: [sidecar({ running, started: true })] })).toBe('Running');
  const killed = sidecar({ terminations: [{ exitCode: 143, reason: 'Error' }] });
  expect(phase([ended], { ...job, init: [killed] })).toBe('Succeeded');
});

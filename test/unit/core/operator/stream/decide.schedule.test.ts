/** Tests when a stream is on air, by its schedule, its deadline and its owner's request. */
import { describe, expect, it } from 'vitest';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { buildEvents, buildStreamEvents } from '../../../../../src/core/operator/stream/status.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { CREDIT_CONDITION, FINALIZER } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { at, makePod, step, stream, upload, world } from '../../../../kit/make/operator.ts';

const stopped = (spec = {}) => stream({ replicas: 0, ...spec });

describe('one-time schedules', () => {
  const schedule = { startAt: at(60).toISOString(), endAt: at(120).toISOString() };

  it('waits for the start, is on air in the window, and ends', () => {
    const loopStream = stream({ schedule });
    const before = step(loopStream, world());
    expect(before.decision).toMatchObject({ phase: 'scheduled', action: { do: 'prepare' }, requeueAt: at(60) });
    // The API server creates a stream with its finalizer: that the Secret is there, the status alone says.
    const hold = (one: LoopStream) => ({ ...one, metadata: { ...one.metadata, finalizers: [FINALIZER] } });
    const held = step(hold(loopStream), world());
    expect(held.decision).toMatchObject({ phase: 'scheduled', action: { do: 'prepare' } });
    expect(step(held.stream, world()).decision).toMatchObject({ phase: 'scheduled', action: { do: 'nothing' } });
    expect(step(before.stream, world()).decision).toMatchObject({ phase: 'scheduled', action: { do: 'prepare' } });
    const inside = step(before.stream, world({ now: at(60) }));
    expect(inside.decision).toMatchObject({ phase: 'starting', action: { do: 'create' }, requeueAt: at(120) });
    const over = step(inside.stream, world({ pod: makePod(loopStream), now: at(120) }));
    expect(over.decision).toMatchObject({ phase: 'stopping', action: { do: 'delete' } });
    expect(step(over.stream, world({ now: at(121) })).decision.phase).toBe('ended');
  });

  it('does not start a stream that is stopped', () => {
    expect(step(stopped({ schedule }), world({ now: at(61) })).decision).toMatchObject({
      phase: 'idle',
      action: { do: 'nothing' },
    });
  });
});

const DEADLINE = { startingDeadlineSeconds: 30 };

describe('a window with a starting deadline', () => {
  const schedule = { recurrence: { cron: '1 * * * *', timeZone: 'UTC', durationSeconds: 600 }, ...DEADLINE };

  it('is taken up in time, and kept when the pod is lost or the operator was away', () => {
    const loopStream = stream({ schedule });
    const before = step(loopStream, world());
    expect(before.decision).toMatchObject({ phase: 'scheduled', requeueAt: at(60) });
    const inside = step(before.stream, world({ now: at(61) }));
    expect(inside.decision).toMatchObject({ phase: 'starting', action: { do: 'create' }, requeueAt: at(660) });
    const lost = step(inside.stream, world({ now: at(600) }));
    expect(lost.decision).toMatchObject({ phase: 'starting', action: { do: 'create' } });
    const over = step(lost.stream, world({ pod: makePod(loopStream), now: at(660) }));
    expect(over.decision).toMatchObject({ phase: 'stopping', requeueAt: at(3660) });
    expect(step(over.stream, world({ now: at(661) })).decision).toMatchObject({ phase: 'scheduled' });
  });

  it('is left out when its start is missed, and that is said once', () => {
    const before = step(stream({ schedule }), world());
    const late = step(before.stream, world({ now: at(91) }));
    expect(late.decision).toMatchObject({ phase: 'scheduled', requeueAt: at(3660) });
    expect(late.decision.action.do).not.toBe('create');
    const [event, ...others] = buildStreamEvents(before.stream.status, late.stream.status ?? {});
    expect(event).toMatchObject({ type: 'Warning', reason: 'ScheduleMissed' });
    expect(event?.message).toContain('2026-06-01T12:01:00Z');
    expect(others).toEqual([]);
    expect(
      buildStreamEvents(late.stream.status, step(late.stream, world({ now: at(95) })).stream.status ?? {}),
    ).toEqual([]);
  });

  it.each([
    ['recurs', schedule],
    ['comes once', { startAt: at(60).toISOString(), ...DEADLINE }],
  ])('is left out at its deadline by a stream that still waits, where it %s', (_what, given) => {
    const uploads: Upload[] = [];
    const before = step(stream({ schedule: given }), world({ uploads }));
    const waiting = step(before.stream, world({ uploads, now: at(61) }));
    expect(waiting.decision).toMatchObject({ phase: 'waiting', requeueAt: at(90) });
    // A requeue comes a little after its moment.
    const late = step(waiting.stream, world({ uploads, now: at(90.1) })).stream;
    expect(findCondition(late.status?.conditions, 'Progressing')?.reason).toBe('ScheduleMissed');
  });

  it('that is far away is not waited for', () => {
    const given = { startAt: at(60).toISOString(), startingDeadlineSeconds: Number.MAX_SAFE_INTEGER };
    const uploads = [upload('film', { phase: 'importing' })];
    const { decision } = step(stream({ schedule: given }), world({ uploads, now: at(61) }));
    expect(decision.phase).toBe('waiting');
    expect(decision).not.toHaveProperty('requeueAt');
  });

  it('is used by a pod that was made in time, when the status reports it later than the deadline', () => {
    for (const loopStream of [
      stream({ schedule }),
      stream({ schedule: { startAt: at(60).toISOString(), ...DEADLINE } }),
    ]) {
      const { stream: before } = step(loopStream, world());
      const pod = makePod(loopStream);
      pod.metadata.creationTimestamp = kubeTime(at(60.9));
      const { decision, stream: after } = step(
        { ...before, status: { ...before.status, podUID: 'of another' } },
        world({ pod, now: at(120) }),
      );
      expect(decision).toMatchObject({ phase: 'starting', action: { do: 'publish', podUid: pod.metadata.uid } });
      expect(after.status?.lastScheduleTime).toBe(at(60).toISOString());
      // A condition of an earlier window is irrelevant for this one.
      pod.metadata.creationTimestamp = kubeTime(at(-3600));
      expect(step(before, world({ pod, now: at(120) })).decision.action).toMatchObject({ do: 'delete' });
    }
  });

  it('of a stream that was not ready in time is missed too', () => {
    const notReady = step(stream({ schedule, uploadName: 'none' }), world({ now: at(61) }));
    expect(notReady.decision).toMatchObject({ phase: 'waiting' });
    const ready = { ...notReady.stream, spec: stream({ schedule }).spec };
    expect(step(ready, world({ now: at(200) })).decision).toMatchObject({ phase: 'scheduled' });
  });
});

describe('a window that opens while a gate is closed, as it is without credit', () => {
  const schedule = { recurrence: { cron: '1 * * * *', timeZone: 'UTC', durationSeconds: 600 } };
  const buildGated = (more = {}) => stream({ readinessGates: [{ conditionType: CREDIT_CONDITION }], ...more });
  const withCredit = (loopStream: LoopStream, status: 'True' | 'False'): LoopStream => {
    const conditions = (loopStream.status?.conditions ?? []).filter(({ type }) => type !== CREDIT_CONDITION);
    const said = { reason: 'InsufficientCredits', message: 'It is used up.', lastTransitionTime: kubeTime(at(0)) };
    return {
      ...loopStream,
      status: { ...loopStream.status, conditions: [...conditions, { type: CREDIT_CONDITION, status, ...said }] },
    };
  };

  it('has no pod and says why; it is taken up in its middle when there is credit, and the next one from its start', () => {
    const none = withCredit(step(withCredit(buildGated({ schedule }), 'False'), world()).stream, 'False');
    expect(none.status?.phase).toBe('scheduled');
    const opened = step(none, world({ now: at(61) }));
    expect(opened.decision).toMatchObject({ phase: 'waiting', action: { do: 'nothing' }, requeueAt: at(660) });
    expect(opened.decision.lastScheduleTime).toBeUndefined();
    expect(buildEvents(none, opened.stream.status ?? {})).toEqual([
      { type: 'Warning', reason: 'NotReady', message: expect.stringMatching(/^It is used up\. Add credit/) },
    ]);
    const middle = step(withCredit(opened.stream, 'True'), world({ now: at(400) }));
    expect(middle.decision).toMatchObject({ phase: 'starting', action: { do: 'create' }, requeueAt: at(660) });
    const over = step(withCredit(opened.stream, 'False'), world({ now: at(660) }));
    expect(over.decision).toMatchObject({ phase: 'scheduled', requeueAt: at(3660) });
    const next = step(withCredit(over.stream, 'True'), world({ now: at(3660) }));
    expect(next.decision).toMatchObject({ phase: 'starting', action: { do: 'create' }, requeueAt: at(4260) });
  });

  it('is missed when there is credit only after its starting deadline, and that is said', () => {
    const opened = step(
      withCredit(buildGated({ schedule: { ...schedule, ...DEADLINE } }), 'False'),
      world({ now: at(61) }),
    );
    expect(opened.decision.phase).toBe('waiting');
    const late = step(withCredit(opened.stream, 'True'), world({ now: at(100) }));
    expect(late.decision).toMatchObject({ phase: 'scheduled', requeueAt: at(3660) });
    expect(findCondition(late.stream.status?.conditions, 'Progressing')?.reason).toBe('ScheduleMissed');
  });
});

describe('a suspended stream', () => {
  it('goes off air, says why, and comes back when it is let', () => {
    const loopStream = stream({ suspend: true });
    const pod = makePod(loopStream, { ready: true });
    expect(step(loopStream, world({ pod })).decision).toMatchObject({ phase: 'stopping', action: { do: 'delete' } });
    const { stream: after, decision } = step(loopStream, world());
    expect(decision).toMatchObject({ phase: 'idle', action: { do: 'nothing' } });
    expect(findCondition(after.status?.conditions, 'Progressing')?.reason).toBe('Suspended');
    expect(step({ ...after, spec: { ...loopStream.spec, suspend: false } }, world()).decision.action.do).toBe('create');
  });
});

describe('a stream whose schedule is over', () => {
  const schedule = { startAt: at(0).toISOString(), endAt: at(60).toISOString() };

  it('is deleted when its time is up and nothing of it is left, and not before', () => {
    const loopStream = stream({ schedule, ttlSecondsAfterFinished: 30 });
    const on = step(loopStream, world({ pod: makePod(loopStream), now: at(100) }));
    expect(on.decision).toMatchObject({ phase: 'stopping', action: { do: 'delete' } });
    expect(step(loopStream, world({ now: at(70) })).decision).toMatchObject({
      action: { do: 'nothing' },
      requeueAt: at(90),
    });
    expect(step(loopStream, world({ now: at(90) })).decision.action).toEqual({ do: 'expire' });
  });

  it('is kept for ever without a limit, or when it is only stopped', () => {
    expect(step(stream({ schedule }), world({ now: at(1e6) })).decision.action).toEqual({ do: 'nothing' });
    const off = stopped({ schedule, ttlSecondsAfterFinished: 0 });
    expect(step(off, world({ now: at(1e6) })).decision.action).toEqual({ do: 'nothing' });
  });
});

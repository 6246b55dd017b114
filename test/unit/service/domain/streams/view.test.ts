import { describe, expect, test } from 'vitest';
import { DEGRADATIONS, READINESS_ISSUES, REFUSED_CHANGES } from '../../../../../src/core/lib/codes/streams.ts';
import { NOT_SEEN } from '../../../../../src/core/resources/common/conditions.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { PHASES, type Phase } from '../../../../../src/core/resources/stream/spec.ts';
import { computePhase, isSettled, toReadiness, toStream } from '../../../../../src/service/domain/streams/view.ts';

const now = new Date('2026-01-01T12:00:00Z');

function stream(options: {
  replicas?: 0 | 1;
  phase?: Phase;
  /** The number of generations that the operator is behind. */
  behind?: number;
  startAt?: string;
  deleted?: boolean;
  conditions?: [type: string, status: 'True' | 'False' | 'Unknown', reason: string][];
}): LoopStream {
  const { replicas = 0, phase, behind = 0, startAt, deleted, conditions } = options;
  const all = (conditions ?? []).map(([type, status, reason]) => ({
    type,
    status,
    reason,
    message: `${reason}!`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  return {
    metadata: {
      name: 's',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 3,
      ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      replicas,
      quality: '1080p',
      framerate: 30,
      destinationNames: ['d'],
      ...(startAt ? { schedule: { startAt } } : {}),
    },
    ...(phase ? { status: { phase, observedGeneration: 3 - behind, conditions: all } } : {}),
  };
}

test('a stream in a time on air of its schedule says when that ends, and one without an end, or off air, does not', () => {
  const within = { startAt: '2026-01-01T11:00:00Z', endAt: '2026-01-01T13:30:00Z' };
  const end = (schedule: object, replicas: 0 | 1 = 1) => {
    const made = stream({ replicas, phase: replicas ? 'live' : 'stopped' });
    return toStream({ ...made, spec: { ...made.spec, schedule } }, now).nextEndAt;
  };
  expect(end(within)).toBe('2026-01-01T13:30:00.000Z');
  const recurrence = { cron: '0 10 * * *', timeZone: 'UTC', durationSeconds: 3 * 3600 };
  expect(end({ recurrence })).toBe('2026-01-01T13:00:00.000Z');
  expect(end({ recurrence, endAt: '2026-01-01T12:30:00Z' })).toBe('2026-01-01T12:30:00.000Z');
  expect(end({ startAt: within.startAt })).toBeNull();
  expect(end({ ...within, startAt: '2026-01-01T12:30:00Z' })).toBeNull();
  expect(end(within, 0)).toBeNull();
});

describe('the phase', () => {
  test('is the operator’s word as soon as it has seen the spec', () => {
    for (const phase of PHASES) {
      expect(computePhase(stream({ phase, replicas: 1 }), now)).toBe(phase);
      expect(computePhase(stream({ phase, replicas: 0 }), now)).toBe(phase);
    }
  });

  test('is first the one that the request will lead to', () => {
    const startAt = '2026-01-01T13:00:00Z';
    expect(computePhase(stream({}), now)).toBe('idle');
    // As Kubernetes fills in the status of a stream that no operator has seen.
    const unseen = { ...stream({ replicas: 1 }), status: { conditions: [NOT_SEEN] } };
    expect(computePhase(unseen, now)).toBe('idle');
    expect(computePhase(stream({ replicas: 1, startAt }), now)).toBe('scheduled');
    expect(computePhase(stream({ replicas: 1, phase: 'stopped', behind: 1 }), now)).toBe('starting');
    expect(computePhase(stream({ replicas: 1, phase: 'live', behind: 1 }), now)).toBe('live');
    expect(computePhase(stream({ replicas: 0, phase: 'live', behind: 1 }), now)).toBe('stopping');
    expect(computePhase(stream({ replicas: 0, phase: 'scheduled', behind: 1 }), now)).toBe('idle');
    expect(computePhase(stream({ replicas: 1, phase: 'idle', behind: 1, startAt }), now)).toBe('scheduled');
    expect(computePhase(stream({ replicas: 1, phase: 'live', deleted: true }), now)).toBe('stopping');
  });
});

describe('readiness', () => {
  const fine: [string, 'True', string][] = [
    ['DestinationReady', 'True', 'DestinationReady'],
    ['MediaReady', 'True', 'MediaReady'],
    ['ScheduleValid', 'True', 'NoSchedule'],
  ];
  const conditions = (type: string, status: 'False' | 'Unknown', reason: string) =>
    fine.map(([t, s, r]) => (t === type ? ([type, status, reason] as const) : ([t, s, r] as const))) as never;

  test('is ready only when all conditions are True', () => {
    expect(toReadiness(stream({ phase: 'idle', conditions: fine }))).toEqual({
      ready: true,
      issues: [],
      warnings: [],
      prepared: 1,
      estimatedReadyAt: null,
    });
    expect(toReadiness(stream({})).issues.map(({ code }) => code)).toEqual([
      'not_checked',
      'not_checked',
      'not_checked',
    ]);
  });

  test('says how much of the media is prepared, also when it is ready', () => {
    const preparation = { prepared: 0.12, estimatedReadyAt: '2026-01-01T01:00:00Z' };
    const { status, ...made } = stream({ phase: 'idle', conditions: fine });
    expect(toReadiness({ ...made, status: { ...status, preparation } })).toMatchObject({ ready: true, ...preparation });
    const media = conditions('MediaReady', 'False', 'MediaFailed');
    for (const seen of [stream({}), stream({ phase: 'idle', conditions: media })])
      expect(toReadiness(seen)).toMatchObject({ ready: false, prepared: 0, estimatedReadyAt: null });
  });

  test('each reason has its public code, its fix, and the words of the condition', () => {
    for (const [reason, { code, fix, field }] of Object.entries(READINESS_ISSUES)) {
      const { issues } = toReadiness(stream({ phase: 'idle', conditions: conditions('MediaReady', 'False', reason) }));
      expect(issues).toEqual([{ code, fix, field, message: `${reason}!`, since: '2026-01-01T00:00:00Z' }]);
    }
  });

  test('an unknown condition is an issue too, and is worth waiting for', () => {
    const unknown = stream({
      phase: 'idle',
      conditions: conditions('DestinationReady', 'Unknown', 'DestinationChecking'),
    });
    expect(toReadiness(unknown)).toMatchObject({ ready: false, issues: [{ code: 'destination_checking' }] });
    expect(isSettled(unknown)).toBe(false);
    expect(isSettled(stream({ phase: 'idle', conditions: fine }))).toBe(true);
    expect(isSettled(stream({ phase: 'idle', conditions: fine, behind: 1 }))).toBe(false);
  });
});

test('a fault on air is shown with its code, and nothing when all is well', () => {
  const degraded = (status: 'True' | 'False', reason: string) =>
    toStream(stream({ phase: 'live', replicas: 1, conditions: [['Degraded', status, reason]] }), now).degraded;
  expect(degraded('True', 'ItemsLeftOut')).toEqual({
    code: 'items_left_out',
    message: 'ItemsLeftOut!',
    fix: DEGRADATIONS.ItemsLeftOut.fix,
    since: '2026-01-01T00:00:00Z',
  });
  expect(degraded('False', 'Healthy')).toBeNull();
  const refused = (phase: Phase, reason: string) =>
    toStream(stream({ phase, replicas: 1, conditions: [['Progressing', 'False', reason]] }), now).degraded;
  for (const [reason, { code, fix }] of Object.entries({ ...READINESS_ISSUES, ...REFUSED_CHANGES }).filter(([reason]) =>
    /Refused|QuotaExceeded/.test(reason),
  )) {
    const told = { code, message: `${reason}!`, fix, since: '2026-01-01T00:00:00Z' };
    expect(refused(code === 'pod_refused' || code === 'quota_exceeded' ? 'waiting' : 'live', reason)).toEqual(told);
  }
  expect(refused('waiting', 'Waiting')).toBeNull();
  expect(toStream(stream({}), now).degraded).toBeNull();
});

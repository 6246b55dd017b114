import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodReport } from '../../../../../src/core/operator/stream/pod-report.ts';
import {
  findOffAirTime,
  OFF_AIR_SECONDS,
  recordTransitions,
} from '../../../../../src/core/operator/stream/transitions.ts';
import type { Condition } from '../../../../../src/core/resources/common/conditions.ts';
import { type LoopStreamStatus, PHASES, type Phase } from '../../../../../src/core/resources/stream/spec.ts';
import { MAX_TRANSITIONS, type Transition } from '../../../../../src/core/resources/stream/transitions.ts';

const BEGIN = Date.parse('2026-06-01T12:00:00Z');
const at = (seconds: number) => new Date(BEGIN + seconds * 1000);
const condition = (type: string, status: string, reason: string, message = `${reason} it is.`): Condition =>
  ({ type, status, reason, message, lastTransitionTime: '2026-06-01T12:00:00Z' }) as Condition;

interface Step {
  second: number;
  phase: Phase;
  conditions?: Condition[];
}

/** The transitions after all steps. */
function walk(steps: readonly Step[], first: LoopStreamStatus | undefined = undefined): Transition[] {
  let status = first;
  for (const { second, phase, conditions = [] } of steps) {
    const next: LoopStreamStatus = { phase, conditions };
    const transitions = recordTransitions(status, next, at(second));
    status = { ...next, ...(transitions.length > 0 && { transitions }) };
  }
  return status?.transitions ?? [];
}
const kinds = (steps: readonly Step[]) => walk(steps).map(({ kind }) => kind);

describe('what viewers see of a stream', () => {
  test.each<[string, Step[], string[]]>([
    [
      'a start and a stop that were wanted',
      [
        { second: 0, phase: 'starting' },
        { second: 2, phase: 'live' },
        { second: 60, phase: 'stopping' },
        { second: 61, phase: 'stopped' },
      ],
      ['Live', 'Stopped'],
    ],
    [
      'a handover that takes a second is no outage',
      [
        { second: 0, phase: 'live' },
        { second: 10, phase: 'reconnecting' },
        { second: 11, phase: 'live' },
      ],
      ['Live', 'Reconnecting', 'Recovered'],
    ],
    [
      'a destination that stays away is an outage, told once',
      [
        { second: 0, phase: 'live' },
        { second: 10, phase: 'reconnecting' },
        { second: 12, phase: 'reconnecting' },
        { second: 16, phase: 'reconnecting' },
        { second: 30, phase: 'reconnecting' },
        { second: 40, phase: 'live' },
      ],
      ['Live', 'Reconnecting', 'OffAir', 'Recovered'],
    ],
    [
      'a stream that waits although it was on air is off air at once',
      [
        { second: 0, phase: 'live' },
        { second: 10, phase: 'waiting' },
        { second: 11, phase: 'starting' },
        { second: 12, phase: 'live' },
      ],
      ['Live', 'OffAir', 'Recovered'],
    ],
    [
      'a gate that closes takes it off air, which nobody wanted',
      [
        { second: 0, phase: 'live' },
        { second: 10, phase: 'stopping', conditions: [condition('Progressing', 'True', 'GateClosed')] },
        { second: 11, phase: 'waiting' },
      ],
      ['Live', 'OffAir'],
    ],
    [
      'a person who stops it during an outage ends that',
      [
        { second: 0, phase: 'live' },
        { second: 10, phase: 'reconnecting' },
        { second: 20, phase: 'stopped' },
        { second: 30, phase: 'live' },
      ],
      ['Live', 'Reconnecting', 'Stopped', 'Live'],
    ],
    ['a stream that never was on air has nothing to tell', [{ second: 0, phase: 'waiting' }], []],
  ])('%s', (_what, steps, expected) => expect(kinds(steps)).toEqual(expected));

  test('an outage has the cause that the pod reports, and its end has the length', () => {
    const degraded = condition('Degraded', 'True', 'DestinationReconnecting', 'Destination "tv" refuses connections.');
    const steps: Step[] = [
      { second: 0, phase: 'live' },
      { second: 10, phase: 'reconnecting', conditions: [degraded] },
      { second: 16, phase: 'reconnecting', conditions: [degraded] },
      { second: 100, phase: 'live' },
    ];
    expect(walk(steps).slice(2)).toEqual([
      { number: 3, kind: 'OffAir', at: '2026-06-01T12:00:16Z', reason: degraded.reason, message: degraded.message },
      { number: 4, kind: 'Recovered', at: '2026-06-01T12:01:40Z', offAirSeconds: 90 },
    ]);
  });

  test('a stream that an earlier operator put on air has no start to tell, but its interruption', () => {
    const steps: Step[] = [
      { second: 0, phase: 'live' },
      { second: 1, phase: 'reconnecting' },
    ];
    expect(walk(steps, { phase: 'live' }).map(({ kind }) => kind)).toEqual(['Reconnecting']);
  });

  test('a problem of a stream on air is told once, and again when it is another one', () => {
    const [a, b] = ['PictureHeld', 'SlowDestination'].map((reason) => condition('Degraded', 'True', reason));
    const steps: Step[] = [
      { second: 0, phase: 'live' },
      { second: 1, phase: 'live', conditions: [a as Condition] },
      { second: 2, phase: 'live', conditions: [{ ...(a as Condition), message: 'Still.' }] },
      { second: 3, phase: 'live', conditions: [b as Condition] },
    ];
    expect(walk(steps).map(({ kind, reason }) => [kind, reason])).toEqual([
      ['Live', undefined],
      ['Degraded', 'PictureHeld'],
      ['Degraded', 'SlowDestination'],
    ]);
  });
});

describe('the time of a change is that of the media', () => {
  const live = (more: Partial<LoopStreamStatus> = {}): LoopStreamStatus => ({ phase: 'live', ...more });
  const known = (...transitions: Transition[]): LoopStreamStatus => live({ transitions });
  const ON: Transition = { number: 1, kind: 'Live', at: '2026-06-01T12:00:00Z' };
  const run = (startedAt: string, lastAt: string) => ({ run: 1, startedAt, lastAt, onAirSeconds: 1 });
  const time = (seconds: number) => at(seconds).toISOString();
  const tell = (before: LoopStreamStatus, phase: Phase, second: number, more: object = {}, runs = [run('', '')]) =>
    recordTransitions(before, { phase, ...more }, at(second), { live: phase === 'live', runs }).at(-1)?.at;

  test('a connection that breaks off is told to the millisecond', () =>
    expect(tell(known(ON), 'reconnecting', 30.25, {}, [run(time(0), time(29))])).toBe('2026-06-01T12:00:30.250Z'));

  test('a destination that hung is off air since it last took media', () =>
    expect(tell(known(ON), 'reconnecting', 45, {}, [run(time(0), time(29))])).toBe('2026-06-01T12:00:30Z'));

  test.each([
    ['before the stream went on air', time(-90)],
    ['of no run at all', ''],
  ])('last media %s says nothing', (_what, lastAt) =>
    expect(tell(known(ON), 'reconnecting', 45, {}, [run(time(-99), lastAt)])).toBe('2026-06-01T12:00:45Z'),
  );

  test('a start is as early as the media, although kubelet probes later', () =>
    expect(tell({ phase: 'starting' }, 'live', 9, { liveSince: time(8) }, [run(time(4), time(9))])).toBe(time(4)));

  test('an interruption that kubelet missed ends now, not before it began', () => {
    const before = known(ON, { number: 2, kind: 'Reconnecting', at: '2026-06-01T12:00:30Z' });
    const recovered = recordTransitions({ ...before, phase: 'reconnecting' }, live({ liveSince: time(0) }), at(32.5), {
      live: true,
      runs: [run(time(0), time(32))],
    }).at(-1);
    expect(recovered).toMatchObject({ kind: 'Recovered', at: '2026-06-01T12:00:32.500Z', offAirSeconds: 2.5 });
  });

  describe('of an interruption that the pod has measured', () => {
    const off: Transition = { number: 2, kind: 'Reconnecting', at: '2026-06-01T12:00:30Z' };
    const told: Transition = { number: 3, kind: 'OffAir', at: '2026-06-01T12:00:35Z' };
    const recover = (interruption: PodReport['interruption'], ...more: Transition[]) =>
      recordTransitions({ phase: 'reconnecting', transitions: [ON, off, ...more] }, live(), at(60), {
        live: true,
        runs: [run(time(0), time(60))],
        ...(interruption && { interruption }),
      }).at(-1);

    test('is as long as no destination took media, although it is told later', () => {
      const short = { startedAt: time(30), endedAt: time(31), offAirSeconds: 0.9 };
      expect(recover(short)).toMatchObject({ at: '2026-06-01T12:00:31Z', offAirSeconds: 0.9 });
      // It was told as an outage meanwhile, and times of a stream never go back.
      expect(recover(short, told)).toMatchObject({ at: '2026-06-01T12:00:35Z', offAirSeconds: 0.9 });
      const flapping = { startedAt: time(30), endedAt: time(50), offAirSeconds: 7 };
      expect(recover(flapping, told)).toMatchObject({ at: '2026-06-01T12:00:50Z', offAirSeconds: 7 });
    });

    test('has its length also where the clock of the node is wrong', () =>
      expect(recover({ startedAt: time(75), endedAt: time(76), offAirSeconds: 1 })).toMatchObject({
        at: '2026-06-01T12:01:00Z',
        offAirSeconds: 1,
      }));

    test.each([
      ['another one', { startedAt: time(-90), endedAt: time(-80), offAirSeconds: 10 }],
      ['longer than can be', { startedAt: time(30), endedAt: time(59), offAirSeconds: 32 }],
    ])('is not %s', (_what, interruption) =>
      expect(recover(interruption, told)).toMatchObject({ at: '2026-06-01T12:01:00Z', offAirSeconds: 30 }),
    );
  });

  test('a process that began to send in the future is not believed', () =>
    expect(tell({ phase: 'starting' }, 'live', 9, { liveSince: time(8) }, [run(time(600), time(600))])).toBe(time(8)));
});

test('an interruption asks to be looked at when it becomes an outage, and not after that', () => {
  const before = walk([
    { second: 0, phase: 'live' },
    { second: 10, phase: 'reconnecting' },
  ]);
  expect(findOffAirTime(before)).toEqual(at(10 + OFF_AIR_SECONDS));
  expect(findOffAirTime([...before, { number: 3, kind: 'OffAir', at: '2026-06-01T12:00:16Z' }])).toBeUndefined();
  expect(findOffAirTime(undefined)).toBeUndefined();
});

test('whatever a stream goes through, numbers follow one another, and each outage has one end', () => {
  fc.assert(
    fc.property(fc.nat(9), fc.array(fc.constantFrom(...PHASES), { maxLength: 120 }), (pause, phases) => {
      const steps = phases.map((phase, i) => ({ second: i * pause, phase }));
      const seen = new Map<number, Transition>();
      for (let n = 0; n <= steps.length; n++) {
        const transitions = walk(steps.slice(0, n));
        expect(transitions.length).toBeLessThanOrEqual(MAX_TRANSITIONS);
        for (const one of transitions) {
          expect(seen.get(one.number) ?? one).toEqual(one);
          seen.set(one.number, one);
        }
      }
      const all = [...seen.values()].sort((a, b) => a.number - b.number);
      expect(all.map(({ number }) => number)).toEqual(all.map((_, i) => i + 1));
      let isOff = false;
      for (const { kind } of all) {
        if (kind === 'OffAir') expect(isOff).toBe(false);
        if (kind === 'Live') expect(isOff).toBe(false);
        if (kind === 'OffAir') isOff = true;
        if (kind === 'Recovered' || kind === 'Stopped') isOff = false;
      }
    }),
    { numRuns: 200 },
  );
});

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import { withoutPod } from '../../../../../src/core/operator/stream/refusals.ts';
import { buildStatus } from '../../../../../src/core/operator/stream/status.ts';
import { findCondition, HEALTH_CONDITIONS } from '../../../../../src/core/resources/common/conditions.ts';
import { FINALIZER } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { type LoopStreamSpec, PHASES, type Phase } from '../../../../../src/core/resources/stream/spec.ts';
import type { World } from '../../../../kit/make/operator.ts';
import { at, destination, makePod, refusal, SETTINGS, stream, upload, world } from '../../../../kit/make/operator.ts';

/** All inputs of a decision, as words. */
interface Scene {
  wish: 'run' | 'stop' | 'suspend' | 'delete';
  schedule: 'none' | 'before' | 'on' | 'after' | 'invalid';
  /** The missing input, if any. */
  lacks: 'nothing' | 'media' | 'destination' | 'credit';
  pod: 'none' | 'starting' | 'ready' | 'going' | 'ended' | 'foreign';
  /** Kubernetes' answer to a new pod. */
  answer: 'made' | 'refused' | 'quota' | 'taken';
  edited: boolean;
}

const SCHEDULES: Record<Scene['schedule'], Partial<LoopStreamSpec>> = {
  none: {},
  before: { schedule: { startAt: at(60).toISOString() } },
  on: { schedule: { startAt: at(-60).toISOString() } },
  after: { schedule: { endAt: at(-60).toISOString() } },
  invalid: { schedule: { startAt: at(60).toISOString(), endAt: at(0).toISOString() } },
};

/** Returns the stream after one reconcile in this scene. */
function look(before: LoopStream, scene: Scene): LoopStream {
  const { wish, schedule, lacks, pod, answer, edited } = scene;
  const spec: LoopStreamSpec = {
    ...stream().spec,
    ...SCHEDULES[schedule],
    replicas: wish === 'stop' ? 0 : 1,
    suspend: wish === 'suspend',
    readinessGates: [{ conditionType: 'CreditAvailable' }],
  };
  const generation = (before.metadata.generation ?? 1) + (edited ? 1 : 0);
  const credit = { type: 'CreditAvailable', reason: 'X', message: 'X', lastTransitionTime: kubeTime(at(0)) };
  const conditions = (before.status?.conditions ?? []).filter(({ type }) => type !== credit.type);
  const loopStream: LoopStream = {
    ...before,
    metadata: {
      ...before.metadata,
      generation,
      ...(wish === 'delete' && { deletionTimestamp: kubeTime(at(0)), finalizers: [FINALIZER] }),
    },
    spec,
    status: {
      ...before.status,
      conditions: [...conditions, { ...credit, status: lacks === 'credit' ? 'False' : 'True' }],
    },
  };
  const target = destination();
  const ready = target.status?.conditions?.[0];
  if (ready) ready.observedGeneration = 99;
  const seen: World = world({
    uploads: lacks === 'media' ? [] : [upload()],
    destinations: lacks === 'destination' ? [] : [target],
  });
  if (pod === 'foreign') seen.isNameTaken = true;
  else if (pod !== 'none') {
    const phase = pod === 'ended' ? 'Failed' : 'Running';
    seen.pod = makePod(
      { ...loopStream, metadata: before.metadata },
      { ready: pod === 'ready', deleted: pod === 'going', phase },
    );
  }
  let decision = decide({ ...seen, stream: loopStream }, SETTINGS);
  if (decision.action.do === 'create' && answer !== 'made') {
    const words = { refused: 'spec.x: Invalid value', quota: 'exceeded quota: few', taken: undefined }[answer];
    decision = withoutPod({ ...seen, stream: loopStream }, decision, words === undefined ? undefined : refusal(words));
  }
  const { deletionTimestamp: _, ...metadata } = loopStream.metadata;
  return {
    ...loopStream,
    metadata,
    status: buildStatus(loopStream, decision, seen.pod, seen),
  };
}

const scenes = fc.record<Scene>({
  wish: fc.constantFrom('run', 'run', 'run', 'stop', 'suspend', 'delete'),
  schedule: fc.constantFrom('none', 'none', 'before', 'on', 'after', 'invalid'),
  lacks: fc.constantFrom('nothing', 'nothing', 'nothing', 'media', 'destination', 'credit'),
  pod: fc.constantFrom('none', 'none', 'starting', 'ready', 'ready', 'going', 'ended', 'foreign'),
  answer: fc.constantFrom('made', 'made', 'refused', 'quota', 'taken'),
  edited: fc.boolean(),
});

/** The transitions that are written above PHASES: `from → to`. */
function readTransitions(): string[] {
  const source = readFileSync(resolve(import.meta.dirname, '../../../../../src/core/resources/stream/spec.ts'), 'utf8');
  const text = source.slice(0, source.indexOf('export const PHASES')).replaceAll(/\n \* {3}/g, ' ');
  const lines = [...text.matchAll(/^ \* to (\w+) from ([\w, ]+) \[([\w, ]*)\]: \S.*\.$/gm)];
  expect(lines.map(([, to]) => to)).toEqual([...PHASES]);
  return lines.flatMap(([, to, usual = '', skipping = '']) =>
    `${usual}, ${skipping}`.split(', ').flatMap((from) => (from === '' ? [] : [`${from} → ${to}`])),
  );
}

/** Returns the transitions of a stream through these scenes. */
function walkScenes(list: readonly Scene[]): string[] {
  let loopStream = stream();
  return list.flatMap((scene) => {
    const next = look(loopStream, scene);
    const step = `${loopStream.status?.phase ?? 'new'} → ${next.status?.phase}`;
    const isNew = loopStream.status?.phase !== next.status?.phase;
    loopStream = next;
    return isNew ? [step] : [];
  });
}

const OFF_AIR_AS_ASKED: readonly Phase[] = ['idle', 'scheduled', 'stopped', 'ended'];

describe('the state machine', () => {
  const table = readTransitions();
  const walks = fc.array(scenes, { minLength: 2, maxLength: 12, size: 'max' });

  it('makes no unlisted transition, for any events in any order', () => {
    fc.assert(
      fc.property(walks, (list) => {
        for (const step of walkScenes(list)) expect(table).toContain(step);
      }),
      { numRuns: 1000 },
    );
  });

  it('is in exactly one of the states of kstatus, and as asked where it is off air as asked, for any events in any order', () => {
    const isTrue = ({ status }: LoopStream) =>
      HEALTH_CONDITIONS.filter((type) => findCondition(status?.conditions, type)?.status === 'True');
    fc.assert(
      fc.property(walks, (list) => {
        let loopStream = stream();
        for (const scene of list) {
          loopStream = look(loopStream, scene);
          const { phase = 'idle' } = loopStream.status ?? {};
          const isOffAirAsAsked = OFF_AIR_AS_ASKED.includes(phase) && scene.wish !== 'delete';
          if (phase !== 'live') expect(isTrue(loopStream).includes('Ready')).toBe(isOffAirAsAsked);
          expect(isTrue(loopStream)).toHaveLength(1);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('makes every transition that is written down', () => {
    const seen = new Set(fc.sample(walks, { numRuns: 2500, seed: 7 }).flatMap(walkScenes));
    expect(table.filter((step) => !seen.has(step))).toEqual([]);
    expect(new Set(table).size).toBe(table.length);
  });
});

describe('the way of a stream', () => {
  const usual: Scene = { wish: 'run', schedule: 'none', lacks: 'nothing', pod: 'none', answer: 'made', edited: false };
  const way = (...scenes_: Partial<Scene>[]) => {
    let loopStream = stream();
    return scenes_.map((scene): Phase | undefined => {
      loopStream = look(loopStream, { ...usual, ...scene });
      return loopStream.status?.phase;
    });
  };

  it.each<[string, Phase[], Partial<Scene>[]]>([
    [
      'from created to live, through a lost connection and a lost pod, to stopped',
      [
        'idle',
        'waiting',
        'starting',
        'live',
        'reconnecting',
        'live',
        'reconnecting',
        'reconnecting',
        'stopping',
        'stopped',
      ],
      [
        { wish: 'stop' },
        { lacks: 'media' },
        {},
        { pod: 'ready' },
        { pod: 'starting' },
        { pod: 'ready' },
        { pod: 'going' },
        {},
        { wish: 'stop', pod: 'starting' },
        { wish: 'stop' },
      ],
    ],
    [
      'through a schedule',
      ['scheduled', 'starting', 'live', 'stopping', 'ended', 'scheduled', 'stopped'],
      [
        { schedule: 'before' },
        { schedule: 'on' },
        { schedule: 'on', pod: 'ready' },
        { schedule: 'after', pod: 'ready' },
        { schedule: 'after' },
        { schedule: 'before' },
        { schedule: 'before', wish: 'suspend' },
      ],
    ],
    [
      'off air without credit and back',
      ['starting', 'live', 'stopping', 'waiting', 'starting'],
      [{}, { pod: 'ready' }, { pod: 'ready', lacks: 'credit' }, { lacks: 'credit' }, {}],
    ],
    [
      'that Kubernetes refuses, until it accepts the pod',
      ['waiting', 'waiting', 'starting', 'live', 'waiting', 'waiting', 'starting'],
      [
        { answer: 'refused' },
        { answer: 'quota' },
        {},
        { pod: 'ready' },
        { answer: 'refused' },
        { answer: 'refused' },
        {},
      ],
    ],
  ])('%s', (_what, phases, list) => {
    expect(way(...list)).toEqual(phases);
  });
});

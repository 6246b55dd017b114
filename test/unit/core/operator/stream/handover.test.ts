import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../../../../src/core/kube/core.ts';
import { isOver } from '../../../../../src/core/operator/pods/status.ts';
import { findReasonToDrain } from '../../../../../src/core/operator/stream/handover.ts';
import { hashSettings } from '../../../../../src/core/operator/stream/pod.ts';
import { Rollout } from '../../../../../src/core/operator/stream/rollout.ts';
import { TEMPLATE_HASH_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { at, destination, makePod, SETTINGS, step, stream, world } from '../../../../kit/make/operator.ts';

const node = (spec: Node['spec']): Node =>
  ({ metadata: { name: 'node-a', uid: 'n', resourceVersion: '1', creationTimestamp: '' }, spec }) as Node;
const taint = (key: string, effect = 'NoSchedule') => node({ taints: [{ key, effect }] });
const started = (pod: Pod): Pod => ({
  ...pod,
  status: { ...pod.status, containerStatuses: [{ name: 'streamer', ready: false, restartCount: 0, started: true }] },
});
const second = (loopStream = stream(), state = {}): Pod => {
  const pod = makePod(loopStream, state);
  return { ...pod, metadata: { ...pod.metadata, name: 'bunny-onair-b', uid: 'uid-of-second' } };
};
const live = (loopStream = stream()) => makePod(loopStream, { ready: true });

describe('a node', () => {
  const pod = live();
  it('is left when it is cordoned, or has a taint that the pod does not tolerate', () => {
    expect(findReasonToDrain(node({ unschedulable: true }), pod)).toContain('cordoned');
    expect(findReasonToDrain(taint('spot.example/notice'), pod)).toContain('spot.example/notice:NoSchedule');
    const bears = { ...pod, spec: { ...pod.spec, tolerations: [{ key: 'spot.example/notice', operator: 'Exists' }] } };
    expect(findReasonToDrain(taint('spot.example/notice'), bears)).toBeUndefined();
  });

  it('is not left while it only does not answer, or would rather have no pods', () => {
    expect(findReasonToDrain(taint('node.kubernetes.io/unreachable', 'NoExecute'), pod)).toBeUndefined();
    expect(findReasonToDrain(taint('busy', 'PreferNoSchedule'), pod)).toBeUndefined();
    expect(findReasonToDrain(undefined, pod)).toBeUndefined();
  });

  it('that is cordoned is left at once, when evicted, or never, as the stream says', () => {
    const act = (disruption: 'Never' | 'OnDrain' | 'Always') => {
      const loopStream = stream({ disruptionPolicy: disruption });
      return step(loopStream, { ...world({ pod: live(loopStream) }), node: node({ unschedulable: true }) }).decision
        .action.do;
    };
    expect(act('OnDrain')).toBe('create');
    expect(act('Always')).toBe('nothing');
    expect(act('Never')).toBe('nothing');
  });
});

it('the pod’s label decides who may move it, also when it is edited on air', () => {
  const pod = live();
  const { action } = step(stream({ disruptionPolicy: 'Never' }), world({ pod })).decision;
  expect(action).toMatchObject({ do: 'patch', program: { version: 1 } });
  expect(step(stream({ disruptionPolicy: 'OnDrain' }), world({ pod })).decision.action).toEqual({ do: 'nothing' });
});

describe('one pod after the other', () => {
  const edited = stream({ template: { labels: { edition: '2' } } });
  const old = live();

  it('makes the next one, waits until it is warm, and only then takes the first away; it is on air all the time', () => {
    const first = step(edited, world({ pod: old }));
    expect(first.decision).toMatchObject({ phase: 'live', action: { do: 'create', standby: true } });
    const next = second(edited);
    const waits = step(first.stream, world({ pod: old, other: next }));
    expect(waits.decision).toMatchObject({ phase: 'live', action: { do: 'nothing' } });
    const warm = step(waits.stream, world({ pod: old, other: started(next) }));
    expect(warm.decision).toMatchObject({
      phase: 'live',
      action: { do: 'delete', podUid: old.metadata.uid, retire: true },
    });
    const going = makePod(stream(), { ready: true, deleted: true });
    const told = step(warm.stream, world({ pod: going, other: started(next) }));
    expect(told.decision.action).toEqual({ do: 'stop', podUid: old.metadata.uid });
    const over: Pod = { ...going, status: { ...going.status, phase: 'Succeeded' } };
    const taken = step(told.stream, world({ pod: over, other: started(next) }));
    expect(taken.decision.action).toEqual({ do: 'publish', podUid: 'uid-of-second' });
  });

  it('does not stop one that is going before the next is warm', () => {
    const going = makePod(stream(), { ready: true, deleted: true });
    expect(step(stream(), world({ pod: going })).decision.action).toMatchObject({ do: 'create', standby: true });
    expect(step(stream(), world({ pod: going, other: second() })).decision.action).toEqual({ do: 'nothing' });
  });

  it('removes a next one that is no longer needed, and replaces it when it is out of date itself', () => {
    const { action } = step(stream(), world({ pod: old, other: second() })).decision;
    expect(action).toMatchObject({ do: 'delete', podUid: 'uid-of-second', retire: false });
    const stale = step(edited, world({ pod: old, other: started(second()) })).decision.action;
    expect(stale).toMatchObject({ do: 'delete', podUid: 'uid-of-second' });
  });

  it('removes both when the stream is stopped, with little time for one that does not answer', () => {
    const off = stream({ replicas: 0 });
    const going = { ...old, metadata: { ...old.metadata, deletionTimestamp: 'now', deletionGracePeriodSeconds: 30 } };
    const { action } = step(off, world({ pod: going, other: second() })).decision;
    expect(action).toMatchObject({ do: 'delete', podUid: old.metadata.uid, retire: false });
    const short = { ...going, metadata: { ...going.metadata, deletionGracePeriodSeconds: 5 } };
    const then = step(off, world({ pod: short, other: second() })).decision.action;
    expect(then).toMatchObject({ do: 'delete', podUid: 'uid-of-second', retire: false });
  });

  it('gives the next one the items for its start', () => {
    const more = { ...edited, spec: { ...edited.spec, destinationNames: ['tv', 'more'] } };
    const objects = { pod: old, other: started(second(edited)), destinations: [destination(), destination('more')] };
    const { action } = step(more, world(objects)).decision;
    expect(action).toMatchObject({ do: 'patch', podUid: 'uid-of-second', program: { destinations: ['tv', 'more'] } });
  });
});

describe('nothing of a pod runs any more', () => {
  it('when its kubelet or the garbage collector says so, and not because it is to go', () => {
    const pod = live();
    const going = (more = {}) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: 'now', ...more } });
    expect(isOver(pod)).toBe(false);
    expect(isOver(going())).toBe(false);
    expect(isOver(going({ deletionGracePeriodSeconds: 0 }))).toBe(false);
    expect(isOver({ ...pod, status: { ...pod.status, phase: 'Failed' } })).toBe(true);
    const { nodeName: _, ...spec } = pod.spec;
    expect(isOver({ ...going(), spec })).toBe(true);
    const ended = { name: 'streamer', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } };
    expect(isOver({ ...going(), status: { phase: 'Running', containerStatuses: [ended] } })).toBe(true);
    // A pod that is not being deleted restarts.
    expect(isOver({ ...pod, status: { phase: 'Running', containerStatuses: [ended] } })).toBe(false);
  });
});

describe('another image', () => {
  const streams = Array.from({ length: 30 }, (_, i) => {
    const loopStream = stream();
    return { ...loopStream, metadata: { ...loopStream.metadata, name: `s${i}`, uid: `uid-${i}` } };
  });
  const pods = streams.map((channel) => ({
    ...live(channel),
    metadata: { ...live(channel).metadata, uid: `pod-${channel.metadata.name}` },
  }));

  it('is given to a tenth of the streams at a time, each at a moment of its own', () => {
    const current = new Set<string>();
    const isCurrent = (pod: Pod) => current.has(pod.metadata.uid);
    const rollout = new Rollout({ seconds: 600, pods: () => pods, isCurrent });
    const listWaiting = () => streams.filter(({ metadata }) => !current.has(`pod-${metadata.name}`));
    const turns = (seconds: number) => listWaiting().filter((channel) => rollout.mayRoll(channel, at(seconds)));
    expect(turns(0).length).toBeLessThanOrEqual(3);
    let done = 0;
    for (let seconds = 2; seconds < 1200; seconds += 2) {
      const now = turns(seconds);
      expect(now.length).toBeLessThanOrEqual(3);
      for (const { metadata } of now) current.add(`pod-${metadata.name}`);
      done += now.length;
      // Some wait longer than the first seconds.
      if (seconds === 60) expect(done).toBeLessThan(15);
    }
    expect(done).toBe(30);
  });

  it('is asked for again at a stream’s own moment, and then soon by few and seldom by many', () => {
    const rollout = (pods: Pod[]) => new Rollout({ seconds: 600, pods: () => pods, isCurrent: () => false });
    const [first = stream(), ...others] = streams;
    const early = rollout(pods);
    expect(streams.filter((channel) => early.mayRoll(channel, at(0)))).toEqual([]);
    let seconds = 0;
    while (!early.mayRoll(first, at(seconds))) {
      const requeueAfterMs = early.requeueAfterMs(first, at(seconds));
      expect(requeueAfterMs).toBeGreaterThan(0);
      expect(requeueAfterMs).toBeLessThanOrEqual(60_000);
      seconds += requeueAfterMs / 1000;
    }
    expect(early.mayRoll(first, at(seconds))).toBe(true);
    // The wait is longer than every pod's own moment when others have all the turns.
    const waits = (pods: Pod[]) => {
      const late = rollout(pods);
      late.mayRoll(first, at(0));
      const denied = others.find((other) => !late.mayRoll(other, at(700)));
      return late.requeueAfterMs(denied ?? first, at(700));
    };
    const owned = (n: number) =>
      Array.from({ length: n }, (_, i) => ({
        ...live(first),
        metadata: { ...live(first).metadata, ownerReferences: [{ uid: `uid-of-${i}` }] },
      })) as Pod[];
    expect(waits(owned(30))).toBe(1000);
    expect(waits(owned(200))).toBe(2000);
  });

  it('makes no pod out of date that was made with the same one', () => {
    const [pod] = pods;
    expect(pod?.metadata.annotations?.[TEMPLATE_HASH_ANNOTATION]?.split('.')[1]).toBe(hashSettings(SETTINGS));
    const other = { ...world({ pod: live() }), mayRoll: true };
    expect(step(stream(), other).decision.action).toEqual({ do: 'nothing' });
  });
});

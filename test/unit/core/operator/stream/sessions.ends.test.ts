import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Node, Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { findSessionEnd, SESSION_ENDS, type SessionEnd } from '../../../../../src/core/lib/codes/streams.ts';
import { computeSessions, readPodTime } from '../../../../../src/core/operator/stream/sessions.ts';
import { CREDIT_CONDITION, TEMPLATE_HASH_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { MAX_SESSIONS, type Session } from '../../../../../src/core/resources/stream/sessions.ts';
import { at, makePod, meta, NOW, step, stream, world } from '../../../../kit/make/operator.ts';

const POD = makePod(stream(), { ready: true });
const OPEN: Session = { number: 1, podUID: POD.metadata.uid, startedAt: kubeTime(NOW), onAirSeconds: 0 };
const cordoned = { metadata: meta('node-a'), spec: { unschedulable: true } } as unknown as Node;

/** The pod as it is on its way, and when nothing of it runs any more. */
const going = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: kubeTime(NOW), deletionGracePeriodSeconds: 5 },
});
const terminated = (pod: Pod, end: object = { exitCode: 0 }, which: 'state' | 'lastState' = 'state'): Pod => {
  const status: ContainerStatus = { name: 'streamer', ready: false, restartCount: 1, [which]: { terminated: end } };
  return { ...pod, status: { ...pod.status, containerStatuses: [status] } };
};
const withCondition = (pod: Pod, reason: string): Pod => ({
  ...pod,
  status: { ...pod.status, conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] },
});

const onAir = (spec: Parameters<typeof stream>[0] = {}, more: Partial<LoopStream> = {}): LoopStream =>
  stream(spec, { ...more, status: { podUID: POD.metadata.uid, sessions: [OPEN], ...more.status } });
const gated = (conditionType: string): LoopStream =>
  onAir(
    { readinessGates: [{ conditionType }] },
    {
      status: {
        conditions: [
          { type: conditionType, status: 'False', reason: 'Shut', message: '', lastTransitionTime: kubeTime(NOW) },
        ],
      },
    },
  );
const ENDED = { startAt: kubeTime(at(-7200)), endAt: kubeTime(at(-60)) };

describe('a session that the operator ends', () => {
  const outdated: Pod = {
    ...POD,
    metadata: { ...POD.metadata, annotations: { ...POD.metadata.annotations, [TEMPLATE_HASH_ANNOTATION]: 'x.y' } },
  };
  const own = (POD.metadata.annotations?.[TEMPLATE_HASH_ANNOTATION] ?? '').split('.')[0];
  const ofOldOperator: Pod = {
    ...POD,
    metadata: { ...POD.metadata, annotations: { ...POD.metadata.annotations, [TEMPLATE_HASH_ANNOTATION]: `${own}.y` } },
  };

  it.each<[SessionEnd, LoopStream, Partial<Parameters<typeof step>[1]>]>([
    ['Stopped', onAir({ replicas: 0 }), {}],
    ['Suspended', onAir({ suspend: true }), {}],
    ['Deleted', onAir({}, { metadata: { ...meta('bunny'), deletionTimestamp: kubeTime(NOW) } }), {}],
    ['ScheduleEnded', onAir({ schedule: ENDED }), {}],
    ['CreditUsedUp', gated(CREDIT_CONDITION), {}],
    ['GateClosed', gated('example.com/Rights'), {}],
    ['Edited', onAir(), { pod: outdated }],
    ['Updated', onAir(), { pod: ofOldOperator, mayRoll: true }],
    ['NodeDrained', onAir(), { node: cordoned }],
  ])('says %s, from when its pod is going, whatever happens to it afterwards', (reason, loopStream, seen) => {
    const { decision } = step(loopStream, { ...world({ pod: seen.pod ?? POD }), ...seen });
    const { ends } = decision;
    expect(ends).toBe(reason);
    const stays = computeSessions(loopStream, [readPodTime(POD)], true, at(1), ends).sessions;
    expect(stays, 'a pod that is not going').toEqual([OPEN]);
    const { sessions } = computeSessions(loopStream, [readPodTime(going(POD))], true, at(1), ends);
    expect(sessions).toEqual([{ ...OPEN, endReason: reason }]);
    // Meanwhile somebody has started it again, and its process did not end well.
    const killed = terminated(going(POD), { exitCode: 137, reason: 'OOMKilled' });
    const restarted = stream({}, { status: { sessions } });
    const [closed] = computeSessions(restarted, [readPodTime(killed)], true, at(2)).sessions;
    expect(closed).toMatchObject({ endReason: reason, endedAt: kubeTime(at(2)) });
  });

  it('says so where nobody saw the pod between its deletion and its end', () => {
    const over = terminated(going(POD));
    const { sessions } = computeSessions(onAir({ replicas: 0 }), [readPodTime(over)], true, at(9), 'Stopped');
    expect(sessions).toMatchObject([{ endReason: 'Stopped' }]);
  });
});

describe('a session that ends by itself', () => {
  it.each<[SessionEnd, Pod]>([
    ['ProcessEnded', terminated(POD, { exitCode: 1 }, 'lastState')],
    ['OutOfMemory', terminated(POD, { exitCode: 137, reason: 'OOMKilled' }, 'lastState')],
    ['PodDeleted', terminated(going(POD))],
    ['PodEvicted', withCondition(terminated(going(POD)), 'EvictionByEvictionAPI')],
    ['PodEvicted', { ...POD, status: { phase: 'Failed', reason: 'Evicted' } }],
    ['NodeLost', { ...POD, status: { phase: 'Failed', reason: 'NodeOutOfService' } }],
    ['NodeLost', withCondition({ ...going(POD), status: { phase: 'Failed' } }, 'DeletionByPodGC')],
  ])('says %s by what Kubernetes says of its pod', (reason, pod) => {
    const run = { run: 7, startedAt: kubeTime(NOW), lastAt: kubeTime(at(60)), onAirSeconds: 60 };
    const time = { ...readPodTime(pod, [run]), endedThrough: 7 };
    expect(computeSessions(onAir(), [time], true, at(61)).sessions[0]).toMatchObject({
      onAirSeconds: 60,
      endReason: reason,
    });
  });

  it('says nothing where nobody knows, as those of earlier operators', () => {
    const [closed] = computeSessions(onAir(), [], true, at(61)).sessions;
    expect(closed).toEqual({ ...OPEN, endedAt: kubeTime(at(61)) });
    expect(findSessionEnd(closed?.endReason).code).toBe('end_unknown');
    expect(findSessionEnd('OfANewerOperator').code).toBe('end_unknown');
    expect(findSessionEnd('toString').code).toBe('end_unknown');
    expect(findSessionEnd('NodeLost')).toBe(SESSION_ENDS.NodeLost);
  });

  it('of several that become one is said where it was the same', () => {
    const many = (reason: (i: number) => string): Session[] =>
      Array.from({ length: MAX_SESSIONS + 1 }, (_, i) => ({
        ...OPEN,
        number: i + 1,
        endedAt: kubeTime(at(1)),
        endReason: reason(i),
      }));
    const merge = (sessions: Session[]) =>
      computeSessions(stream({}, { status: { sessions } }), [], true, at(9)).sessions[0];
    expect(merge(many(() => 'ProcessEnded'))).toMatchObject({ through: 2, endReason: 'ProcessEnded' });
    expect(merge(many((i) => (i === 0 ? 'Stopped' : 'ProcessEnded')))).not.toHaveProperty('endReason');
  });
});

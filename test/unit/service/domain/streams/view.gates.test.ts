import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { isSameStatus } from '../../../../../src/core/operator/runtime/controller.ts';
import { withoutPod } from '../../../../../src/core/operator/stream/refusals.ts';
import { buildStatus, buildStreamEvents } from '../../../../../src/core/operator/stream/status.ts';
import { type Condition, findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { readGates } from '../../../../../src/core/resources/stream/readiness.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { toReadiness } from '../../../../../src/service/domain/streams/view.ts';
import { at, makePod, NOW, refusal, step, stream, world } from '../../../../kit/make/operator.ts';

const readinessGates = [{ conditionType: 'CreditAvailable' }];
/** Returns the stream with a condition of another author. */
function addCondition(
  loopStream: LoopStream,
  status: Condition['status'],
  reason = 'InsufficientCredits',
  message = 'The balance is used up.',
): LoopStream {
  const condition = { type: 'CreditAvailable', status, reason, message };
  const conditions = (loopStream.status?.conditions ?? []).filter(({ type }) => type !== 'CreditAvailable');
  const lastTransitionTime = kubeTime(at(7));
  return {
    ...loopStream,
    status: { ...loopStream.status, conditions: [...conditions, { ...condition, lastTransitionTime }] },
  };
}
const events = (before: LoopStream, after: LoopStream) =>
  buildStreamEvents(before.status, after.status ?? {}, readGates(before.spec, before.status?.conditions));

describe('a readiness gate', () => {
  const gated = stream({ readinessGates });
  const live = (loopStream: LoopStream) => makePod(loopStream, { ready: true });

  it('keeps a stream off air until somebody has said that it is open', () => {
    const { decision, stream: after } = step(gated, world());
    expect(decision).toMatchObject({ phase: 'waiting', ready: false, action: { do: 'nothing' } });
    expect(toReadiness(after).issues).toMatchObject([{ code: 'not_reported', field: '' }]);
    expect(findCondition(after.status?.conditions, 'CreditAvailable')).toBeUndefined();
    expect(step(addCondition(after, 'True'), world()).decision).toMatchObject({ phase: 'starting', ready: true });
  });

  it('that closes takes the stream off air, says why everywhere, and lets it go on where it stands when it opens', () => {
    const before = step(addCondition(gated, 'True'), world({ pod: live(gated) })).stream;
    expect(before.status).toMatchObject({ phase: 'live', canStart: true });
    const shut = addCondition(before, 'False');
    const stopping = step(shut, world({ pod: live(gated), now: at(60) }));
    expect(stopping.decision).toMatchObject({ phase: 'stopping', action: { do: 'delete' }, epoch: kubeTime(NOW) });
    const [, told] = events(shut, stopping.stream);
    const fix = 'Add credit; the stream then goes on air automatically.';
    expect(told).toMatchObject({ type: 'Warning', reason: 'NotReady', message: `The balance is used up. ${fix}` });
    const waiting = step(addCondition(stopping.stream, 'False'), world({ now: at(61) }));
    expect(waiting.decision).toMatchObject({ phase: 'waiting', action: { do: 'nothing' }, epoch: kubeTime(NOW) });
    expect(events(addCondition(stopping.stream, 'False'), waiting.stream)).toEqual([]);
    const shown = addCondition(waiting.stream, 'False');
    expect(toReadiness(shown)).toEqual({
      ready: false,
      warnings: [],
      prepared: 1,
      estimatedReadyAt: null,
      issues: [
        { code: 'insufficient_credits', message: 'The balance is used up.', fix, field: '', since: kubeTime(at(7)) },
      ],
    });
    const again = step(addCondition(waiting.stream, 'True'), world({ now: at(90) }));
    expect(again.decision).toMatchObject({ action: { do: 'create', program: { epoch: kubeTime(NOW) } } });
  });

  it('that stays closed is warned of once, in whatever words its author describes it', () => {
    const opened = step(addCondition(gated, 'True'), world({ pod: live(gated) })).stream;
    const shut = addCondition(opened, 'False');
    const stopping = step(shut, world({ pod: live(gated), now: at(60) })).stream;
    expect(findCondition(stopping.status?.conditions, 'Progressing')?.reason).toBe('GateClosed');
    expect(events(shut, stopping).filter(({ reason }) => reason === 'NotReady')).toHaveLength(1);
    const reworded = addCondition(stopping, 'False', 'InsufficientCredits', 'The balance is -3.');
    const waiting = step(reworded, world({ now: at(61) })).stream;
    expect(findCondition(waiting.status?.conditions, 'Progressing')).toMatchObject({
      reason: 'GateClosed',
      message: 'The balance is -3.',
    });
    expect(events(reworded, waiting)).toEqual([]);
  });

  it('without a condition any more takes nothing off air', () => {
    const { decision } = step(gated, world({ pod: live(gated) }));
    expect(decision).toMatchObject({ phase: 'live', ready: false, action: { do: 'nothing' } });
  });

  it('of another name has a code made of its reason, and a condition that is no gate keeps nothing off air', () => {
    const other = { ...addCondition(stream(), 'False', 'PaymentOverdue'), spec: gated.spec };
    const [, issue] = toReadiness({ ...other, status: { ...other.status } }).issues.filter(
      ({ code }) => code !== 'not_checked',
    );
    expect(issue).toBeUndefined();
    expect(toReadiness(other).issues.at(-1)).toMatchObject({
      code: 'payment_overdue',
      fix: 'Make the condition "CreditAvailable" true; the stream then goes on air automatically.',
    });
    expect(step(addCondition(stream(), 'False'), world()).decision).toMatchObject({ phase: 'starting', ready: true });
  });
});

describe('PodScheduled', () => {
  const loopStream = stream();
  const onNode = (pod: Pod): Pod => ({ ...pod, spec: { ...pod.spec, nodeName: 'node-a' } });
  const unschedulable = ({ metadata, spec: { nodeName: _, ...spec } }: Pod): Pod => ({
    metadata,
    spec,
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available.' },
      ],
    },
  });
  const condition = ({ status }: LoopStream) => findCondition(status?.conditions, 'PodScheduled');

  it('says that no node takes the pod, in the words of the scheduler, and it is an issue until one does', () => {
    const { decision, stream: after } = step(loopStream, world({ pod: unschedulable(makePod(loopStream)) }));
    expect(decision).toMatchObject({ phase: 'starting', ready: false });
    const message = 'No node accepts the pod: 0/3 nodes are available.';
    expect(condition(after)).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message,
      observedGeneration: 1,
    });
    expect(toReadiness(after).issues).toMatchObject([{ code: 'unschedulable', message }]);
    expect(events(loopStream, after).map(({ message: told }) => told)).toContainEqual(
      expect.stringMatching(/^No node accepts the pod: .* Give the cluster a node with room for the pod, or change/),
    );
    const scheduled = step(after, world({ pod: onNode(makePod(loopStream, { ready: true })) })).stream;
    expect(condition(scheduled)).toMatchObject({ status: 'True', message: 'The pod is on node "node-a".' });
    expect(toReadiness(scheduled).ready).toBe(true);
    expect(condition(step(scheduled, world()).stream)).toBeUndefined();
  });

  it('is true for a pod on a node, also when the scheduler’s condition is late', () => {
    const live = onNode(makePod(loopStream, { ready: true }));
    const late = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: '0/3 nodes.' };
    const conditions = [...(live.status?.conditions ?? []).filter(({ type }) => type !== late.type), late];
    const { decision, stream: after } = step(
      loopStream,
      world({ pod: { ...live, status: { ...live.status, conditions } } }),
    );
    expect(decision.ready).toBe(true);
    expect(condition(after)).toMatchObject({ status: 'True', message: 'The pod is on node "node-a".' });
  });

  it('costs no write of its own: the live stream’s status reports the found node', () => {
    const made = step(loopStream, world({ pod: makePod(loopStream) })).stream;
    expect(condition(made)?.status).toBe('Unknown');
    const bound = step(made, world({ pod: onNode(makePod(loopStream)), now: at(5) })).stream;
    expect(isSameStatus(made.status, bound.status ?? {})).toBe(true);
    const live = step(bound, world({ pod: onNode(makePod(loopStream, { ready: true })) })).stream;
    expect(condition(live)?.status).toBe('True');
    expect(condition(step(live, world({ pod: onNode(makePod(loopStream)) })).stream)?.status).toBe('True');
  });

  it('says that Kubernetes refuses the pod, in words that stay the same while it is tried again', () => {
    for (const [words, reason] of [
      [
        'pods "bunny-onair" is forbidden: exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5',
        'QuotaExceeded',
      ],
      ['spec.x: Invalid value', 'PodRefused'],
    ] as const) {
      // The used amount changes with other accounts' pods.
      const message = words.replace(' used: pods=5,', '');
      const decision = withoutPod(
        { ...world(), stream: loopStream },
        step(loopStream, world()).decision,
        refusal(words),
      );
      expect(decision).toMatchObject({ phase: 'waiting', ready: false, action: { do: 'nothing' } });
      const written = { ...loopStream, status: buildStatus(loopStream, decision, undefined, world()) };
      expect(condition(written)).toMatchObject({ status: 'False', reason, message });
      expect(toReadiness(written).issues).toHaveLength(1);
      const next = step(written, world({ now: at(60) })).decision;
      expect(next.action.do).toBe('create');
      const refused = withoutPod({ ...world(), stream: written }, next, refusal(words));
      expect(isSameStatus(written.status, buildStatus(written, refused, undefined, world()))).toBe(true);
    }
  });
});

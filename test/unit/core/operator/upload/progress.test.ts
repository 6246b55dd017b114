import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { findAddressToAsk } from '../../../../../src/core/operator/pods/status.ts';
import { wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { computeProgress, hasMoved, isActive } from '../../../../../src/core/operator/upload/progress.ts';
import { endedPod, makeJob, meta, upload } from '../../../../kit/make/operator.ts';

describe('the progress that is shown', () => {
  it.each([
    ['nothing is known', [undefined], undefined, 0],
    ['there is nothing to do', [], undefined, 0],
    ['one of two is done', [1, undefined], undefined, 0.5],
    ['it has gone a step', [0.35], 0.3, 0.35],
    ['it has gone less than a step', [0.34], 0.3, 0.3],
    ['a pod began anew', [0.1], 0.3, 0.1],
    ['a pod cannot be asked', [undefined], 0.3, 0.3],
    ['one cannot be asked and the other goes on', [0.8, undefined], 0.3, 0.4],
    ['one is done and the other just began', [1, undefined], 0.3, 0.5],
    ['thirds are met', [1, 0, 0], undefined, 0.33],
  ])('when %s', (_what, parts, shown, expected) => {
    expect(computeProgress(parts, shown)).toBe(expected);
  });

  it('takes at most twenty-one writes from the start to the end', () => {
    let shown = 0;
    let writes = 0;
    for (let step = 0; step <= 1000; step++) {
      const next = computeProgress([step / 1000], shown);
      if (next !== shown) writes++;
      shown = next;
    }
    expect(writes).toBeLessThanOrEqual(21);
    expect(shown).toBeGreaterThan(0.94);
  });

  it('is read when the pod is first known, and then after each step', () => {
    expect([hasMoved(undefined, 0), hasMoved(0.1, 0.14), hasMoved(0.1, 0.15), hasMoved(0.5, 0)]).toEqual([
      ...[true, false, true, true],
    ]);
  });
});

describe('the pod to ask', () => {
  const pod = (status: Pod['status']): Pod => ({ metadata: meta('p'), spec: {}, ...(status && { status }) });

  it('is the pod that runs, at its address', () => {
    const running = pod({ phase: 'Running', podIP: '10.0.0.7' });
    expect(findAddressToAsk([pod(undefined), pod({ phase: 'Pending' }), running])).toBe('10.0.0.7');
    expect(findAddressToAsk([pod({ phase: 'Running', podIP: 'fd00::7' })])).toBe('[fd00::7]');
  });

  it('is none when no pod runs, or none has an address', () => {
    const going = pod({ phase: 'Running', podIP: '10.0.0.7' });
    going.metadata.deletionTimestamp = '2026-06-01T12:00:00Z';
    expect(findAddressToAsk([pod({ phase: 'Running' }), endedPod(''), going])).toBeUndefined();
  });

  it('is none once the Job has ended', () => {
    const job = (...conditions: { type: string; status: string }[]) =>
      makeJob(upload(), wantImport(upload()), conditions);
    expect(isActive(job())).toBe(true);
    expect(isActive(job({ type: 'Complete', status: 'False' }))).toBe(true);
    for (const type of ['Complete', 'Failed']) expect(isActive(job({ type, status: 'True' }))).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { decideTest, type TestObservation } from '../../../../../src/core/operator/destination/test.ts';
import { buildTestPod } from '../../../../../src/core/operator/destination/test-pod.ts';
import { probeConfig } from '../../../../../src/core/protocol/environment.ts';
import { ACCOUNT_LABEL, TEST_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import type { ProbeResult } from '../../../../../src/core/resources/destination/spec.ts';
import { at, destination, endedPod, meta, NAMESPACE, NOW, SETTINGS } from '../../../../kit/make/operator.ts';

const ID = `${NOW.toISOString()} tst-1`;
const PASSED: ProbeResult = { ok: true, stage: 'publish', message: 'The destination accepts media.', tookMs: 2500 };

const buildRequested = (id = ID, done?: string): Destination => {
  const made = destination();
  return {
    ...made,
    metadata: { ...made.metadata, annotations: { [TEST_ANNOTATION]: id } },
    status: { ...made.status, ...(done !== undefined && { test: { id: done, ...PASSED, finishedAt: 'then' } }) },
  };
};

const probePod = (status: Pod['status'] = { phase: 'Pending' }, version = '7'): Pod => {
  const built = buildTestPod(destination(), version, SETTINGS);
  return { ...built, metadata: { ...built.metadata, ...meta(built.metadata.name) }, status };
};
const ended = (answer: ProbeResult | string, exitCode = 0) =>
  probePod(endedPod(typeof answer === 'string' ? answer : JSON.stringify(answer), exitCode).status);

const world = (more: Partial<TestObservation> = {}): TestObservation => ({
  ready: { status: 'True', message: 'Fine.' },
  secretVersion: '7',
  pod: undefined,
  onAir: [],
  now: at(5),
  ...more,
});
const result = (id: string, code: string, message: unknown = expect.any(String)) => ({
  id,
  ok: false,
  stage: 'resolve',
  code,
  message,
  tookMs: 0,
  finishedAt: '2026-06-01T12:00:05Z',
  secretVersion: '7',
});

describe('a test that is asked for', () => {
  it('has a pod made, and no other while that is on its way', () => {
    expect(decideTest(buildRequested(), world())).toEqual({ make: true, requeueAfterMs: 1000 });
    expect(decideTest(buildRequested(), world({ pod: probePod() }))).toEqual({ requeueAfterMs: 1000 });
  });

  it('is over with its pod’s result, and the pod goes then', () => {
    const pod = ended(PASSED);
    expect(decideTest(buildRequested(), world({ pod }))).toEqual({
      result: { id: ID, ...PASSED, finishedAt: '2026-06-01T12:00:05Z', secretVersion: '7' },
      remove: pod,
    });
  });

  it('is done once: with its result written nothing is left but to take the pod away', () => {
    const pod = ended(PASSED);
    expect(decideTest(buildRequested(ID, ID), world({ pod }))).toEqual({ remove: pod });
    expect(decideTest(buildRequested(ID, ID), world())).toEqual({});
    expect(decideTest(destination(), world())).toEqual({});
  });

  it('while one is under way is one with it', () => {
    const later = buildRequested(`${at(3).toISOString()} tst-2`, 'an earlier one');
    expect(decideTest(later, world({ pod: probePod() }))).toEqual({ requeueAfterMs: 1000 });
    const pod = ended(PASSED);
    expect(decideTest(later, world({ pod })).result?.id).toBe(`${at(3).toISOString()} tst-2`);
  });

  it('after a change of the Secret gets no answer about the old one', () => {
    const pod = ended(PASSED);
    expect(decideTest(buildRequested(), world({ pod, secretVersion: '8' }))).toEqual({
      remove: pod,
      requeueAfterMs: 1000,
    });
    const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: 'now' } };
    expect(decideTest(buildRequested(), world({ pod: going, secretVersion: '8' }))).toEqual({ requeueAfterMs: 1000 });
  });
});

describe('a test that cannot be made says why', () => {
  const stranger = { ...probePod(), metadata: { ...meta('test-uid-of-tv'), ownerReferences: [] } };
  const cases: [what: string, is: Destination, world: Partial<TestObservation>, code: string, says: RegExp][] = [
    [
      'of a destination that is not ready',
      buildRequested(),
      { ready: { status: 'False', message: 'Secret "x" does not exist.' } },
      'not_configured',
      /^Secret "x" does not exist\.$/,
    ],
    ['while a stream is on air there', buildRequested(), { onAir: ['bunny'] }, 'on_air', /would interrupt .*: bunny/],
    ['for which nobody waits any more', buildRequested(`${at(-200).toISOString()} x`), {}, 'not_run', /too old/],
    ['whose pod has its name taken', buildRequested(), { pod: stranger }, 'not_run', /does not belong/],
  ];
  it.each(cases)('%s', (_what, is, more, code, says) => {
    const id = is.metadata.annotations?.[TEST_ANNOTATION] ?? '';
    expect(decideTest(is, world(more))).toEqual({ result: result(id, code, expect.stringMatching(says)) });
  });

  const now = at(5);
  const unschedulable = probePod({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
  });
  const pods: [what: string, pod: Pod, now: Date, says: RegExp][] = [
    ['that ended without a word', ended('', 137), now, /without a result/],
    ['that ended with other words', ended('{"ok":1}'), now, /without a result/],
    ['that ran for too long', probePod({ phase: 'Failed', reason: 'DeadlineExceeded' }), now, /DeadlineExceeded/],
    ['that no node takes', unschedulable, at(26), /No node accepts the pod: 0\/3 nodes/],
    ['that does not end', probePod({ phase: 'Running' }), at(91), /did not end in time/],
  ];
  it.each(pods)('by a pod %s', (_what, pod, when, says) => {
    const { result: told, remove } = decideTest(buildRequested(), world({ pod, now: when }));
    expect(told).toMatchObject({ id: ID, ok: false, code: 'not_run', message: expect.stringMatching(says) });
    expect(remove).toBe(pod);
  });

  it('but not before there was time for it', () => {
    expect(decideTest(buildRequested(), world({ pod: unschedulable, now: at(24) }))).toEqual({ requeueAfterMs: 1000 });
    const running = probePod({ phase: 'Running' });
    expect(decideTest(buildRequested(), world({ pod: running, now: at(60) }))).toEqual({ requeueAfterMs: 1000 });
  });

  it('without a time of its own, as a person may write it, at any time', () => {
    expect(decideTest(buildRequested('please'), world({ now: at(86_400) })).make).toBe(true);
  });

  it('and a stream that goes on air meanwhile has its pod taken away', () => {
    const pod = probePod({ phase: 'Running' });
    expect(decideTest(buildRequested(), world({ pod, onAir: ['bunny'] }))).toMatchObject({
      result: { code: 'on_air' },
      remove: pod,
    });
  });
});

describe('the pod of a test', () => {
  const owned = { ...destination(), metadata: { ...meta('tv'), labels: { [ACCOUNT_LABEL]: 'ann' } } };
  const pod = buildTestPod(owned, '7', SETTINGS);
  // biome-ignore lint/suspicious/noExplicitAny: the builder's answer has the shape of a pod, which is not typed here.
  const spec = JSON.parse(JSON.stringify(pod.spec)) as any;
  const [container] = spec.containers;

  it('has a name that depends on the destination alone, belongs to it, and holds nothing back', () => {
    expect(pod.metadata).toMatchObject({
      name: 'test-uid-of-tv',
      namespace: NAMESPACE,
      labels: { 'app.kubernetes.io/component': 'probe', [ACCOUNT_LABEL]: 'ann' },
    });
    expect(pod.metadata.ownerReferences).toEqual([
      { apiVersion: 'loopstream.dev/v1beta1', kind: 'Destination', name: 'tv', uid: 'uid-of-tv', controller: true },
    ]);
  });

  it('is tried once and within a time, with no token, no storage, and nowhere to write but /tmp', () => {
    expect(spec).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false });
    expect(spec.activeDeadlineSeconds).toBeLessThanOrEqual(60);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(spec.volumes.map(({ name }: { name: string }) => name)).toEqual(['tmp', 'destination']);
    expect(container.resources.limits.memory).toBeDefined();
  });

  it('is given the keys of its Secret as files, those of a login only where it has one, and reads them there', () => {
    // The chart's policy lets the operator's pods have this kind of volume.
    expect(spec.volumes[1].secret).toEqual({
      secretName: 'tv-secret',
      defaultMode: 0o440,
      optional: true,
      items: ['rtmpUrl', 'rtmpKey', 'rtmpUser', 'rtmpPassword'].map((key) => ({ key, path: key })),
    });
    const env = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
    const [, mount] = container.volumeMounts;
    expect(probeConfig(env)).toMatchObject({
      destinationDir: mount.mountPath,
      resultFile: container.terminationMessagePath,
    });
    expect(container.args).toEqual(['probe']);
  });
});

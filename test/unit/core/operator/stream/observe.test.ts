/** Tests what the operator takes for the pods of a stream. */
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import type { StreamControllerDeps } from '../../../../../src/core/operator/stream/controller-deps.ts';
import { observeStream } from '../../../../../src/core/operator/stream/observe.ts';
import { FINALIZER, podNames } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { makePod, NOW, SETTINGS, stream } from '../../../../kit/make/operator.ts';

const [FIRST = '', SECOND = ''] = podNames('bunny');

/** A stream that had a pod before, as its finalizer says. */
const makeChannel = (metadata: Partial<LoopStream['metadata']> = {}): LoopStream => {
  const made = stream();
  return { ...made, metadata: { ...made.metadata, finalizers: [FINALIZER], ...metadata } };
};

function observe(loopStream: LoopStream, pods: readonly Pod[]) {
  const none = { get: () => undefined };
  const caches = {
    playlists: none,
    uploads: none,
    destinations: none,
    pods: { get: (_: string, name: string) => pods.find(({ metadata }) => metadata.name === name) },
  };
  const deps = { caches, settings: SETTINGS, streamers: { report: () => undefined }, rollout: { mayRoll: () => true } };
  return observeStream(deps as unknown as StreamControllerDeps, loopStream, NOW);
}

function makeNamedPod(loopStream: LoopStream, name: string, metadata: Partial<Pod['metadata']> = {}): Pod {
  const made = makePod(loopStream, { ready: true });
  return { ...made, metadata: { ...made.metadata, name, uid: `uid-of-${name}`, ...metadata } };
}

describe('a pod with a name of a stream’s pods', () => {
  it.each([
    ['has no owner', []],
    ['belongs to a stream of this name that was before', [{ controller: true, uid: 'earlier' }]],
    ['names the stream, which is not its controller', [{ controller: false, uid: 'uid-of-bunny' }]],
  ])('is never taken for the stream’s where it %s', (_what, ownerReferences) => {
    const foreign = makeNamedPod(makeChannel(), FIRST, { ownerReferences: ownerReferences as never });
    const alone = observe(makeChannel(), [foreign]);
    expect(alone).toMatchObject({ isNameTaken: true, lacksFinalizer: false, freeName: SECOND });
    expect([alone.pod, alone.other, alone.mayRoll]).toEqual([undefined, undefined, undefined]);
    const own = makeNamedPod(makeChannel(), SECOND);
    const both = observe(makeChannel(), [foreign, own]);
    expect(both).toMatchObject({ pod: own, isNameTaken: false });
    expect([both.other, both.freeName]).toEqual([undefined, undefined]);
  });
});

describe('a finalizer is missing', () => {
  const own = (metadata: Partial<Pod['metadata']> = {}) => makeNamedPod(makeChannel(), FIRST, metadata);
  const bare = own({ finalizers: [] });
  it.each<[string, LoopStream, Pod[], boolean]>([
    ['no: both have theirs', makeChannel(), [own()], false],
    ['on the stream', makeChannel({ finalizers: ['other'] }), [own()], true],
    ['on its pod', makeChannel(), [bare], true],
    ['on its other pod', makeChannel(), [own(), makeNamedPod(makeChannel(), SECOND, { finalizers: [] })], true],
    [
      'no: the pod is going, and takes no finalizer any more',
      makeChannel(),
      [own({ finalizers: [], deletionTimestamp: 'now' })],
      false,
    ],
    ['no: the pod is over', makeChannel(), [{ ...bare, status: { phase: 'Succeeded' } }], false],
    ['no: the stream is deleted', makeChannel({ finalizers: [], deletionTimestamp: 'now' }), [bare], false],
    ['no: a stream without pods needs none', makeChannel({ finalizers: [] }), [], false],
  ])('%s', (_what, loopStream, pods, expected) => {
    expect(observe(loopStream, pods).lacksFinalizer).toBe(expected);
  });
});

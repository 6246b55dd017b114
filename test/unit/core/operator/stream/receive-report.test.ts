import { expect, onTestFinished, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import type { Caches } from '../../../../../src/core/operator/caches/caches.ts';
import { createReportReceiver } from '../../../../../src/core/operator/stream/receive-report.ts';
import { createStreamers, FOLLOW } from '../../../../../src/core/operator/stream/streamers.ts';
import type { Grant } from '../../../../../src/core/protocol/grant.ts';
import { CONTROL_SECRET_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { makePod, NOW, stream } from '../../../../kit/make/operator.ts';

const GRANT: Grant = { publisher: 'uid-of-bunny-onair', viewToken: 'view-token' };
const UID = makePod(stream()).metadata.uid;
const REPORT = { playable: true, live: false, clock: { video: { version: 1, epoch: NOW.toISOString() }, audio: null } };
const HELD = { ...REPORT, held: true };

/** Starts a receiver of the reports of one pod. `asked` has the UIDs of the pods for which a grant was wanted. */
function startReceiver({ isFirst = true, mayPublish = true, owner = 'uid-of-bunny' } = {}) {
  const lifecycle = new Lifecycle();
  onTestFinished(() => lifecycle.stop());
  const pod = makePod(stream());
  pod.metadata.ownerReferences = [{ ...pod.metadata.ownerReferences?.[0], controller: true, uid: owner } as never];
  if (isFirst) Object.assign(pod.metadata.annotations ?? {}, { [CONTROL_SECRET_ANNOTATION]: 'tv-secret' });
  const pods = {
    list: () => [],
    onChange: () => () => undefined,
    byIndex: (_: string, uid: string) => (uid === pod.metadata.uid ? [pod] : []),
  };
  const caches = { pods, streams: { get: () => stream() } } as unknown as Caches;
  const streamers = createStreamers(lifecycle);
  streamers.follow(caches.pods, () => undefined, FOLLOW);
  const asked: string[] = [];
  const grantFirst = async (_: unknown, { metadata }: Pod) => {
    asked.push(metadata.uid);
    return mayPublish ? GRANT : undefined;
  };
  const tokens = { check: async (_: unknown, __: unknown, token: string) => token === 'right' };
  const clock = { now: () => NOW, monotonicMs: () => 0 };
  const receive = createReportReceiver(caches, tokens, streamers, grantFirst, clock);
  let bodies = 0;
  const push = (report: unknown, { podUid = UID, token = 'right' } = {}) => {
    const readBody = async () => {
      bodies++;
      return report;
    };
    return receive({ podUid, token, readBody });
  };
  return {
    push,
    asked,
    isHeld: () => streamers.report(UID)?.held,
    kept: () => streamers.report(UID),
    read: () => bodies,
  };
}

test('a held report of a first pod is answered with the grant, and kept as not held', async () => {
  const { push, asked, kept, isHeld } = startReceiver();
  expect(await push(HELD)).toEqual({ result: 'accepted', grant: GRANT });
  expect(asked).toEqual([UID]);
  expect(kept()).toBeDefined();
  expect(isHeld()).toBeUndefined();
});

test('a first pod that reports that it is held once more is granted again, since the answer may be lost', async () => {
  const { push } = startReceiver();
  await push(HELD);
  expect(await push(HELD)).toEqual({ result: 'accepted', grant: GRANT });
});

test('a held report of a first pod that may not publish is kept as held', async () => {
  const { push, asked, isHeld } = startReceiver({ mayPublish: false });
  expect(await push(HELD)).toEqual({ result: 'accepted', grant: undefined });
  expect(asked).toEqual([UID]);
  expect(isHeld()).toBe(true);
});

test('a held report of any other pod asks for no grant, and is kept as held', async () => {
  const { push, asked, isHeld } = startReceiver({ isFirst: false });
  expect(await push(HELD)).toEqual({ result: 'accepted', grant: undefined });
  expect(asked).toEqual([]);
  expect(isHeld()).toBe(true);
});

test('a report of a first pod that publishes asks for no grant', async () => {
  const { push, asked, isHeld } = startReceiver();
  for (const report of [REPORT, { ...REPORT, held: false }, { ...REPORT, held: 'true' }])
    expect(await push(report)).toEqual({ result: 'accepted', grant: undefined });
  expect(asked).toEqual([]);
  expect(isHeld()).toBeUndefined();
});

test.each([
  ['with a wrong token', {}, { token: 'wrong' }, 'wrong_token'],
  ['without a token', {}, { token: '' }, 'wrong_token'],
  ['of a pod that nobody knows', {}, { podUid: 'uid-of-another' }, 'unknown_pod'],
  ['of a pod that the stream does not own', { owner: 'uid-of-another' }, {}, 'unknown_pod'],
])('a report %s asks for no grant, and is not read', async (_what, place, sender, result) => {
  const { push, asked, kept, read } = startReceiver(place);
  expect(await push(HELD, sender)).toEqual({ result });
  expect(asked).toEqual([]);
  expect(kept()).toBeUndefined();
  expect(read()).toBe(0);
});

test('what is no report is answered without a grant', async () => {
  const { push, kept } = startReceiver();
  for (const nothing of [undefined, null, [], 'held', { held: true }])
    expect(await push(nothing)).toEqual({ result: 'invalid' });
  expect(kept()).toBeUndefined();
});

test('a pod that asks without end is asked to wait, and asks for no more grants', async () => {
  const { push, asked } = startReceiver({ mayPublish: false });
  const results: string[] = [];
  for (let n = 0; n < 100; n++) results.push((await push(HELD)).result);
  expect(results.at(-1)).toBe('too_many');
  expect(asked).toHaveLength(results.filter((result) => result === 'accepted').length);
  expect(asked.length).toBeLessThan(50);
});

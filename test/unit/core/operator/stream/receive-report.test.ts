import { expect, onTestFinished, test } from 'vitest';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import type { Caches } from '../../../../../src/core/operator/caches/caches.ts';
import { createReportReceiver } from '../../../../../src/core/operator/stream/receive-report.ts';
import { createStreamers } from '../../../../../src/core/operator/stream/streamers.ts';
import { makePod, NOW, stream } from '../../../../kit/make/operator.ts';

const UID = makePod(stream()).metadata.uid;
const REPORT = { playable: true, live: false, clock: { video: { version: 1, epoch: NOW.toISOString() }, audio: null } };
const HELD = { ...REPORT, held: true };

/** Starts a receiver of the reports of one pod. */
function startReceiver({ owner = 'uid-of-bunny' } = {}) {
  const lifecycle = new Lifecycle();
  onTestFinished(() => lifecycle.stop());
  const pod = makePod(stream());
  pod.metadata.ownerReferences = [{ ...pod.metadata.ownerReferences?.[0], controller: true, uid: owner } as never];
  const pods = {
    list: () => [],
    onChange: () => () => undefined,
    byIndex: (_: string, uid: string) => (uid === pod.metadata.uid ? [pod] : []),
  };
  const caches = { pods, streams: { get: () => stream() } } as unknown as Caches;
  const streamers = createStreamers(lifecycle);
  streamers.follow(caches.pods, () => undefined, { silentMs: 600_000 });
  const tokens = { check: async (_: unknown, __: unknown, token: string) => token === 'right' };
  const clock = { now: () => NOW, monotonicMs: () => 0 };
  const receive = createReportReceiver(caches, tokens, streamers, clock);
  let bodies = 0;
  const push = (report: unknown, { podUid = UID, token = 'right' } = {}) => {
    const readBody = async () => {
      bodies++;
      return report;
    };
    return receive({ podUid, token, readBody });
  };
  return { push, kept: () => streamers.report(UID), read: () => bodies };
}

test('a report is kept as its pod says, whether it is held or publishes', async () => {
  const { push, kept } = startReceiver();
  expect(await push(HELD)).toBe('accepted');
  expect(kept()?.held).toBe(true);
  for (const report of [REPORT, { ...REPORT, held: false }, { ...REPORT, held: 'true' }]) {
    expect(await push(report)).toBe('accepted');
    expect(kept()?.held).toBeUndefined();
  }
});

test.each([
  ['with a wrong token', {}, { token: 'wrong' }, 'wrong_token'],
  ['without a token', {}, { token: '' }, 'wrong_token'],
  ['of a pod that nobody knows', {}, { podUid: 'uid-of-another' }, 'unknown_pod'],
  ['of a pod that the stream does not own', { owner: 'uid-of-another' }, {}, 'unknown_pod'],
])('a report %s is not read', async (_what, place, sender, result) => {
  const { push, kept, read } = startReceiver(place);
  expect(await push(HELD, sender)).toBe(result);
  expect(kept()).toBeUndefined();
  expect(read()).toBe(0);
});

test('what is no report is refused, and not kept', async () => {
  const { push, kept } = startReceiver();
  for (const nothing of [undefined, null, [], 'held', { held: true }]) expect(await push(nothing)).toBe('invalid');
  expect(kept()).toBeUndefined();
});

test('a pod that reports without end is asked to wait', async () => {
  const { push } = startReceiver();
  const results: string[] = [];
  for (let n = 0; n < 100; n++) results.push(await push(HELD));
  expect(results.at(-1)).toBe('too_many');
  expect(results.filter((result) => result === 'accepted').length).toBeLessThan(50);
});

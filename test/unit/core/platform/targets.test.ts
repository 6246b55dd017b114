/** Tests who is believed to publish to a destination, and since when. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../../src/core/kube/core.ts';
import { buildTarget, isSameTarget, type TargetDeps } from '../../../../src/core/platform/targets.ts';
import type { Destination } from '../../../../src/core/resources/destination/resource.ts';
import type { LoopStream } from '../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../../../src/core/resources/stream/spec.ts';
import { destination, meta, stream } from '../../../kit/make/operator.ts';

const LIVE_SINCE = '2026-06-01T12:00:00Z';
const CONNECTED_SINCE = '2026-06-01T12:30:00.250Z';
const WATCHED: Destination = {
  ...destination(),
  spec: {
    secretName: 'tv-secret',
    platform: { kind: 'watch', policy: 'Observe', url: 'https://tv.example/live.m3u8' },
  },
};
const POD = {
  metadata: { ...meta('bunny-onair'), uid: 'pod-1' },
  spec: { nodeName: 'a' },
  status: { phase: 'Running', podIP: '10.0.0.7' },
} as Pod;
const live = (status: Partial<LoopStreamStatus> = {}, more: Partial<LoopStream> = {}): LoopStream =>
  stream({}, { status: { phase: 'live', liveSince: LIVE_SINCE, podUID: 'pod-1', ...status }, ...more });

const build = (streams: LoopStream[], deps: Partial<TargetDeps> = {}, of = WATCHED) =>
  buildTarget(of, {
    streams,
    findPod: (uid) => (uid === POD.metadata.uid ? POD : undefined),
    findOutputs: () => undefined,
    readViewToken: async () => 'token',
    ...deps,
  });
const outputs = (connected: boolean, connectedSince?: string | null) => ({
  findOutputs: () => ({
    destinations: [{ name: 'tv', connected, ...(connectedSince !== undefined && { connectedSince }) }],
  }),
});

test('a destination without a platform is no target', () => {
  expect(build([live()], {}, destination())).toBeUndefined();
});

test('nobody publishes while no stream is sent there', () => {
  expect(build([])).toMatchObject({ key: 'tv/tv', publishing: null });
  expect(build([live({ phase: 'scheduled' })])?.publishing).toBeNull();
  expect(build([stream()])?.publishing).toBeNull();
});

test('nobody publishes while the pod has no address, or is gone', () => {
  expect(build([live()], { findPod: () => undefined })?.publishing).toBeNull();
  const starting = { ...POD, status: { phase: 'Pending' } } as Pod;
  expect(build([live()], { findPod: () => starting })?.publishing).toBeNull();
});

test('the pod says since when its output is connected', () => {
  const target = build([live()], outputs(true, CONNECTED_SINCE));
  expect(target?.publishing).toMatchObject({ sinceMs: Date.parse(CONNECTED_SINCE), podUrl: 'http://10.0.0.7:9400' });
});

test('an output that is not connected publishes nothing, although the stream is live elsewhere', () => {
  expect(build([live()], outputs(false, null))?.publishing).toBeNull();
  expect(build([live()], { findOutputs: () => ({ destinations: [] }) })?.publishing).toBeNull();
});

test('an output is connected while its stream waits for another one', () => {
  const target = build([live({ phase: 'reconnecting' })], outputs(true, CONNECTED_SINCE));
  expect(target?.publishing?.sinceMs).toBe(Date.parse(CONNECTED_SINCE));
});

test('a pod that has not answered, or does not say since when, publishes as long as its stream is live', () => {
  expect(build([live()])?.publishing?.sinceMs).toBe(Date.parse(LIVE_SINCE));
  expect(build([live()], outputs(true))?.publishing?.sinceMs).toBe(Date.parse(LIVE_SINCE));
});

test('a pod that has not answered does not publish where the status tells of a refusal', () => {
  const rejections = [{ destination: 'tv', reason: 'reset', message: 'No.', since: LIVE_SINCE }];
  expect(build([live({ rejections })])?.publishing).toBeNull();
});

test('of two streams the one that has published for longer has the key', () => {
  const other = live({ liveSince: '2026-06-01T11:00:00Z', podUID: 'pod-2' });
  const pod2 = { ...POD, status: { ...POD.status, podIP: 'fd00::2' } } as Pod;
  const target = build([live(), other], { findPod: (uid) => (uid === 'pod-2' ? pod2 : POD) });
  expect(target?.publishing?.podUrl).toBe('http://[fd00::2]:9400');
});

test('what an observer has reported makes no other target of it', () => {
  const before = build([live()]);
  const seen = {
    ...WATCHED,
    status: { platform: { checkedAt: LIVE_SINCE, expiresAt: LIVE_SINCE, lastSeenAt: LIVE_SINCE } },
  };
  const after = build([live()], {}, seen);
  expect(after?.lastSeenMs).toBe(Date.parse(LIVE_SINCE));
  expect(before && after && isSameTarget(before, after)).toBe(true);
  const edited = build([live()], { editedMs: 1 });
  expect(before && edited && isSameTarget(before, edited)).toBe(false);
});

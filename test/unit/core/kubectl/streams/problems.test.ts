/** Tests why a stream is off air: the operator's own decisions, in every phase, become one line and its fixes. */

import { expect, test } from 'vitest';
import { explain, listProblems } from '../../../../../src/core/kubectl/streams/problems.ts';
import { READINESS_ISSUES } from '../../../../../src/core/lib/codes/streams.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { destination, makePod, step, stream, upload, world } from '../../../../kit/make/operator.ts';

const decided = (one: LoopStream, ...[objects]: Parameters<typeof world>): LoopStream =>
  step(one, world(objects)).stream;
const codes = (one: LoopStream) => listProblems(one).map(({ code }) => code);

test('a stream that waits names its obstacle, with the fix of REST and GraphQL', () => {
  const waiting = decided(stream(), { destinations: [], uploads: [] });
  expect(explain(waiting).why).toBe('Destination "tv" does not exist.');
  expect(listProblems(waiting).map(({ code, fix }) => [code, fix])).toEqual([
    ['destination_not_found', READINESS_ISSUES.DestinationNotFound.fix],
    ['upload_not_found', READINESS_ISSUES.UploadNotFound.fix],
  ]);
});

test('a stream on air is explained by nothing, or by what it lacks', () => {
  const pod = makePod(stream(), { ready: true });
  const live = decided(stream(), { pod });
  expect(live.status?.phase).toBe('live');
  expect(explain(live)).toEqual({ why: '', since: live.status?.liveSince });
  expect(listProblems(live)).toEqual([]);
  const worse = structuredClone(live);
  const degraded = worse.status?.conditions?.find(({ type }) => type === 'Degraded');
  Object.assign(degraded ?? {}, {
    status: 'True',
    reason: 'DestinationReconnecting',
    message: 'The destination closed the connection.',
  });
  expect(explain(worse).why).toBe('The destination closed the connection.');
  expect(codes(worse)).toEqual(['destination_reconnecting']);
});

test('a stream off air says who wants it so, and what would keep it there', () => {
  const idle = decided(stream({ replicas: 0 }));
  expect(explain(idle).why).toBe('It was not started.');
  const unready = decided(stream({ replicas: 0 }), { destinations: [destination('tv', false)] });
  expect(explain(unready).why).toMatch(/^It was not started\. It could not start: Destination "tv": Secret/);
  expect(explain(decided(stream({ suspend: true }))).why).toBe('spec.suspend keeps the stream off air.');
  const later = decided(stream({ schedule: { startAt: '2099-01-01T00:00:00Z' } }));
  expect(explain(later).why).toMatch(/2099/);
});

test('a gate that is closed is the obstacle, with the condition to make true', () => {
  const gated = decided(stream({ readinessGates: [{ conditionType: 'Rehearsed' }] }));
  expect(codes(gated)).toEqual(['not_reported']);
  expect(explain(gated).why).toContain('"Rehearsed"');
});

test('a pod that cannot start is named once, although several conditions report it', () => {
  const pod = makePod(stream(), { waiting: 'ImagePullBackOff' });
  const stuck = decided(stream(), { pod });
  expect(listProblems(stuck)).toHaveLength(1);
  expect(explain(stuck).why).toContain('ImagePullBackOff');
});

test('a stream that no operator has seen says so, and one that is being deleted too', () => {
  expect(codes(stream())).toEqual(['not_seen']);
  const going = decided(stream(), { uploads: [upload()] });
  const deleted = { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(explain(deleted).why).toBe('It is being deleted.');
});

import { expect, test } from 'vitest';
import { type Anchors, followAnchors } from '../../../../../src/core/resources/stream/anchors.ts';

const EPOCH = '2026-03-01T00:00:00.000Z';
const anchor = { round: 2, turn: 1, startedAt: '2026-03-02T00:00:00.000Z' };
const later = { round: 9, turn: 0, startedAt: '2026-03-04T00:00:00.000Z' };
const first: Anchors = { video: { version: 1, epoch: EPOCH, ...anchor, since: anchor.startedAt } };

test('the first report of a pod is an anchor, and what played before it is not known', () => {
  expect(followAnchors(undefined, { video: { version: 1, epoch: EPOCH, anchor } })).toEqual(first);
});

test('the next pod goes on at the same epoch: what played before stays known', () => {
  const video = { version: 1, epoch: '2026-03-01T00:00:00Z', anchor: later };
  expect(followAnchors(first, { video })?.video).toMatchObject({ ...later, since: anchor.startedAt });
});

test.each([
  ['a skip', { version: 1, epoch: '2026-02-28T23:59:00.000Z' }],
  ['an edit', { version: 2, epoch: EPOCH }],
])('after %s nothing is known of before', (_move, moved) => {
  expect(followAnchors(first, { video: { ...moved, anchor: later } })?.video).toMatchObject({ since: later.startedAt });
});

test('a report that says the same, none, or one of an earlier release leaves the anchors as they are', () => {
  expect(followAnchors(first, { video: { version: 1, epoch: EPOCH, anchor: { ...anchor } } })).toBe(first);
  expect(followAnchors(first, undefined)).toBe(first);
  expect(followAnchors(first, {})).toBe(first);
  expect(followAnchors(first, { video: { version: 2, epoch: EPOCH } })).toBe(first);
  expect(followAnchors(undefined, { video: { version: 2, epoch: EPOCH } })).toBeUndefined();
});

test('the audio list has an anchor of its own', () => {
  const audio = { version: 1, epoch: EPOCH, anchor: later };
  expect(followAnchors(first, { audio })).toEqual({
    ...first,
    audio: { version: 1, epoch: EPOCH, ...later, since: later.startedAt },
  });
});

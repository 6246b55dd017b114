import { expect, test } from 'vitest';
import { findWaitReason, type WaitFacts } from '../../../../tools/local/wait-reason.ts';

const since = '2026-01-01T00:00:00Z';
const issue = { code: 'media_importing', message: 'Still fetched.', fix: 'Wait.', field: 'videoUploadObjectID', since };
const warning = { ...issue, code: 'media_failed', message: 'Item 2 is broken.', item: null };
const degraded = { code: 'items_left_out', message: 'Item 2 is left out.', since };
const destination = { id: 'dst-1', name: 'Mine', connected: false, bytesSent: 0, reconnects: 1 };
const refused = { ...destination, lastError: { code: 'key_in_use', message: 'The key is in use.' } };

const facts = (more: { issues?: object[]; warnings?: object[]; destinations?: object[]; degraded?: object } = {}) =>
  ({
    stream: { status: 'starting', degraded: more.degraded ?? null },
    readiness: { issues: more.issues ?? [], warnings: more.warnings ?? [] },
    stats: { live: false, destinations: more.destinations ?? [] },
  }) as WaitFacts;

test('there is no reason where the API has none', () => {
  expect(findWaitReason(facts())).toBeUndefined();
  expect(findWaitReason(facts({ destinations: [{ ...destination, lastError: null }] }))).toBeUndefined();
});

test('an error of a destination that takes media again is no reason', () => {
  expect(findWaitReason(facts({ destinations: [{ ...refused, connected: true }] }))).toBeUndefined();
});

test('the reason for being off air comes before the gaps of a stream on air', () => {
  const all = { issues: [issue], destinations: [refused], degraded, warnings: [warning] };
  expect(findWaitReason(facts(all))).toBe('Still fetched.');
  expect(findWaitReason(facts({ ...all, issues: [] }))).toBe('The key is in use.');
  expect(findWaitReason(facts({ degraded, warnings: [warning] }))).toBe('Item 2 is left out.');
  expect(findWaitReason(facts({ warnings: [warning] }))).toBe('Item 2 is broken.');
});

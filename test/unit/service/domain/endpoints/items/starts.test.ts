/** Tests which items that begin on air are told to webhooks: long ones, each once, and not more often than every half minute. */
import { describe, expect, test } from 'vitest';
import { findNextLookMs, isNewStart } from '../../../../../../src/service/domain/endpoints/items/starts.ts';
import type { StreamTimelineItem } from '../../../../../../src/service/domain/timeline/record.ts';

const BEGIN = Date.parse('2027-01-31T18:00:00Z');
const at = (seconds: number) => new Date(BEGIN + seconds * 1000).toISOString();
const item = (start: number, end: number, more: Partial<StreamTimelineItem> = {}): StreamTimelineItem => ({
  ...{ startAt: at(start), endAt: at(end), durationSeconds: end - start },
  ...{ id: 'film', name: 'Film', playlistID: 'pls-1', index: 0, rule: null, exact: true, ...more },
});
/** `seconds` after the begin, of a stream that is live since `liveSince`. */
const when = (seconds: number, liveSince = -3600) => ({
  nowMs: BEGIN + seconds * 1000,
  liveSinceMs: BEGIN + liveSince * 1000,
});

describe('an item that begins on air', () => {
  test('is told if it is 30 seconds long or more', () => {
    expect(isNewStart(item(0, 30), undefined, when(0))).toBe(true);
    expect(isNewStart(item(0, 29.9), undefined, when(0))).toBe(false);
  });

  test('is told once, also where a move of the list has computed its start anew', () => {
    expect(isNewStart(item(0, 300), item(0, 300), when(0))).toBe(false);
    expect(isNewStart(item(-0.2, 299.8), item(0, 300), when(1))).toBe(false);
    expect(isNewStart(item(40, 300), item(0, 300), when(41))).toBe(false);
  });

  test('is told again when it plays again, and so is the next one', () => {
    expect(isNewStart(item(300, 600), item(0, 300), when(300))).toBe(true);
    expect(isNewStart(item(120, 420, { id: 'other', index: 1 }), item(0, 300), when(120))).toBe(true);
    expect(isNewStart(item(120, 420, { rule: 'news' }), item(0, 300), when(120))).toBe(true);
  });

  test('within half a minute after another is not told', () => {
    const other = { id: 'other', index: 1 };
    expect(isNewStart(item(29, 300, other), item(0, 300), when(29))).toBe(false);
    expect(isNewStart(item(30, 300, other), item(0, 300), when(30))).toBe(true);
  });

  test('a while ago is no news, unless the stream went live since', () => {
    expect(isNewStart(item(0, 600), undefined, when(60))).toBe(true);
    expect(isNewStart(item(0, 600), undefined, when(61))).toBe(false);
    expect(isNewStart(item(0, 600), undefined, when(300, 290))).toBe(true);
  });
});

test('a list is looked at again when the next long item begins, and otherwise where no more is known', () => {
  const nowMs = BEGIN;
  const [short, long] = [item(10, 13), item(13, 300)];
  expect(findNextLookMs({ current: item(0, 10), next: [short, long] }, nowMs)).toBe(13_000);
  expect(findNextLookMs({ current: item(0, 10), next: [short] }, nowMs)).toBe(10_000);
  expect(findNextLookMs({ current: item(0, 10), next: [] }, nowMs)).toBe(10_000);
  expect(findNextLookMs({ current: null, next: [] }, nowMs)).toBe(30_000);
  expect(findNextLookMs({ current: item(-20, 0), next: [item(0, 300)] }, nowMs)).toBe(1_000);
  expect(findNextLookMs({ current: item(0, 90_000), next: [] }, nowMs)).toBe(3_600_000);
});

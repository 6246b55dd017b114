/** Tests the news of objects: found once by the mark, under an id that follows from the fact alone. */
import { describe, expect, test } from 'vitest';
import type { Schedule } from '../../../../../src/core/resources/stream/spec.ts';
import { findStreamNews, findUploadNews, UPCOMING_MS } from '../../../../../src/service/domain/events/news.ts';
import { stream as makeStream, upload as makeUpload } from '../../../../kit/make/operator.ts';

const NOW = new Date('2027-01-31T17:00:00Z');
const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
const iso = (minutes: number) => at(minutes).toISOString().replace('.000', '');
const scheduled = (schedule: Schedule, spec = {}) => makeStream({ schedule, ...spec });
const typesAt = (stream: ReturnType<typeof makeStream>, mark: string, now: Date) =>
  findStreamNews(stream, mark, now).news.map(({ type, data }) => `${type} ${data.startAt}`);

describe('a window that is to begin', () => {
  test('is told once, fifteen minutes before its start at most', () => {
    const stream = scheduled({ startAt: iso(60) });
    const early = findStreamNews(stream, '', NOW);
    expect(early.news).toEqual([]);
    expect(early.lookAt).toEqual(new Date(at(60).getTime() - UPCOMING_MS));
    const near = findStreamNews(stream, early.mark, at(50));
    expect(near.news).toMatchObject([{ type: 'schedule.upcoming', data: { startAt: at(60).toISOString() } }]);
    expect(findStreamNews(stream, near.mark, at(51)).news).toEqual([]);
    expect(findStreamNews(stream, near.mark, at(61)).news).toEqual([]);
  });

  test('has the same id whenever it is found', () => {
    const stream = scheduled({ startAt: iso(10) });
    const ids = [0, 5].map((minute) => findStreamNews(stream, '', at(minute)).news.map(({ id }) => id));
    expect(ids[0]).toHaveLength(1);
    expect(ids[1]).toEqual(ids[0]);
  });

  test('of a recurring schedule is told for each start', () => {
    const recurrence = { cron: '0 * * * *', timeZone: 'UTC', durationSeconds: 600 };
    const stream = scheduled({ recurrence });
    let mark = '';
    const told = Array.from({ length: 180 }, (_, minute) => {
      const found = findStreamNews(stream, mark, at(minute));
      mark = found.mark;
      return found.news.map(({ data }) => data.startAt);
    }).flat();
    expect(told).toEqual([60, 120, 180].map((minute) => at(minute).toISOString()));
  });

  test('is told again where the start moves', () => {
    const { mark } = findStreamNews(scheduled({ startAt: iso(10) }), '', NOW);
    expect(typesAt(scheduled({ startAt: iso(12) }), mark, NOW)).toEqual([`schedule.upcoming ${at(12).toISOString()}`]);
  });

  test('of a stream that is not wanted is no news', () => {
    expect(typesAt(scheduled({ startAt: iso(10) }, { replicas: 0 }), '', NOW)).toEqual([]);
    expect(typesAt(scheduled({ startAt: iso(10) }, { suspend: true }), '', NOW)).toEqual([]);
  });

  test('that was over before anybody looked is no news', () => {
    expect(typesAt(scheduled({ startAt: iso(10), endAt: iso(20) }), '', at(30))).toEqual([]);
  });
});

describe('a rule that was left out', () => {
  const left = (number: number) => ({
    number,
    rule: 'news',
    track: 'video' as const,
    dueAt: iso(number),
    at: iso(number + 1),
    reason: 'RuleLate' as const,
    count: 2,
    since: iso(number - 1),
  });
  const withDropped = (...numbers: number[]) => makeStream({}, { status: { droppedRules: numbers.map(left) } });

  test('is told once, with its name, its moment, the cause and the fix', () => {
    const found = findStreamNews(withDropped(1), '', NOW);
    expect(found.news).toMatchObject([
      {
        id: expect.stringMatching(/_dropped_1$/),
        type: 'insert.dropped',
        at: at(2),
        skipped: 0,
        data: {
          code: 'rule_late',
          rule: 'news',
          dueAt: at(1).toISOString(),
          count: 2,
          since: at(0).toISOString(),
          message: expect.stringContaining('"news" was left out 2 times'),
          fix: expect.stringContaining('lateSeconds'),
        },
      },
    ]);
    expect(findStreamNews(withDropped(1), found.mark, NOW).news).toEqual([]);
    expect(findStreamNews(withDropped(1, 2), found.mark, NOW).news).toMatchObject([
      { data: { dueAt: at(2).toISOString() } },
    ]);
  });

  test('leaves the marks of starts and transitions as they are', () => {
    const before = findStreamNews(scheduled({ startAt: iso(10) }), '', NOW);
    const stream = makeStream({ schedule: { startAt: iso(10) } }, { status: { droppedRules: [left(1)] } });
    expect(findStreamNews(stream, before.mark, NOW).news.map(({ type }) => type)).toEqual(['insert.dropped']);
  });

  test('says by its number how many were lost before', () => {
    const { mark } = findStreamNews(withDropped(1), '', NOW);
    expect(findStreamNews(withDropped(5, 6), mark, NOW).news.map(({ skipped }) => skipped)).toEqual([3, 0]);
  });
});

test('a mark of before schedules were told still holds the number of the last transition', () => {
  const transitions = [1, 2].map((number) => ({ number, kind: 'Live', at: iso(number) }) as const);
  const stream = makeStream({}, { status: { transitions: [...transitions] } });
  const found = findStreamNews(stream, '1', NOW);
  expect(found.news.map(({ id }) => id.split('_').at(-1))).toEqual(['2']);
  expect(found.mark).toBe('2');
});

test('a refusal by a destination is news of the destination, and no missing number of the stream', () => {
  const transitions = [
    { number: 1, kind: 'Live', at: iso(1) },
    { number: 2, kind: 'Rejected', at: iso(2), destination: 'dst-1', reason: 'KeyInUse', message: 'It is in use.' },
    { number: 4, kind: 'OffAir', at: iso(4) },
  ] as const;
  const [live, rejected, offAir] = findStreamNews(
    makeStream({}, { status: { transitions: [...transitions] } }),
    '',
    NOW,
  ).news;
  expect([live?.skipped, offAir?.skipped]).toEqual([0, 1]);
  expect(rejected).toMatchObject({
    type: 'destination.rejected',
    about: { object: 'destination', objectId: 'dst-1' },
    data: { code: 'key_in_use', message: 'It is in use.', fix: expect.stringContaining('key'), streamID: 'bunny' },
  });
});

test('what viewers see is news of the stream, and what is not known any more is none, nor a missing number', () => {
  const about = { destination: 'dst-1', reason: 'BroadcastEnded', message: 'It has ended.' };
  const transitions = [
    { number: 1, kind: 'PlatformLive', at: iso(1), destination: 'dst-1', onAirForViewers: 'True' },
    { number: 2, kind: 'PlatformView', at: iso(2), ...about, onAirForViewers: 'Unknown' },
    { number: 3, kind: 'PlatformEnded', at: iso(3), ...about, onAirForViewers: 'False' },
    { number: 5, kind: 'PlatformHealth', at: iso(5), destination: 'dst-1', reason: 'LimitNear' },
  ] as const;
  const { news, mark } = findStreamNews(makeStream({}, { status: { transitions: [...transitions] } }), '', NOW);
  expect(news.map(({ type, skipped }) => [type, skipped])).toEqual([
    ['platform.live', 0],
    ['platform.ended', 0],
    ['platform.health', 1],
  ]);
  expect(news[1]?.data).toMatchObject({
    code: 'broadcast_ended',
    message: 'It has ended.',
    fix: expect.stringContaining('Start a new broadcast'),
    destinationID: 'dst-1',
  });
  expect(news[2]?.data).toMatchObject({ code: 'limit_near', fix: expect.stringContaining('Stop and start') });
  expect(mark).toBe('5');
});

test('a quarantine of an upload and its end are news once each, with the reason, beside those of its state', () => {
  const held = (status: 'True' | 'False', minute: number) => {
    const upload = makeUpload('film');
    const times = { lastTransitionTime: iso(minute), reason: 'Any', message: '' };
    const spec = { ...upload.spec, ...(status === 'True' && { quarantine: { reason: 'A claim is being checked.' } }) };
    return { ...upload, spec, status: { ...upload.status, conditions: [{ type: 'Quarantined', status, ...times }] } };
  };
  const fresh = findUploadNews(makeUpload('film'), '', NOW);
  expect(fresh.news.map(({ type }) => type)).toEqual(['upload.ready']);
  const begun = findUploadNews(held('True', 1), fresh.mark, at(2));
  expect(begun.news).toMatchObject([
    {
      type: 'upload.quarantined',
      at: at(1),
      data: { code: 'upload_quarantined', message: 'A claim is being checked.' },
    },
  ]);
  expect(findUploadNews(held('True', 1), begun.mark, at(3)).news).toEqual([]);
  const ended = findUploadNews(held('False', 4), begun.mark, at(5));
  expect(ended.news).toMatchObject([{ type: 'upload.released', at: at(4), data: { code: null, message: null } }]);
  expect(ended.mark).toBe(fresh.mark);
  expect(findUploadNews(held('False', 4), ended.mark, at(6)).news).toEqual([]);
});

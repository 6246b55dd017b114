/** Tests the question before several streams change, and the sentences about failures. */
import { expect, test } from 'vitest';
import type { Stream } from '../../../../../src/dashboard/api/api.ts';
import {
  formatConsequence,
  groupFailures,
  listActedOn,
  nameAct,
  needsQuestion,
} from '../../../../../src/dashboard/features/streams/bulk.ts';
import { nameCopy, toCopy } from '../../../../../src/dashboard/features/streams/duplicate.ts';
import { DEFAULTS } from '../../../../../src/dashboard/features/streams/fields.ts';
import { problems } from '../../../../../src/service/client/index.ts';

const stream = (name: string, status: Stream['status'] = 'idle', more: Partial<Stream> = {}): Stream =>
  ({ id: name, name, status, ...more }) as Stream;
const [IDLE, LIVE, STARTING] = [stream('idle'), stream('live', 'live'), stream('starting', 'starting')];

test('a question comes before a deletion, and before viewers lose a stream', () => {
  expect(needsQuestion('delete', [IDLE])).toBe(true);
  expect(needsQuestion('stop', [IDLE, LIVE])).toBe(true);
  expect(needsQuestion('stop', [stream('waits', 'waiting')])).toBe(false);
  expect(needsQuestion('start', [IDLE])).toBe(false);
});

test('a stop of streams that wait for their times calls off their schedules, and asks first', () => {
  const planned = stream('planned', 'scheduled');
  expect(needsQuestion('stop', [planned])).toBe(true);
  expect(nameAct('stop', [planned, planned])).toBe('Cancel the schedule of');
  expect(nameAct('stop', [planned, LIVE])).toBe('Stop');
  expect(formatConsequence('stop', [planned])).toBe(
    'It is scheduled, and no longer goes on air by itself. The times stay.',
  );
  expect(formatConsequence('stop', [planned, planned, LIVE])).toBe(
    '1 of them is on air, and goes off air for viewers immediately, on every destination. ' +
      '2 of them are scheduled, and no longer go on air by themselves. The times stay.',
  );
});

test('the question says how many go off air', () => {
  expect(formatConsequence('delete', [IDLE, LIVE, STARTING])).toMatch(/^2 of them are on air, and go off air .* undo/);
  expect(formatConsequence('delete', [IDLE, LIVE])).toMatch(/^1 of them is on air, and goes off air/);
  expect(formatConsequence('stop', [LIVE])).toMatch(/^It is on air, and goes off air .* on every destination\.$/);
  expect(formatConsequence('stop', [LIVE, STARTING])).toMatch(/^All 2 are on air/);
  expect(formatConsequence('delete', [IDLE])).toMatch(/^None of them is on air\./);
});

test('start and stop leave out the streams for which they make no sense', () => {
  const all = [IDLE, LIVE, STARTING, stream('ends', 'stopping'), stream('planned', 'scheduled')];
  expect(listActedOn('start', all).map(({ name }) => name)).toEqual(['idle', 'planned']);
  expect(listActedOn('stop', all).map(({ name }) => name)).toEqual(['live', 'starting', 'planned']);
  expect(listActedOn('delete', all)).toEqual(all);
});

test('a reason is said once, with all streams that it is about', () => {
  const conflict = new problems.Conflict({
    code: 'conflict',
    status: 409,
    detail: 'Another request changed it.',
  } as never);
  const issues = [{ code: 'x', message: 'The video is missing.', fix: 'Choose another.', field: 'video' }];
  const notReady = new problems.StreamNotReady({ code: 'stream_not_ready', status: 409, detail: 'd', issues } as never);
  const failures = [
    { item: IDLE, error: conflict },
    { item: LIVE, error: notReady },
    { item: STARTING, error: conflict },
  ];
  expect(groupFailures(failures)).toEqual([
    { reason: 'Another request changed it.', streams: [IDLE, STARTING] },
    { reason: 'The video is missing. Choose another.', streams: [LIVE] },
  ]);
});

test('a copy has the media and the picture of its stream, and neither its schedule nor its destinations', () => {
  const original = stream('Evening', 'live', {
    ...DEFAULTS,
    ...{ destinationID: 'dst-1', destinationIDs: ['dst-1'], videoUploadObjectID: null },
    ...{ playlistIDs: ['pls-1'], audioPlaylistIDs: ['pls-2'], scheduleStartAt: '2027-01-01T00:00:00Z' },
  });
  expect(toCopy(original, ' Twin ', ['dst-2'])).toEqual({
    ...DEFAULTS,
    ...{ name: 'Twin', destinationIDs: ['dst-2'], playlistIDs: ['pls-1'], audioPlaylistIDs: ['pls-2'] },
  });
  const ofVideo = { ...original, videoUploadObjectID: 'upl-1', playlistIDs: [], audioPlaylistIDs: [] };
  const copy = toCopy(ofVideo, 'Twin', ['dst-2']);
  expect(copy).toMatchObject({ videoUploadObjectID: 'upl-1' });
  expect([copy.playlistIDs, copy.audioPlaylistIDs]).toEqual([undefined, undefined]);
});

test('the name of a copy is one that the server takes, also for the longest name and one that ends in an emoji', () => {
  expect(nameCopy('Evening')).toBe('Copy of Evening');
  expect(nameCopy(nameCopy('Evening'))).toBe('Copy of Evening');
  const longest = nameCopy('\u{1f319}'.repeat(100));
  expect(longest.length).toBeLessThanOrEqual(200);
  expect(longest.isWellFormed()).toBe(true);
});

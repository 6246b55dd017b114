/** Tests the decisions of the stream pages, apart from their looks. */
import { describe, expect, test } from 'vitest';
import { listCommands, playlistCommands } from '../../../../../src/dashboard/features/commands/commands.ts';
import { parseCreateSearch } from '../../../../../src/dashboard/features/create/steps.ts';
import { buildOverview, formatSummary } from '../../../../../src/dashboard/features/overview/selectStreams.ts';
import { buildLine } from '../../../../../src/dashboard/features/streams/chartLine.ts';
import { buildChecks } from '../../../../../src/dashboard/features/streams/checklist.ts';
import { kubectlSnippet, restSnippet } from '../../../../../src/dashboard/features/streams/commands.ts';
import { findChanges, toEditValues } from '../../../../../src/dashboard/features/streams/editValues.ts';
import { parseSearch } from '../../../../../src/dashboard/features/streams/filter.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';
import { exampleStream } from '../../../../../src/service/domain/streams/examples.ts';
import type { ReadinessIssue, Stream } from '../../../../../src/service/domain/streams/record.ts';

const stream = (more: Partial<Stream> = {}): Stream => ({
  ...exampleStream,
  id: 's1',
  name: 'One',
  status: 'idle',
  quality: 'q_720p',
  destinationID: 'd1',
  destinationIDs: ['d1'],
  destinations: [{ destinationID: 'd1', enabled: true }],
  videoUploadObjectID: 'u1',
  scheduleStartAt: null,
  scheduleEndAt: null,
  liveSince: null,
  ...more,
});
const UNPREPARED = { prepared: 0, estimatedReadyAt: null };
const issue = (code: string, field: string): ReadinessIssue => ({
  code,
  field,
  message: `About ${field}.`,
  fix: 'Mend it.',
  since: '2027-01-01T00:00:00Z',
});

test('the overview: streams on air, streams in trouble, and the next ones in order', () => {
  const degraded = { code: 'x', message: 'One destination is away.', fix: 'Wait.', since: '2027-01-01T00:00:00Z' };
  const overview = buildOverview([
    stream({ id: 'fine', status: 'live', nextStartAt: '2027-01-04T00:00:00Z' }),
    stream({ id: 'half', status: 'live', degraded }),
    stream({ id: 'waits', status: 'waiting', ready: false }),
    stream({ id: 'later', status: 'scheduled', nextStartAt: '2027-01-03T00:00:00Z' }),
    stream({ id: 'sooner', status: 'scheduled', ready: false, nextStartAt: '2027-01-02T00:00:00Z' }),
    stream({ id: 'rests', degraded }),
  ]);
  const ids = (streams: Stream[]) => streams.map(({ id }) => id);
  expect(ids(overview.onAir)).toEqual(['fine', 'half']);
  expect(ids(overview.needing)).toEqual(['half', 'waits', 'sooner']);
  expect(ids(overview.next)).toEqual(['sooner', 'later', 'fine']);
  expect(formatSummary(overview)).toBe('2 on air · 3 need you');
  const failed = [{ objectID: 'u1', state: 'failed' }] as Upload[];
  expect(formatSummary(buildOverview([], failed))).toBe('0 on air · 1 needs you');
  expect(formatSummary(buildOverview([]))).toBe('0 on air');
});

test('readiness is ticked off by topic; only faults that a person can mend have a button', () => {
  const checks = buildChecks({
    ready: false,
    issues: [issue('media_preparing', 'videoUploadObjectID'), issue('destination_invalid', 'destinationIDs')],
    warnings: [],
    ...UNPREPARED,
  });
  expect(checks.map(({ label, issues, mend }) => [label, issues.length, mend])).toEqual([
    ['Media', 1, undefined],
    ['Destination', 1, 'edit'],
    ['Schedule', 0, undefined],
  ]);
  expect(
    buildChecks({ ready: false, issues: [issue('quota_exceeded', '')], warnings: [], ...UNPREPARED }).at(-1),
  ).toMatchObject({
    issues: [{}],
  });
  // The banner says what lacks; here it stands once, and nothing that waits for it is called ready.
  const unpaid = buildChecks({
    ready: false,
    issues: [issue('media_awaits_credit', 'videoUploadObjectID'), issue('insufficient_credits', '')],
    warnings: [],
    ...UNPREPARED,
  });
  expect(unpaid.map(({ label, issues, isUnpaid }) => [label, issues.length, isUnpaid])).toEqual([
    ['Media', 0, true],
    ['Destination', 0, undefined],
    ['Schedule', 0, undefined],
    ['Credit', 0, true],
  ]);
});

describe('editing', () => {
  test('sends the changed fields and no others', () => {
    const before = toEditValues(stream());
    expect(findChanges(before, { ...before, name: ' One ' })).toEqual({});
    expect(findChanges(before, { ...before, name: 'Two', framerate: 'f_60' })).toEqual({
      name: 'Two',
      framerate: 'f_60',
    });
    expect(findChanges(before, { ...before, destinationIDs: ['d1', 'd2'] })).toEqual({ destinationIDs: ['d1', 'd2'] });
  });

  test('a destination that is switched off stays so until it is ticked', () => {
    const list = (ids: string[], enabled: boolean) => ids.map((destinationID) => ({ destinationID, enabled }));
    const before = toEditValues(stream({ destinations: [...list(['d1'], true), ...list(['d2'], false)] }));
    expect(findChanges(before, { ...before, destinationIDs: ['d3'] })).toEqual({
      destinations: [...list(['d3'], true), ...list(['d2'], false)],
    });
    expect(findChanges(before, { ...before, destinationIDs: ['d2'] })).toEqual({ destinationIDs: ['d2'] });
  });

  test('a video takes the place of playlists, and the other way round', () => {
    const [video, lists] = [
      toEditValues(stream()),
      toEditValues(stream({ videoUploadObjectID: null, playlistIDs: ['p1'] })),
    ];
    expect(findChanges(video, { ...video, kind: 'playlists', playlistIDs: ['p1'] })).toEqual({ playlistIDs: ['p1'] });
    expect(findChanges(lists, { ...lists, kind: 'video', videoUploadObjectID: 'u1' })).toEqual({
      videoUploadObjectID: 'u1',
    });
  });
});

test('commands name the stream, do the possible next step, and have no key in them', () => {
  expect(restSnippet('https://a.example', stream())).toContain('/streams/s1/start?wait=30');
  expect(restSnippet('https://a.example', stream({ status: 'live' }))).toContain('/streams/s1/stop?wait=30');
  expect(kubectlSnippet(stream({ status: 'live' }))).toContain('kubectl scale loopstream s1 --replicas=0');
  expect(restSnippet('https://a.example', stream())).not.toMatch(/lsk_\w/);
  const uploads = listCommands('https://a.example', 'uploads');
  expect([uploads.rest, uploads.kubectl]).toEqual([
    ...[expect.stringContaining('$API/uploads/from-link'), expect.stringContaining('kubectl describe upload NAME')],
  ]);
  expect(playlistCommands('https://a.example', 'pl-1', 4).rest).toContain(`/pl-1/publish" -d '{"version":4}'`);
});

test('only known parts of an address are used', () => {
  expect(parseSearch({ q: ' a ', status: 'live', other: 1 })).toEqual({ q: 'a', status: 'live' });
  expect(parseSearch({ q: 7, status: 'toString' })).toEqual({ q: '7' });
  expect(parseSearch({ q: {}, status: ['live'], sort: 'size' })).toEqual({});
  expect(parseSearch({ sort: '-name' })).toEqual({ sort: '-name' });
  // No request may hold these, and a person who types them still sees the list.
  expect(parseSearch({ q: 'a\u0007b\u009b\ud800' })).toEqual({ q: 'ab\ufffd' });
  expect(parseCreateSearch({ step: 'stream', stream: 's1' })).toEqual({ step: 'stream', stream: 's1' });
  expect(parseCreateSearch({ step: 'constructor', stream: 1, playlist: '' })).toEqual({});
  expect(parseCreateSearch({ playlist: 'p1' })).toEqual({ playlist: 'p1' });
});

test('a line stays in its box, for any numbers', () => {
  const points = [-30, 0, 12].map((value, at) => ({ at, value }));
  const { points: text, zero, low, high } = buildLine(points, 300, 50, 40);
  const ys = text.split(' ').map((pair) => Number(pair.split(',')[1]));
  expect(Math.min(...ys, zero ?? 0)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...ys, zero ?? 0)).toBeLessThanOrEqual(50);
  expect([low, high]).toEqual([-30, 12]);
  expect(buildLine([{ at: 5, value: 7 }], 300, 50, 10).points).toMatch(/^300\.0,/);
});

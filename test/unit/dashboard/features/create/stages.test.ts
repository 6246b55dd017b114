/** Tests how the page of a new stream says where it stands, and what a person can do about an obstacle. */
import { expect, test } from 'vitest';
import type { FileState } from '../../../../../src/dashboard/features/create/fileState.ts';
import {
  computeStages,
  findOutlook,
  type Stage,
  type StageSources,
} from '../../../../../src/dashboard/features/create/stages.ts';
import type { ReadinessIssue, Upload } from '../../../../../src/service/client/index.ts';
import { exampleStream } from '../../../../../src/service/domain/streams/examples.ts';
import type { Readiness, Stream } from '../../../../../src/service/domain/streams/record.ts';

const stream = (more: Partial<Stream> = {}): Stream => ({
  ...exampleStream,
  status: 'waiting',
  videoUploadObjectID: 'u1',
  playlistIDs: [],
  audioPlaylistIDs: [],
  degraded: null,
  ...more,
});
const issue = (code: string, field = ''): ReadinessIssue => ({
  ...{ code, field, message: `About ${code}.`, fix: 'Mend it.', since: '2027-01-01T00:00:00Z' },
});
const readiness = (issues: ReadinessIssue[], prepared = 0): Readiness => ({
  ...{ ready: issues.length === 0, issues, warnings: [], prepared, estimatedReadyAt: null },
});
const upload = (more: Partial<Upload>): Upload =>
  ({ state: 'ready', fromLink: true, progress: 0, error: null, waiting: null, durationSeconds: 5, ...more }) as Upload;
const failure = (code: string) => ({ code, message: `About ${code}.`, fix: 'Mend it.' });

const stagesOf = (more: Partial<StageSources>) => {
  const { status: phase } = more.stream ?? stream();
  return computeStages({ stream: stream(), phase, readiness: undefined, uploads: [], files: [], ...more });
};
const states = (stages: readonly Stage[]) => stages.map(({ state }) => state);
/** The stage in the way, and its buttons. */
const findObstacle = (stages: readonly Stage[]) => {
  const failed = stages.filter(({ state }) => state === 'failed');
  return failed.map(({ label, acts = [] }) => [label, ...acts]);
};

test('shows the work under way, and that it is live', () => {
  const importing = readiness([issue('media_importing', 'videoUploadObjectID')]);
  const preparing = readiness([issue('media_preparing', 'videoUploadObjectID')]);
  expect(states(stagesOf({ readiness: importing }))).toEqual(['now', 'later', 'later', 'later']);
  expect(states(stagesOf({ readiness: preparing, uploads: [upload({})] }))).toEqual(['done', 'now', 'later', 'later']);
  expect(states(stagesOf({ readiness: readiness([], 1) }))).toEqual(['done', 'done', 'now', 'later']);
  const starting = stagesOf({ stream: stream({ status: 'starting' }), readiness: readiness([], 0.12) });
  expect(states(starting)).toEqual(['done', 'done', 'done', 'now']);
  expect(starting[1]?.detail).toBe('12 % is prepared; the rest is prepared while the stream plays.');
  const live = stagesOf({ stream: stream({ status: 'live' }) });
  expect(states(live)).toEqual(['done', 'done', 'done', 'done']);
  expect(findOutlook(live)).toBe('live');
  expect(findOutlook(starting)).toBe('onItsWay');
});

test('preparation has a percentage, as soon as one is known', () => {
  const preparing = readiness([issue('media_preparing', 'videoUploadObjectID')], 0.4);
  expect(stagesOf({ readiness: preparing })[1]).toMatchObject({
    progress: 0.4,
    detail: expect.stringMatching(/^40 %/),
  });
});

test('a start that the operator has not seen yet is in nobody’s way', () => {
  const idle = stream({ status: 'idle' });
  expect(findObstacle(stagesOf({ stream: idle }))).toEqual([['Start the stream', 'start']]);
  expect(findObstacle(stagesOf({ stream: idle, phase: 'starting' }))).toEqual([]);
});

test('a file that is sent from here is a stage of its own, and the window has to stay open', () => {
  const files: FileState[] = [{ state: 'sending', text: '3 %', progress: 0.03 }];
  const sending = stagesOf({ files, readiness: readiness([issue('media_importing', 'videoUploadObjectID')]) });
  expect(sending.map(({ label, state }) => [label, state])).toEqual([
    ['Send your file', 'now'],
    ['Check the media', 'later'],
    ['Prepare it', 'later'],
    ['Start the stream', 'later'],
    ['Connect to the destination', 'later'],
  ]);
  expect(findOutlook(sending)).toBe('sending');
  const cut = stagesOf({ files: [{ state: 'cut', text: 'Choose it again.' }] });
  expect(findObstacle(cut)).toEqual([['Send your file', 'replace']]);
  const checked = stagesOf({ files: [{ state: 'sent', text: '' }], uploads: [upload({ state: 'importing' })] });
  expect(states(checked).slice(0, 2)).toEqual(['done', 'now']);
});

test.each<[string, Partial<StageSources>, string[]]>([
  [
    'a link to a page fails where the media is got',
    {
      uploads: [upload({ state: 'failed', durationSeconds: null, error: failure('link_is_a_page') })],
      readiness: readiness([issue('media_failed', 'videoUploadObjectID')]),
    },
    ['Get the media', 'retryImport', 'replace'],
  ],
  [
    'a file that cannot be read fails before it is prepared',
    {
      uploads: [upload({ state: 'failed', durationSeconds: null, error: failure('media_unreadable') })],
      files: [{ state: 'failed', text: 'It is damaged.' }],
      readiness: readiness([issue('media_failed', 'videoUploadObjectID')]),
    },
    ['Check the media', 'replace'],
  ],
  [
    'a rendition that fails is a failure of preparing',
    {
      uploads: [upload({ state: 'failed', error: failure('prepare_failed') })],
      readiness: readiness([issue('media_failed', 'videoUploadObjectID')]),
    },
    ['Prepare it', 'replace'],
  ],
  [
    'an upload that was deleted is to be replaced',
    { readiness: readiness([issue('upload_not_found', 'videoUploadObjectID')]) },
    ['Get the media', 'replace'],
  ],
  [
    'an empty playlist is opened',
    {
      stream: stream({ videoUploadObjectID: null, playlistIDs: ['p1'] }),
      readiness: readiness([issue('playlist_empty', 'playlistIDs')]),
    },
    ['Get the media', 'playlist'],
  ],
  [
    'without credit nothing is prepared, and that is said once',
    {
      uploads: [upload({})],
      readiness: readiness([issue('media_awaits_credit', 'videoUploadObjectID'), issue('insufficient_credits')]),
    },
    ['Prepare it', 'addCredit'],
  ],
  [
    'credit that ends later keeps prepared media from starting',
    { uploads: [upload({})], readiness: readiness([issue('insufficient_credits')], 1) },
    ['Start the stream', 'addCredit'],
  ],
  [
    'no room is no fault of the destination',
    { readiness: readiness([issue('quota_exceeded')], 1) },
    ['Start the stream'],
  ],
  [
    'a schedule that is not valid is edited',
    { readiness: readiness([issue('schedule_invalid', 'scheduleStartAt')], 1) },
    ['Start the stream', 'editStream'],
  ],
  [
    'a stream that was stopped meanwhile can be started',
    { stream: stream({ status: 'stopped' }), readiness: readiness([], 1) },
    ['Start the stream', 'start'],
  ],
  [
    'a stream that failed can be started again',
    { stream: stream({ status: 'failed' }), readiness: readiness([], 1) },
    ['Start the stream', 'start'],
  ],
  [
    'a destination that does not exist is edited',
    { readiness: readiness([issue('destination_invalid', 'destinationIDs')], 1) },
    ['Connect to the destination', 'editDestination'],
  ],
  [
    'a destination that refuses is edited',
    {
      stream: stream({
        status: 'starting',
        degraded: {
          code: 'destination_reconnecting',
          message: 'It refuses.',
          fix: 'Compare the key.',
          since: '2027-01-01T00:00:00Z',
        },
      }),
    },
    ['Connect to the destination', 'editDestination'],
  ],
])('%s', (_, sources, obstacle) => {
  const stages = stagesOf(sources);
  expect(findObstacle(stages)).toEqual([obstacle]);
  expect(findOutlook(stages)).toBe('stuck');
});

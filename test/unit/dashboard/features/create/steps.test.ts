/** Tests the way to a new stream: its steps, and the body that its choices become. */
import { expect, test } from 'vitest';
import {
  type DraftFile,
  draftFrom,
  EMPTY_DRAFT,
  type NewStream,
} from '../../../../../src/dashboard/features/create/draft.ts';
import {
  areFilesBeginning,
  describeFile,
  type FileSources,
  findFilesProblem,
} from '../../../../../src/dashboard/features/create/fileState.ts';
import { nameDestination } from '../../../../../src/dashboard/features/create/nameDestination.ts';
import {
  buildBody,
  describePlan,
  limitStep,
  listAskedChoices,
  listPlannedPlaylists,
  nameFrom,
  planFiles,
  renamed,
} from '../../../../../src/dashboard/features/create/steps.ts';
import { suggestProfile } from '../../../../../src/dashboard/features/create/suggestProfile.ts';
import { NEW_TEXT } from '../../../../../src/dashboard/features/overlays/layers.ts';
import type { Sending } from '../../../../../src/dashboard/features/uploads/sender.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';

const file = (name: string, more: Partial<DraftFile> = {}): DraftFile => ({
  id: `of ${name}`,
  name,
  type: /mp3$/.test(name) ? 'AUDIO' : 'VIDEO',
  objectID: `u-${name}`,
  ...more,
});
const draftOf = (more: Partial<NewStream>): NewStream => ({ ...EMPTY_DRAFT, ...more });

test('it begins with a file of one’s own', () => {
  expect(EMPTY_DRAFT.source).toBe('file');
});

test('a stream is named only when it has something to play and somewhere to go', () => {
  const draft = draftOf({ source: 'upload', uploadID: 'u1' });
  expect(limitStep('stream', EMPTY_DRAFT)).toBe('media');
  expect(limitStep('stream', draft)).toBe('destination');
  expect(limitStep('stream', { ...draft, destinationID: 'd1' })).toBe('stream');
  expect(limitStep(undefined, { ...draft, destinationID: 'd1' })).toBe('media');
  expect(limitStep('destination', { ...draft, source: 'playlist' })).toBe('media');
  // An upload that was chosen is no imported link.
  expect(limitStep('destination', { ...draft, source: 'link' })).toBe('media');
});

test('one goes on while a file is sent, before the server knows it; sound alone is no stream', () => {
  expect(limitStep('destination', draftOf({ files: [file('a.mp4', { objectID: '' })] }))).toBe('destination');
  expect(limitStep('destination', draftOf({ files: [file('a.mp3')] }))).toBe('media');
});

test('a stream has the final choices, independent of earlier ones', () => {
  const draft = draftOf({ source: 'upload', uploadID: 'u1', playlistID: 'p1', destinationID: 'd1', name: ' A ' });
  expect(buildBody(draft)).toMatchObject({ name: 'A', videoUploadObjectID: 'u1', destinationIDs: ['d1'] });
  expect(buildBody(draft)).not.toHaveProperty('loudness');
  expect(buildBody({ ...draft, loudness: '-16 -1 6' })).toMatchObject({
    loudness: { targetLufs: -16, maxTruePeakDb: -1, maxBoostDb: 6 },
  });
  expect(buildBody(draft)).not.toHaveProperty('overlays');
  const overlays = { layers: [NEW_TEXT], sceneID: null, required: false };
  expect(buildBody({ ...draft, overlays })).toMatchObject({ overlays });
  expect(buildBody({ ...draft, source: 'playlist' })).not.toHaveProperty('videoUploadObjectID');
  expect(buildBody({ ...draft, source: 'link', linkUploadID: 'u2' })).toMatchObject({ videoUploadObjectID: 'u2' });
});

test('one file is the video, several are a playlist in their order, and sounds play over them', () => {
  const one = draftOf({ files: [file('a.mp4')] });
  expect(listPlannedPlaylists(one)).toEqual([]);
  expect(buildBody(one)).toMatchObject({ videoUploadObjectID: 'u-a.mp4' });
  expect(listAskedChoices(one)).not.toContain('onItemFailure');

  const several = draftOf({ files: [file('b.mp4'), file('song.mp3'), file('a.png')] });
  expect(listPlannedPlaylists(several)).toEqual([
    { kind: 'video', objectIDs: ['u-b.mp4', 'u-a.png'] },
    { kind: 'audio', objectIDs: ['u-song.mp3'] },
  ]);
  const body = buildBody(several, { video: 'p1', audio: 'p2' });
  expect(body).toMatchObject({ playlistIDs: ['p1'], audioPlaylistIDs: ['p2'], onItemFailure: 'Skip' });
  expect(body).not.toHaveProperty('videoUploadObjectID');
  // Files of another source that was looked at are not used.
  expect(listPlannedPlaylists({ ...several, source: 'link' })).toEqual([]);
});

test('the plan is said in words where it is more than one video', () => {
  const words = (...names: string[]) => describePlan(planFiles(names.map((name) => file(name))));
  expect(words('a.mp4')).toBeUndefined();
  expect(words('a.mp4', 'b.mp4')).toBe('These 2 play in turn, as a playlist, in this order.');
  expect(words('a.png', 'a.mp3')).toBe('“a.png” is shown, and “a.mp3” plays over it.');
  expect(words('a.mp3')).toBe('A stream needs a picture too. Add a video or a picture: “a.mp3” plays over it.');
});

test('a draft that is broken, or of another version, is none', () => {
  for (const kept of [undefined, null, '', [1], 'x', { name: 1, toString: 'x', files: [1, { id: 'x' }] }])
    expect(draftFrom(kept)).toEqual(EMPTY_DRAFT);
  expect(draftFrom({ name: 'A', files: [file('a.mp4')] })).toEqual(draftOf({ name: 'A', files: [file('a.mp4')] }));
  const overlays = { layers: [NEW_TEXT], sceneID: null, required: true };
  expect(draftFrom({ overlays })).toEqual(draftOf({ overlays }));
  expect(draftFrom({ overlays: [NEW_TEXT] })).toEqual(EMPTY_DRAFT);
});

test('a name is made of a file’s or a host, and follows the media until a person chooses one', () => {
  expect(['night_fireplace.mp4', 'a-b', '.mp4', ''].map((name) => nameFrom(name))).toEqual([
    ...['Night fireplace', 'A b', '', ''],
  ]);
  expect(nameFrom('example.com', 'example.com')).toBe('example.com');
  expect(renamed(draftOf({}), 'A')).toEqual({ name: 'A', madeName: 'A' });
  expect(renamed(draftOf({ name: 'A', madeName: 'A' }), 'B')).toEqual({ name: 'B', madeName: 'B' });
  expect(renamed(draftOf({ name: 'Mine', madeName: 'A' }), 'B')).toEqual({});
});

test('a destination is named after its platform or its server, and never like another one', () => {
  const custom = { id: 'custom' as const, label: 'Custom' };
  expect(nameDestination({ id: 'youtube', label: 'YouTube' }, 'rtmps://a.rtmps.youtube.com/live2', [])).toBe('YouTube');
  expect(nameDestination(custom, 'rtmp://live.example.com/app', [])).toBe('live.example.com');
  expect(nameDestination(custom, 'rtmp://a.example/x', ['a.example', 'a.example (2)'])).toBe('a.example (3)');
  expect(nameDestination(custom, 'no address', [])).toBe('My channel');
});

test.each([
  [undefined, 'q_720p', 'f_30'],
  [{ width: 1920, height: 1080, framerate: 29.97 }, 'q_1080p', 'f_30'],
  [{ width: 1080, height: 1920, framerate: 50 }, 'q_1080p', 'f_25'],
  [{ width: 1280, height: 534, framerate: 23.976 }, 'q_720p', 'f_24'],
  [{ width: 3840, height: 2160, framerate: 59.94 }, 'q_2160p', 'f_60'],
  [{ width: 320, height: 240, framerate: 15 }, 'q_720p', 'f_30'],
])('the profile follows the picture: %o', (picture, quality, framerate) => {
  const video = picture && { codec: 'h264', ...picture };
  expect(suggestProfile(video)).toEqual({ quality, framerate });
});

test('a file says how far it is: sent, cut off by a reload, refused, deleted', () => {
  const sending: Sending = {
    id: 'x',
    name: 'a.mp4',
    sizeBytes: 100,
    sentBytes: 34,
    state: 'sending',
    speed: undefined,
    objectID: 'u1',
    problem: undefined,
  };
  const upload = (state: Upload['state'], error: Upload['error'] = null) => ({ state, error }) as Upload;
  const state = (sources: Partial<FileSources>, objectID = 'u1') =>
    describeFile(file('a.mp4', { objectID }), {
      sending: undefined,
      upload: undefined,
      isUnfinished: false,
      ...sources,
    });
  expect(state({ sending })).toMatchObject({ state: 'sending', progress: 0.34, text: expect.stringMatching(/^34 %/) });
  expect(state({ sending: { ...sending, state: 'failed', problem: 'Too large.' } })).toMatchObject({
    state: 'failed',
    text: 'Too large.',
  });
  expect(state({ isUnfinished: true, upload: upload('importing') }).state).toBe('cut');
  expect(state({}, '').state).toBe('cut');
  expect(state({ upload: upload('importing') })).toEqual({ state: 'sent', text: 'Sent. Being checked.' });
  expect(state({ upload: upload('failed', { code: 'media_empty', message: 'No.', fix: 'Yes.' }) })).toEqual({
    ...{ state: 'failed', text: 'No.', fix: 'Yes.' },
  });
  expect(state({ upload: null }).state).toBe('gone');
});

test('a stream is not made of files that the server does not know yet, or that failed', () => {
  const sent = { state: 'sent' as const, text: '' };
  expect(findFilesProblem([sent], [file('a.mp4')])).toBeUndefined();
  expect(findFilesProblem([{ state: 'sending', text: '' }], [file('a.mp4')])).toBeUndefined();
  expect(findFilesProblem([{ state: 'sending', text: '' }], [file('a.mp4', { objectID: '' })])).toBe(
    '“a.mp4” has not begun to be sent yet. Wait a moment.',
  );
  expect(findFilesProblem([sent, { state: 'failed', text: 'It is damaged.' }], [file('a.mp4'), file('b.mp4')])).toBe(
    '“b.mp4”: It is damaged.',
  );
});

test('files that begin to be sent by themselves are told from those that need a person', () => {
  const sending = { state: 'sending' as const, text: '' };
  const unknown = file('a.mp4', { objectID: '' });
  expect(areFilesBeginning([sending], [unknown])).toBe(true);
  expect(areFilesBeginning([sending], [file('a.mp4')])).toBe(false);
  for (const state of ['paused', 'cut', 'failed'] as const)
    expect(areFilesBeginning([{ state, text: '' }], [unknown])).toBe(false);
  expect(areFilesBeginning([sending, { state: 'gone', text: '' }], [unknown, file('b.mp4')])).toBe(false);
});

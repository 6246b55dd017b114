import { describe, expect, it } from 'vitest';
import { computePreparation, formatPart } from '../../../../../src/core/operator/media/assess.ts';
import { assessTracks, findMediaProblem } from '../../../../../src/core/operator/media/items.ts';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import type { RenditionStatus } from '../../../../../src/core/resources/upload/spec.ts';
import {
  MEDIA,
  makeProgram,
  NOW,
  playlist,
  rendition,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

const media = { ...MEDIA, durationSeconds: 1000 };
const END = '2026-06-01T13:00:00Z';
const making = (name: string, more: Partial<RenditionStatus>): Upload => {
  const renditions: RenditionStatus[] = [{ profile: '720p30', state: 'pending', ...more }];
  return upload(name, { phase: 'preparing', media, renditions });
};
const playable = (name = 'film', preparedSeconds = 120) =>
  making(name, {
    preparedSeconds,
    playable: true,
    key: rendition().key ?? '',
    durationSeconds: 1000,
    estimatedReadyAt: END,
  });
const list = (...items: string[]) => {
  const { uploadName: _, ...spec } = stream({ playlistNames: ['list'] }).spec;
  return { loopStream: stream({}, { spec }), playlists: [playlist('list', items)] };
};
const assess = (loopStream: ReturnType<typeof stream>, inWorld: ReturnType<typeof world>) => ({
  ...inWorld,
  stream: loopStream,
  tracks: assessTracks(loopStream, inWorld),
});
const findProblem = (...given: Parameters<typeof assess>) => findMediaProblem(given[0], assess(...given).tracks);
const mediaReady = (...given: Parameters<typeof assess>) =>
  decide({ ...given[1], stream: given[0] }, SETTINGS).conditions.find(({ type }) => type === 'MediaReady');

describe('media of which enough is prepared', () => {
  it('goes on air, and says how much of it is prepared', () => {
    const inWorld = world({ uploads: [playable()] });
    expect(mediaReady(stream(), inWorld)).toEqual({
      type: 'MediaReady',
      status: 'True',
      reason: 'MediaReady',
      message: 'The media can be played; 12 % of it is prepared.',
    });
    expect(makeProgram(stream(), inWorld, NOW.toISOString()).video.items).toMatchObject([
      { rendition: rendition().key },
    ]);
  });

  it('waits for the rest where the stream is to start prepared', () => {
    const loopStream = stream({ startPolicy: 'Prepared' });
    expect(findProblem(loopStream, world({ uploads: [playable()] }))).toEqual({
      reason: 'MediaPreparing',
      message: `Upload "film" is being prepared for 720p30. 12 % of it is prepared. All of it is expected at ${END}.`,
    });
    expect(findProblem(loopStream, world())).toBeUndefined();
    expect(findProblem(stream({ startPolicy: 'Progressive' }), world({ uploads: [playable()] }))).toBeUndefined();
  });
});

it('media of which too little is prepared says how much, as far as that is known', () => {
  const problem = (more: Partial<RenditionStatus>) =>
    findProblem(stream(), world({ uploads: [making('film', more)] }))?.message;
  const preparing = 'Upload "film" is being prepared for 720p30.';
  expect(problem({})).toBe(preparing);
  expect(problem({ preparedSeconds: 30 })).toBe(`${preparing} 3 % of it is prepared.`);
  expect(problem({ preparedSeconds: 1020 })).toBe(`${preparing} 99 % of it is prepared.`);
});

describe('the prepared part of a stream', () => {
  const short = upload('short');
  const importing = upload('new', { phase: 'importing' });
  const failed = upload('bad', { phase: 'failed', error: { code: 'media_unreadable', message: 'Cut off.' } });

  it.each<[string, Upload[], ReturnType<typeof computePreparation>]>([
    ['everything is prepared', [short], undefined],
    ['one is being prepared', [playable()], { prepared: 0.12, estimatedReadyAt: END }],
    ['a short one is ready, by length', [playable(), short], { prepared: 0.12, estimatedReadyAt: END }],
    ['a second one waits for its turn', [playable(), making('other', {})], { prepared: 0.06 }],
    ['a second one is being imported', [playable(), importing], { prepared: 0.06 }],
    ['nothing is imported', [importing], { prepared: 0 }],
    ['one has failed and the rest is prepared', [short, failed], undefined],
    ['everything has failed', [failed], { prepared: 0 }],
    ['all but the last frames are prepared', [playable('film', 1000)], { prepared: 0.99, estimatedReadyAt: END }],
  ])('when %s', (_what, uploads, expected) => {
    const { loopStream, playlists } = list(...uploads.map(({ metadata }) => metadata.name));
    expect(computePreparation(assess(loopStream, world({ uploads, playlists })))).toEqual(expected);
  });

  it('counts an item once that is in a list twice, and is 0 without any', () => {
    const { loopStream, playlists } = list('film', 'film', 'short');
    const uploads = [playable('film', 500), short];
    expect(computePreparation(assess(loopStream, world({ uploads, playlists })))?.prepared).toBe(0.5);
    expect(computePreparation(assess(loopStream, world({ playlists: [] })))).toEqual({ prepared: 0 });
  });

  it('is shown in whole percent', () => {
    expect([0, 0.006, 0.12, 0.99].map(formatPart)).toEqual(['0 %', '0 %', '12 %', '99 %']);
  });
});

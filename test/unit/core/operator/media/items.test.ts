import { describe, expect, it } from 'vitest';
import {
  assessTracks,
  findGraceEnd,
  findMediaProblem,
  isWaiting,
  listUploadNames,
} from '../../../../../src/core/operator/media/items.ts';
import { PUBLISHED_ANNOTATION, SUSPENDED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  MEDIA,
  makeProgram,
  NOW,
  playlist,
  rendition,
  stream,
  upload,
  type World,
  world,
} from '../../../../kit/make/operator.ts';

const importing: UploadStatus = { phase: 'importing' };
const importingAs = (reason: string, message: string): UploadStatus => ({
  ...importing,
  conditions: [{ type: 'Imported', status: 'False', reason, message, lastTransitionTime: NOW.toISOString() }],
});
const preparing: UploadStatus = {
  phase: 'preparing',
  media: MEDIA,
  renditions: [{ profile: '720p30', state: 'pending' }],
};
const broken: UploadStatus = { phase: 'failed', error: { code: 'media_unreadable', message: 'Cut off.' } };
const unprepared: UploadStatus = {
  phase: 'failed',
  media: MEDIA,
  renditions: [{ profile: '720p30', state: 'failed', error: { code: 'prepare_failed', message: 'Boom.' } }],
};
const other: UploadStatus = { phase: 'ready', media: MEDIA, renditions: [rendition('1080p60')] };
const outdated: UploadStatus = {
  phase: 'ready',
  media: { ...MEDIA, sha256: 'b'.repeat(64) },
  renditions: [rendition()],
};
const EPOCH = NOW.toISOString();

const findProblem = (loopStream: LoopStream, inWorld: World) =>
  findMediaProblem(loopStream, assessTracks(loopStream, inWorld));

describe('media readiness', () => {
  it.each([
    ['an upload that is ready', [upload()], undefined, ''],
    ['no such upload', [], 'UploadNotFound', 'Upload "film" does not exist.'],
    [
      'an upload nobody has looked at',
      [upload('film', {})],
      'MediaImporting',
      'Upload "film" is still being imported.',
    ],
    [
      'an upload on its way, which says so in whatever words',
      [upload('film', importingAs('Receiving', 'It comes.'))],
      'MediaImporting',
      'Upload "film" is still being imported.',
    ],
    [
      'an upload that waits for its link',
      [upload('film', importingAs('WaitingForLink', 'The link is tried again soon.'))],
      'MediaImporting',
      'Upload "film" is still being imported. The link is tried again soon.',
    ],
    ['an upload on its way', [upload('film', importing)], 'MediaImporting', 'Upload "film" is still being imported.'],
    ['an upload that failed', [upload('film', broken)], 'MediaFailed', 'Upload "film" could not be imported: Cut off.'],
    [
      'a rendition in the making',
      [upload('film', preparing)],
      'MediaPreparing',
      'Upload "film" is being prepared for 720p30.',
    ],
    ['another profile only', [upload('film', other)], 'MediaPreparing', 'Upload "film" is being prepared for 720p30.'],
    [
      'a rendition of other content',
      [upload('film', outdated)],
      'MediaPreparing',
      'Upload "film" is being prepared for 720p30.',
    ],
    [
      'a rendition that failed',
      [upload('film', unprepared)],
      'MediaFailed',
      'Upload "film" could not be prepared: Boom.',
    ],
    [
      'sound alone',
      [upload('film', undefined, 'audio')],
      'MediaFailed',
      'Upload "film" is audio; the stream needs a video to loop.',
    ],
    [
      'an image',
      [upload('film', undefined, 'image')],
      'MediaFailed',
      'Upload "film" is an image, which is drawn over what plays. To play the picture itself, upload it as a video.',
    ],
  ])('of %s', (_what, uploads, reason, message) => {
    const problem = findProblem(stream(), world({ uploads }));
    expect(problem?.reason).toBe(reason);
    expect(problem?.message ?? '').toBe(message);
  });

  it.each([
    ['False', 'MediaAwaitsCredit', 'Upload "film" will be prepared for 720p30 when the account has credit.', undefined],
    ['Unknown', 'MediaAwaitsCredit', 'Upload "film" will be prepared for 720p30 when the account has credit.', true],
    ['True', 'MediaPreparing', 'Upload "film" is being prepared for 720p30.', undefined],
  ] as const)('of a stream whose credit is %s', (status, reason, message, unknown) => {
    const loopStream = stream({ readinessGates: [{ conditionType: 'CreditAvailable' }] });
    const condition = { type: 'CreditAvailable', status, reason: 'X', message: 'x', lastTransitionTime: EPOCH };
    const seen = { ...loopStream, status: { conditions: [condition] } };
    const uploads = [upload('film', preparing)];
    expect(findProblem(seen, world({ uploads }))).toEqual({ reason, message, ...(unknown && { unknown }) });
    expect(findProblem(seen, world())).toBeUndefined();
  });

  it('of a stream whose account is suspended, or that waits for a foreign condition, reports that wait', () => {
    const uploads = [upload('film', preparing)];
    const gated = stream({ readinessGates: [{ conditionType: 'Approved' }] });
    expect(findProblem(gated, world({ uploads }))?.message).toContain('when the condition "Approved" is true');
    const { metadata, ...rest } = stream();
    const suspended = { ...rest, metadata: { ...metadata, annotations: { [SUSPENDED_ANNOTATION]: 'true' } } };
    expect(findProblem(suspended, world({ uploads }))).toMatchObject({
      reason: 'MediaAwaitsGate',
      message: 'Upload "film" will be prepared for 720p30 when the account is no longer suspended.',
    });
  });

  const looped = (playlistNames: string[], audioPlaylistNames: string[] = []) => {
    const { uploadName: _, ...spec } = stream().spec;
    return stream({}, { spec: { ...spec, playlistNames, audioPlaylistNames } });
  };

  it('names a playlist that is missing, empty or of the wrong kind', () => {
    expect(findProblem(looped(['mix']), world())?.message).toBe('Playlist "mix" does not exist.');
    expect(findProblem(looped(['mix']), world({ playlists: [playlist('mix', [])] }))?.reason).toBe('PlaylistEmpty');
    const audio = playlist('mix', ['film'], { track: 'audio' });
    expect(findProblem(looped(['mix']), world({ playlists: [audio] }))?.message).toBe(
      'Playlist "mix" is of kind audio, not video.',
    );
    expect(findProblem(looped([]), world())?.reason).toBe('UploadNotFound');
  });

  it('names the most urgent item and counts the others', () => {
    const uploads = [upload('a'), upload('b', preparing), upload('c', broken)];
    const list = looped(['mix']);
    const problem = findProblem(
      { ...list, spec: { ...list.spec, itemFailurePolicy: 'Block' } },
      world({ uploads, playlists: [playlist('mix', ['a', 'b', 'c', 'b'])] }),
    );
    expect(problem).toEqual({
      reason: 'MediaFailed',
      message: 'Upload "c", clip 3 of the playlist "mix", could not be imported: Cut off. 3 of 4 items are not ready.',
    });
  });

  it('takes an audio or a video upload for an audio playlist', () => {
    const uploads = [upload('a'), upload('song', undefined, 'audio')];
    const playlists = [playlist('mix', ['a']), playlist('radio', ['song', 'a'], { track: 'audio', mode: 'shuffle' })];
    const radio = looped(['mix'], ['radio']);
    expect(findProblem(radio, world({ uploads, playlists }))).toBeUndefined();
    expect(makeProgram(radio, world({ uploads, playlists }), EPOCH).audio).toEqual({
      mode: 'shuffle',
      items: [
        { id: 'song', name: 'song', rendition: `renditions/${MEDIA.sha256}/audio-720p30.flv` },
        { id: 'a', name: 'a', rendition: `renditions/${MEDIA.sha256}/video-720p30.flv` },
      ],
      lists: [{ id: 'radio', items: 2 }],
    });
  });

  it('plays several playlists one after the other, an item as often as it is listed', () => {
    const playlists = [playlist('one', ['a', 'b']), playlist('two', ['a'])];
    const both = looped(['one', 'two']);
    const uploads = [upload('a'), upload('b')];
    expect(makeProgram(both, world({ uploads, playlists }), EPOCH).video.items.map(({ id }) => id)).toEqual([
      'a',
      'b',
      'a',
    ]);
    expect(listUploadNames(both, world({ playlists }).playlists)).toEqual(['a', 'b']);
  });

  it('plays the published version of a playlist, and the playlist as it is when none can be read', () => {
    const mix = playlist('mix', ['b', 'b']);
    const plays = (annotation: string) => {
      const annotations = { [PUBLISHED_ANNOTATION]: annotation };
      const { playlists } = world({ playlists: [{ ...mix, metadata: { ...mix.metadata, annotations } }] });
      return listUploadNames(looped(['mix']), playlists);
    };
    const items = [{ uploadName: 'a' }];
    expect(plays(JSON.stringify({ version: 1, mode: 'shuffle', items }))).toEqual(['a']);
    for (const broken of ['', '{', 'null', '{"version":1}', JSON.stringify({ version: 0, mode: 'shuffle', items })])
      expect(plays(broken)).toEqual(['b']);
  });
});

describe('the program', () => {
  const first = makeProgram(stream(), world(), EPOCH);

  it('names its items, the profile, the start and the destinations', () => {
    expect(first).toEqual({
      version: 1,
      epoch: EPOCH,
      seed: expect.any(Number),
      profile: '720p30',
      video: {
        mode: 'sequential',
        items: [{ id: 'film', name: 'film', rendition: `renditions/${MEDIA.sha256}/video-720p30.flv` }],
      },
      destinations: ['tv'],
      destinationsRevision: expect.any(String),
    });
  });

  it('is the same object when an edit changes nothing that is played', () => {
    const renamed = stream({ displayName: 'Bunny TV' }, {});
    renamed.metadata.generation = 7;
    expect(makeProgram(renamed, world({ now: at(99) }), EPOCH, first)).toBe(first);
  });

  it('rises by one version when its items change', () => {
    const next = makeProgram(stream({ uploadName: 'other' }), world({ uploads: [upload('other')] }), EPOCH, first);
    expect(next.version).toBe(first.version + 1);
    expect(next.video.items[0]?.id).toBe('other');
    expect(next.seed).toBe(first.seed);
  });
});

describe('a Job that prepares media for a stream', () => {
  it('goes on for two minutes when a gate has closed, and while nobody has reported a new one', () => {
    const gated = stream({ readinessGates: [{ conditionType: 'CreditAvailable' }] });
    const closed = { type: 'CreditAvailable', status: 'False', reason: 'X', message: 'x' } as const;
    const conditions = [{ ...closed, lastTransitionTime: NOW.toISOString() }];
    expect(findGraceEnd({ ...gated, status: { conditions } }, at(60))).toEqual(at(120));
    expect(findGraceEnd(gated, at(60))).toEqual(at(180));
    expect(findGraceEnd(stream(), at(60))).toBeUndefined();
  });
});

describe('somebody waits for a stream', () => {
  it.each([
    ['that was just started', 1, undefined, true],
    ['that was stopped before it was started again', 1, 'stopped', true],
    ['that waits for its media', 1, 'waiting', true],
    ['that is live', 1, 'live', false],
    ['whose time has not come', 1, 'scheduled', false],
    ['that is not started', 0, 'idle', false],
  ] as const)('%s: %i %s', (_what, replicas, phase, waited) => {
    expect(isWaiting({ ...stream({ replicas }), ...(phase && { status: { phase } }) })).toBe(waited);
  });
});

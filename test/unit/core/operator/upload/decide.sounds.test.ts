/** Tests which sounds an upload gets made, keeps and loses, and where streams play them. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { findPriority, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import { renditionJobName } from '../../../../../src/core/resources/common/names.ts';
import {
  type LoudnessTarget,
  type SoundLoudness,
  soundProfile,
} from '../../../../../src/core/resources/upload/loudness.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MAX_RENDITIONS, renditionKey, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  endedPod,
  MEDIA,
  makeJob,
  makeProgram,
  NAMESPACE,
  NOW,
  playlist,
  rendition,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

const TARGET: LoudnessTarget = { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 };
const SOUND = soundProfile(TARGET);
const DAY_SECONDS = 86_400;

const observe = (changes: Partial<UploadObservation> & { own?: Job[]; pod?: Pod[] } = {}): UploadObservation => {
  const { own = [], pod = [], ...rest } = changes;
  return {
    profiles: ['720p30'],
    held: new Map(),
    urgent: new Set(),
    sounds: [SOUND],
    cards: [],
    looks: [],
    slates: [],
    jobs: new Map(own.map((job) => [job.metadata.name, job])),
    pods: new Map(own.map((job) => [job.metadata.uid, pod])),
    sameWork: new Map(),
    progress: new Map(),
    sameSource: () => undefined,
    grant: () => ({}),
    hasPreparedRoom: () => true,
    keepUnusedMs: 30 * DAY_SECONDS * 1000,
    settings: SETTINGS,
    now: NOW,
    ...rest,
  };
};

const soundKey = (type: 'video' | 'audio' = 'video', profile = SOUND) =>
  renditionKey(MEDIA.sha256, type, profile, renditionScope(NAMESPACE));
const buildSound = (loudness: SoundLoudness, type: 'video' | 'audio' = 'video') =>
  rendition(SOUND, { key: soundKey(type), loudness });

/** An upload that is ready in 720p30, with these renditions more. */
const withRenditions = (...more: ReturnType<typeof rendition>[]): Upload => {
  const film = upload();
  return { ...film, status: { ...film.status, renditions: [...(film.status?.renditions ?? []), ...more] } };
};

describe('a sound that a stream asks for', () => {
  it('is made once the pictures are ready, by a Job of the lowest priority, and the upload is ready meanwhile', () => {
    const preparing = upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
    expect(decideUpload(preparing, observe()).create.map(({ name }) => name)).toEqual(['film-720p30']);

    const { create, status } = decideUpload(upload(), observe());
    expect(create.map((job) => [job.name, findPriority(job)])).toEqual([['film-s1416', 'background']]);
    expect(create[0]?.task).toMatchObject({ action: 'rendition', profile: SOUND, renditionKey: soundKey() });
    expect(status.phase).toBe('ready');
    expect(status.renditions?.find(({ profile }) => profile === SOUND)).toEqual({ profile: SOUND, state: 'pending' });
  });

  it('is listed with its loudness, and stays without its Job', () => {
    const loudness: SoundLoudness = { sourceLufs: -20, gainDb: 6, integratedLufs: -14 };
    const job = makeJob(upload(), wantRendition(upload(), MEDIA, SOUND));
    const made = rendition(SOUND, { durationSeconds: 10, loudness });
    const ended = endedPod({ action: 'rendition', rendition: made });
    const { status } = decideUpload(upload(), observe({ own: [job], pod: [ended] }));
    const listed = status.renditions?.find(({ profile }) => profile === SOUND);
    expect(listed).toMatchObject({ state: 'ready', key: soundKey(), loudness });
    const later = decideUpload({ ...upload(), status }, observe());
    expect(later.create).toEqual([]);
    expect(later.status.renditions).toEqual(status.renditions);
  });

  it('that cannot be made leaves the upload ready', () => {
    const job = makeJob(upload(), wantRendition(upload(), MEDIA, SOUND));
    const error = { code: 'prepare_failed', message: 'No.' } as const;
    const { status } = decideUpload(upload(), observe({ own: [job], pod: [endedPod({ action: 'failed', error })] }));
    expect(status).toMatchObject({ phase: 'ready' });
    expect(status.error).toBeUndefined();
    expect(status.renditions?.find(({ profile }) => profile === SOUND)).toMatchObject({ state: 'failed', error });
  });

  it('is not made of a file that has none', () => {
    const { audio: _, ...media } = MEDIA;
    const mute = { ...upload(), status: { ...upload().status, media } };
    expect(decideUpload(mute, observe()).create).toEqual([]);
  });

  it('is dropped a day after the last stream wanted it, long before its pictures', () => {
    const had = withRenditions(buildSound({ gainDb: 6 }));
    const unwanted = decideUpload(had, observe({ sounds: [] })).status;
    expect(unwanted.renditions?.map(({ profile }) => profile)).toEqual(['720p30', SOUND]);
    const later = decideUpload(
      { ...had, status: unwanted },
      observe({ sounds: [], looks: [], now: at(DAY_SECONDS) }),
    ).status;
    expect(later.renditions?.map(({ profile }) => profile)).toEqual(['720p30']);
  });
});

it('an upload lists no more than it may, and drops first what nobody has wanted for longest', () => {
  const old = Array.from({ length: MAX_RENDITIONS }, (_, i) => {
    const profile = soundProfile({ targetLufs: -8 - (i % 20), maxTruePeakDb: -2 - Math.floor(i / 20), maxBoostDb: 6 });
    const unwantedSince = at(-3600 + i).toISOString();
    return rendition(profile, { key: soundKey('video', profile), loudness: { gainDb: 1 }, unwantedSince });
  });
  const { status } = decideUpload(withRenditions(...old), observe());
  expect(status.renditions).toHaveLength(MAX_RENDITIONS);
  const kept = new Set(status.renditions?.map(({ profile }) => profile));
  expect(old.filter(({ profile }) => !kept.has(profile))).toEqual(old.slice(0, 2));
});

it('the Job of each sound has a name that Kubernetes takes', () => {
  const longest = 'u'.repeat(55);
  const names = new Set<string>();
  for (let targetLufs = -30; targetLufs <= -8; targetLufs++)
    for (let maxTruePeakDb = -9; maxTruePeakDb <= -1; maxTruePeakDb++)
      for (let maxBoostDb = 0; maxBoostDb <= 20; maxBoostDb++) {
        const name = renditionJobName(longest, soundProfile({ targetLufs, maxTruePeakDb, maxBoostDb }));
        expect(name).toMatch(/^[a-z0-9-]{1,63}$/);
        names.add(name);
      }
  expect(names.size).toBe(23 * 9 * 21);
});

describe('the program of a stream with a loudness', () => {
  const play = (film: Upload, loudness: LoudnessTarget | undefined = TARGET) => {
    const objects = world({ uploads: [film] });
    return makeProgram(stream({ uploadName: 'film', ...(loudness && { loudness }) }), objects, NOW.toISOString()).video
      .items[0];
  };

  it('names the sound beside the pictures once it is ready', () => {
    expect(play(upload())?.sound).toBeUndefined();
    const film = withRenditions(buildSound({ gainDb: -3.5 }));
    expect(play(film)).toMatchObject({ rendition: film.status?.renditions?.[0]?.key, sound: soundKey() });
    expect(play(film, { ...TARGET, targetLufs: -23 })?.sound).toBeUndefined();
  });

  it('plays the sound of the file where that has the loudness', () => {
    expect(play(withRenditions(buildSound({ gainDb: 0 })))?.sound).toBeUndefined();
  });

  it('plays the sound of a song in the place of its rendition', () => {
    const song = upload('song', undefined, 'audio');
    const status = {
      ...song.status,
      renditions: [...(song.status?.renditions ?? []), buildSound({ gainDb: 2 }, 'audio')],
    };
    const objects = world({
      uploads: [upload(), { ...song, status }],
      playlists: [playlist('songs', ['song'], { track: 'audio' })],
    });
    const spec = { uploadName: 'film', audioPlaylistNames: ['songs'], loudness: TARGET };
    const { audio } = makeProgram(stream(spec), objects, NOW.toISOString());
    expect(audio?.items[0]).toEqual({ id: 'song', name: expect.any(String), rendition: soundKey('audio') });
  });
});

/** Tests which slates an image gets made, keeps and loses, and where streams name them. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, listProfilesAsked, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import { findSlateProblem } from '../../../../../src/core/operator/media/looks.ts';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { findPriority } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import { toPlaying } from '../../../../../src/core/protocol/program.ts';
import { listPlayedKeys } from '../../../../../src/core/resources/stream/playing.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { nameProfile } from '../../../../../src/core/resources/upload/loudness.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { slateProfile } from '../../../../../src/core/resources/upload/slate.ts';
import { renditionKey, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  endedPod,
  makeJob,
  makePod,
  makeProgram,
  NAMESPACE,
  NOW,
  rendition,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

const DAY_SECONDS = 86_400;
const PROFILE = slateProfile('720p30');
const SHA256 = 'b'.repeat(64);
const KEY = renditionKey(SHA256, 'image', PROFILE, renditionScope(NAMESPACE));
const made = (more = {}) => rendition(PROFILE, { key: KEY, durationSeconds: 2, ...more });

const picture = (...renditions: ReturnType<typeof rendition>[]): Upload => {
  const video = { codec: 'png', width: 10, height: 10, framerate: 0 };
  const media = { sha256: SHA256, sizeBytes: 9, durationSeconds: 0, video };
  const image = upload('soon', { observedGeneration: 1, sourceKey: 'sources/uid-of-soon', media, renditions });
  return { ...image, spec: { ...image.spec, track: 'image' } };
};

const observe = (changes: Partial<UploadObservation> & { own?: Job[]; pod?: Pod[] } = {}): UploadObservation => {
  const { own = [], pod = [], ...rest } = changes;
  return {
    profiles: [],
    held: new Map(),
    urgent: new Set(),
    sounds: [],
    looks: [],
    cards: [],
    slates: [PROFILE],
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

describe('the slate that a stream asks of an image', () => {
  it('is made by a Job of the lowest priority, and the image is ready meanwhile', () => {
    const { create, status } = decideUpload(picture(), observe());
    expect(create.map((job) => [job.name, findPriority(job)])).toEqual([
      [`soon-${PROFILE.split('-')[1]}`, 'background'],
    ]);
    expect(create[0]?.task).toMatchObject({ type: 'video', profile: PROFILE, renditionKey: KEY });
    expect(status).toMatchObject({ phase: 'ready', renditions: [{ profile: PROFILE, state: 'pending' }] });
    expect(nameProfile(PROFILE)).toBe('slate of 720p30');
  });

  it('is listed once it is made, and stays for as long as it is wanted', () => {
    const [wanted] = decideUpload(picture(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const ended = endedPod({ action: 'rendition', rendition: made() });
    const { status } = decideUpload(picture(), observe({ own: [makeJob(picture(), wanted)], pod: [ended] }));
    expect(status.renditions).toMatchObject([{ profile: PROFILE, state: 'ready', key: KEY }]);
    const later = decideUpload({ ...picture(), status }, observe({ now: at(40 * DAY_SECONDS) }));
    expect([later.create, later.status.renditions]).toEqual([[], status.renditions]);
  });

  it('is dropped a day after the last stream wanted it', () => {
    const unwanted = decideUpload(picture(made()), observe({ slates: [] })).status;
    expect(unwanted.renditions).toHaveLength(1);
    const later = { ...picture(), status: unwanted };
    expect(decideUpload(later, observe({ slates: [], now: at(DAY_SECONDS) })).status.renditions).toBeUndefined();
  });

  it('that cannot be made leaves the image ready, and says why', () => {
    const [wanted] = decideUpload(picture(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const ended = endedPod({ action: 'failed', error: { code: 'prepare_failed', message: 'No.' } });
    const { status } = decideUpload(picture(), observe({ own: [makeJob(picture(), wanted)], pod: [ended] }));
    expect(status).toMatchObject({ phase: 'ready', renditions: [{ profile: PROFILE, state: 'failed' }] });
  });

  it('is not made of a video', () => {
    expect(decideUpload(upload(), observe({ profiles: ['720p30'] })).create).toEqual([]);
  });
});

describe('the slates that are wanted', () => {
  const named = (name: string, spec: Parameters<typeof stream>[0], more: Partial<LoopStream> = {}) =>
    stream(spec, { metadata: { ...stream().metadata, name, uid: name }, ...more });
  const fill = (...streams: LoopStream[]) => {
    const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
    for (const one of [upload(), picture()]) caches.uploads.upsert(one);
    for (const one of streams) caches.streams.upsert(one);
    return caches;
  };
  const asked = (...streams: LoopStream[]) => listProfilesAsked(fill(...streams), `${NAMESPACE}/soon`).slates;
  const slate = { uploadName: 'soon' };

  it('are one for each quality of the streams that name the image and may go on air', () => {
    expect(asked(named('a', {}))).toEqual([]);
    expect(asked(named('a', { slate }), named('b', { slate }))).toEqual([PROFILE]);
    expect(asked(named('a', { slate }), named('b', { slate, quality: '1080p' })).toSorted()).toEqual(
      [PROFILE, slateProfile('1080p30')].toSorted(),
    );
    expect(asked(named('a', { slate, readinessGates: [{ conditionType: 'CreditAvailable' }] }))).toEqual([]);
  });

  it('are found anew when a stream names the image or no longer does, and the stream is when the image changes', () => {
    const caches = fill(named('a', {}));
    const [uploads, streams]: [string[], string[]] = [[], []];
    const ignore = () => undefined;
    watchCaches(caches, {
      stream: (key) => streams.push(key),
      upload: (key) => uploads.push(key),
      playlist: ignore,
      destination: ignore,
      heldDestination: ignore,
      expiringDestination: ignore,
    });
    const change = (make: () => void) => {
      uploads.length = 0;
      streams.length = 0;
      make();
      return [uploads.includes(`${NAMESPACE}/soon`), streams.includes(`${NAMESPACE}/a`)];
    };
    const at = (generation: number, spec: Parameters<typeof stream>[0]) => {
      const one = named('a', spec);
      return { ...one, metadata: { ...one.metadata, generation } };
    };
    expect(change(() => caches.streams.upsert(at(2, { slate })))).toEqual([true, true]);
    expect(change(() => caches.uploads.upsert(picture(made())))).toEqual([true, true]);
    expect(change(() => caches.streams.upsert(at(3, {})))).toEqual([true, true]);
    expect(change(() => caches.uploads.upsert(picture()))).toEqual([true, false]);
  });
});

describe('the program of a stream with a slate of its own', () => {
  const play = (...uploads: Upload[]) => {
    const given = stream({ uploadName: 'film', slate: { uploadName: 'soon' } });
    return makeProgram(given, world({ uploads: [upload(), ...uploads] }), NOW.toISOString());
  };

  it('names it once it is prepared, so that it is kept while it is on air', () => {
    const program = play(picture(made()));
    expect(program.slate).toBe(KEY);
    expect(listPlayedKeys(toPlaying(program))).toContain(KEY);
  });

  it('names none before, after a failure, and without the image', () => {
    for (const uploads of [[], [picture()], [picture(rendition(PROFILE, { state: 'failed' }))]])
      expect(play(...uploads)).not.toHaveProperty('slate');
  });
});

describe('the picture of a slate', () => {
  const slate = { uploadName: 'soon' };
  const find = (...uploads: Upload[]) =>
    findSlateProblem(stream({ slate }), (name) => uploads.find(({ metadata }) => metadata.name === name));

  it('is named where it is missing, is none, or could not be imported or prepared', () => {
    expect(find()?.message).toBe('Upload "soon", the picture of the slate, does not exist.');
    expect(find(upload('soon'))?.message).toContain('the picture of the slate, is no picture: PNG');
    const failed = { state: 'failed', error: { code: 'media_unreadable', message: 'It is damaged.' } } as const;
    expect(find(picture(made(failed)))?.message).toContain('could not be prepared: It is damaged.');
    expect(find(upload('soon', {}))).toMatchObject({ reason: 'MediaImporting' });
    for (const image of [picture(), picture(made())]) expect(find(image)).toBeUndefined();
    expect(findSlateProblem(stream(), () => undefined)).toBeUndefined();
  });

  it('that is missing is a problem of the stream on air, and one that is on its way is none', () => {
    const judge = (...more: Upload[]) => {
      const onAir = stream({ slate });
      const seen = world({ uploads: [upload('film'), ...more] });
      const pod = makePod(onAir, { ready: true }, seen);
      const live = { ...onAir, status: { podUID: pod.metadata.uid, phase: 'live' as const } };
      const { conditions } = decide({ ...seen, pod, stream: live }, SETTINGS);
      return conditions.find(({ type }) => type === 'Degraded');
    };
    expect(judge()).toMatchObject({
      status: 'True',
      reason: 'SlateMissing',
      message: expect.stringContaining('"soon"'),
    });
    expect(judge(upload('soon', {}))).not.toMatchObject({ status: 'True' });
  });
});

/** Tests the rendition that an import makes too: what its Job is asked for, and what its status shows of that on the way. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { assessTracks, findMediaProblem } from '../../../../../src/core/operator/media/items.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { wantImport } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import { listReferredKeys } from '../../../../../src/core/operator/upload/sweep.ts';
import type { PrepareProgress } from '../../../../../src/core/protocol/task.ts';
import { GENERATION_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import {
  findRendition,
  importContent,
  PREVIEW_PROFILE,
  renditionKey,
  renditionScope,
} from '../../../../../src/core/resources/upload/spec.ts';
import { at, endedPod, MEDIA, makeJob, NOW, SETTINGS, stream, upload } from '../../../../kit/make/operator.ts';

const PROFILE = '720p30';
const fresh = () => upload('film', {});
const SCOPE = renditionScope('tv');
const KEY = renditionKey(importContent('uid-of-film'), 'video', PROFILE, SCOPE);
const JOB = makeJob(fresh(), wantImport(fresh(), true, { profile: PROFILE }));
/** Made before a stream waited. */
const BARE = makeJob(fresh(), wantImport(fresh()));
const PART = { seconds: 60, totalSeconds: 600, speed: 5 };
const READY = { profile: PROFILE, state: 'ready', durationSeconds: 10, bitrateKbps: 4000 } as const;

function see(
  owner: Upload,
  seen: Partial<UploadObservation> & { job?: Job; own?: Pod[]; report?: PrepareProgress } = {},
) {
  const { job, own = [], report, ...more } = seen;
  return decideUpload(owner, {
    profiles: [PROFILE],
    held: new Map(),
    urgent: new Set([PROFILE]),
    jobs: new Map(job ? [[job.metadata.name, job]] : []),
    pods: new Map(job ? [[job.metadata.uid, own]] : []),
    sameWork: new Map(),
    progress: new Map(job && report ? [[job.metadata.uid, report]] : []),
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    keepUnusedMs: 86_400_000,
    settings: SETTINGS,
    now: NOW,
    ...more,
  });
}

describe('the Job of an import', () => {
  const tasks = (seen: Parameters<typeof see>[1]) => see(fresh(), seen).create.map(({ task }) => task);

  it('makes the rendition that a stream waits for, under a key of this upload', () => {
    const renditions = { content: 'upload-uid-of-film', scope: SCOPE };
    expect(tasks({})).toMatchObject([{ action: 'import', renditions, profile: PROFILE }]);
    expect(KEY).toMatch(/^renditions\/[0-9a-f]{24}\/upload-uid-of-film\/video-720p30\.flv$/);
  });

  it('makes none that nobody waits for, or that has no room', () => {
    expect(tasks({ urgent: new Set() })[0]).not.toHaveProperty('profile');
    expect(tasks({ hasPreparedRoom: () => false })[0]).not.toHaveProperty('profile');
  });

  it('goes on with what it began, whatever streams wait for meanwhile', () => {
    expect(see(fresh(), { job: JOB, urgent: new Set() })).toMatchObject({ create: [], remove: [] });
    expect(see(fresh(), { job: BARE })).toMatchObject({ create: [], remove: [] });
  });
});

describe('while the file is still being imported', () => {
  const report = { progress: 0.3, prepared: PART };

  it('its beginning can be played once enough is prepared', () => {
    const { status } = see(fresh(), { job: JOB, report });
    expect(status).toMatchObject({ phase: 'importing', progress: 0.3 });
    expect(status.renditions).toMatchObject([
      { profile: PROFILE, state: 'pending', playable: true, key: KEY, durationSeconds: 600 },
    ]);
    expect(findRendition({ ...fresh(), status }, PROFILE)?.key).toBe(KEY);
    // Nothing is taken back while the pod cannot be asked.
    expect(see({ ...fresh(), status }, { job: JOB }).status.renditions).toEqual(status.renditions);
  });

  it('the same holds for a Job that was made before a stream waited, once it says that it makes the rendition', () => {
    expect(see(fresh(), { job: BARE, report }).status.renditions).toBeUndefined();
    const { status } = see(fresh(), { job: BARE, report: { ...report, profile: PROFILE } });
    expect(status.renditions).toMatchObject([{ profile: PROFILE, playable: true, key: KEY }]);
    expect(see({ ...fresh(), status }, { job: BARE }).status.renditions).toEqual(status.renditions);
  });

  it('a stream starts with that, unless it waits for all of it', () => {
    const { status } = see(fresh(), { job: JOB, report });
    const objects = { playlists: new Map(), uploads: new Map([['film', { ...fresh(), status }]]) };
    const problem = (start?: 'Prepared') => {
      const one = stream(start ? { startPolicy: start } : {});
      return findMediaProblem(one, assessTracks(one, objects));
    };
    expect(problem()).toBeUndefined();
    expect(problem('Prepared')).toMatchObject({ reason: 'MediaImporting' });
  });

  it('the key of another upload is not played', () => {
    const { status } = see(fresh(), { job: JOB, report });
    expect(findRendition({ ...upload('other', {}), status }, PROFILE)).toBeUndefined();
  });

  it.each([
    ['a length beyond every limit', { ...PART, totalSeconds: 1e9 }],
    ['more than all of it', { ...PART, seconds: 601 }],
    ['an impossible speed', { ...PART, speed: 1e9 }],
  ])('a Job that claims %s changes nothing', (_, prepared) => {
    expect(see(fresh(), { job: JOB, report: { progress: 0.3, prepared } }).status.renditions).toBeUndefined();
  });

  it('a failure ends it, and the upload says why', () => {
    const { status } = see(fresh(), { job: JOB, report });
    const error = { code: 'media_unreadable', message: 'It ends after 3.0 s.' } as const;
    const own = [endedPod({ action: 'failed', error })];
    const failed = see({ ...fresh(), status }, { job: JOB, report, own }).status;
    expect(failed).toMatchObject({ phase: 'failed', error });
    expect(failed.renditions).toBeUndefined();
  });

  it('a sweep keeps its chunks', () => {
    const keys = listReferredKeys({ uploads: [], jobs: [JOB], pods: [], streams: [], begun: [] });
    expect(keys).toContain(KEY);
  });
});

describe('an upload that a client still sends', () => {
  const sending = (
    receivedBytes: number,
    sizeBytes: number | undefined = MEDIA.sizeBytes,
    more: object = {},
  ): Upload => ({
    ...fresh(),
    metadata: { ...fresh().metadata, generation: 2 },
    spec: { track: 'video', source: { sent: { ...(sizeBytes && { sizeBytes }), receivedBytes, ...more } } },
  });
  const EARLY = makeJob(sending(20), wantImport(sending(20), true, { profile: PROFILE, isArriving: true }));
  const report = { progress: 0.3, prepared: PART };
  const pause = { action: 'failed', error: { code: 'prepare_failed', message: 'The client has paused.' } } as const;
  const own = [endedPod(pause)];

  it('is imported for a stream that waits', () => {
    const sent = { key: 'incoming/uid-of-film', sizeBytes: MEDIA.sizeBytes, isArriving: true };
    expect(see(sending(20)).create).toMatchObject([{ task: { sent, profile: PROFILE }, urgent: true }]);
    expect(see(sending(60), { job: EARLY })).toMatchObject({ create: [], remove: [] });
  });

  it.each([
    ['for which no stream waits', sending(20), { urgent: new Set<string>() }],
    ['whose rendition has no room', sending(20), { hasPreparedRoom: () => false }],
    ['of which nothing has come', sending(0), {}],
    ['whose size is not known', sending(20, 0), {}],
    ['that is a part of another', sending(20, MEDIA.sizeBytes, { isPart: true }), {}],
  ])('is not imported so early: one %s', (_, owner, seen) => {
    expect(see(owner, seen)).toMatchObject({ create: [], remove: [], status: { phase: 'importing' } });
  });

  it('can be played once enough is prepared', () => {
    const { status } = see(sending(60), { job: EARLY, report });
    expect(status.renditions).toMatchObject([{ profile: PROFILE, state: 'pending', playable: true, key: KEY }]);
  });

  it('keeps its Job when all has come, and has its result', () => {
    expect(see(sending(MEDIA.sizeBytes), { job: EARLY })).toMatchObject({ create: [], remove: [] });
    const done = [endedPod({ action: 'import', media: MEDIA, rendition: { ...READY, key: KEY } })];
    expect(see(sending(MEDIA.sizeBytes), { job: EARLY, own: done }).status).toMatchObject({
      phase: 'ready',
      media: MEDIA,
    });
  });

  it('has no result before it says itself that all has come', () => {
    const done = [endedPod({ action: 'import', media: MEDIA, rendition: { ...READY, key: KEY } })];
    const { status, create, remove } = see(sending(95), { job: EARLY, own: done });
    expect(status).toMatchObject({ phase: 'importing' });
    expect(status.media).toBeUndefined();
    expect([create, remove]).toEqual([[], []]);
  });

  it('is no failure when its client pauses, and begins again when more has come', () => {
    const paused = see(sending(20), { job: EARLY, own });
    expect(paused).toMatchObject({ create: [], remove: [], status: { phase: 'importing' } });
    expect(paused.status.error).toBeUndefined();
    const earlier = { ...EARLY, metadata: { ...EARLY.metadata, annotations: { [GENERATION_ANNOTATION]: '1' } } };
    expect(see(sending(40), { job: earlier, own }).remove).toMatchObject([{ metadata: { name: EARLY.metadata.name } }]);
  });

  it('keeps what can be played of it while its client pauses, and until the next Job has more', () => {
    const { status } = see(sending(60), { job: EARLY, report });
    const { estimatedReadyAt: _, ...kept } = status.renditions?.[0] ?? {};
    const owner = (receivedBytes: number) => ({ ...sending(receivedBytes), status });
    for (const seen of [{ job: EARLY, own }, {}, { job: EARLY }])
      expect(see(owner(60), seen).status.renditions).toMatchObject([kept]);
    expect(see(owner(MEDIA.sizeBytes), { job: EARLY, own }).status.renditions).toEqual([kept]);
    expect(see({ ...fresh(), status }, {}).status.renditions).toBeUndefined();
  });

  it('is imported by another Job when all has come after a failure', () => {
    const { remove, status } = see(sending(MEDIA.sizeBytes), { job: EARLY, own });
    expect(remove).toMatchObject([{ metadata: { name: EARLY.metadata.name } }]);
    expect(status.error).toBeUndefined();
    const [next] = see(sending(MEDIA.sizeBytes)).create;
    expect(next?.task).toMatchObject({ sent: { sizeBytes: MEDIA.sizeBytes } });
    expect(next?.task).not.toHaveProperty('sent.isArriving');
  });
});

describe('a Job that has stored the source', () => {
  const report = {
    progress: 1,
    profile: PROFILE,
    imported: { media: MEDIA },
    prepared: { ...PART, totalSeconds: MEDIA.durationSeconds, seconds: 5 },
  };

  it('reports the media while it makes the rendition, for which there is no other Job', () => {
    const { status, create, remove } = see(fresh(), { job: JOB, report });
    expect(status).toMatchObject({ phase: 'preparing', progress: 0.5, media: MEDIA, sourceKey: 'sources/uid-of-film' });
    expect(status.renditions).toMatchObject([{ profile: PROFILE, state: 'pending', preparedSeconds: 5 }]);
    expect([create, remove]).toEqual([[], []]);
    const later = { ...fresh(), status };
    expect(see(later, { job: JOB, report })).toMatchObject({ create: [], remove: [], status });
  });

  it('reports nothing that cannot be true', () => {
    const imported = { media: { ...MEDIA, durationSeconds: 1e9 } };
    expect(see(fresh(), { job: JOB, report: { ...report, imported } }).status.media).toBeUndefined();
  });

  const imported = () => upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });

  it('goes on after a restart of the operator, before it can be asked, and is not the Job of another profile', () => {
    expect(see(imported(), { job: BARE })).toMatchObject({ create: [], remove: [], status: { phase: 'preparing' } });
    const other = see(imported(), {
      job: BARE,
      report: { ...report, profile: PROFILE },
      profiles: [PROFILE, '1080p30'],
    });
    expect(other.create).toMatchObject([{ task: { action: 'rendition', profile: '1080p30' } }]);
    expect(other.remove).toEqual([]);
  });

  it('is complete with both', () => {
    const own = [endedPod({ action: 'import', media: MEDIA, rendition: { ...READY, key: 'of/another' } })];
    for (const owner of [fresh(), imported()]) {
      const { status, create } = see(owner, { job: JOB, own });
      expect(status).toMatchObject({ phase: 'ready', media: MEDIA });
      expect(status.renditions).toEqual([{ ...READY, key: KEY }]);
      expect(create).toEqual([]);
      expect(see({ ...owner, status }, {}).status.renditions).toEqual(status.renditions);
    }
  });

  it('is followed by a Job of the rendition where it could not make that one', () => {
    const own = [endedPod({ action: 'import', media: MEDIA })];
    const before = see(fresh(), { job: JOB, report: { progress: 0.3, prepared: PART } }).status;
    const { status, create } = see({ ...fresh(), status: before }, { job: JOB, own });
    expect(create).toMatchObject([{ task: { action: 'rendition', profile: PROFILE } }]);
    expect(status.renditions).toEqual([{ profile: PROFILE, state: 'pending' }]);
  });

  it('makes way for such a Job when it has failed on the way', () => {
    const { create, remove } = see(imported(), { job: JOB, report, own: [endedPod('', 1)] });
    expect(create).toMatchObject([{ task: { action: 'rendition' } }]);
    expect(remove).toEqual([JOB]);
  });

  it('is removed when nobody needs its rendition any more', () => {
    expect(see(imported(), { job: JOB, report, profiles: [] }).remove).toEqual([JOB]);
    const held = new Map([[PROFILE, undefined]]);
    expect(see(imported(), { job: JOB, report, held, urgent: new Set() }).remove).toEqual([JOB]);
    const grace = new Map([[PROFILE, at(60)]]);
    expect(see(imported(), { job: JOB, report, held: grace, urgent: new Set() })).toMatchObject({
      remove: [],
      requeueAt: at(60),
    });
  });

  it.each(['../../x', PREVIEW_PROFILE])('fails where it reports a rendition that no stream can play: %s', (profile) => {
    const own = [endedPod({ action: 'import', media: MEDIA, rendition: { ...READY, profile } })];
    expect(see(fresh(), { job: JOB, own }).status).toMatchObject({
      phase: 'failed',
      error: { code: 'prepare_failed' },
    });
  });
});

/** Tests how the status of an upload comes to name its poster, and which Jobs make one. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { wantImport, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import type { PrepareProgress } from '../../../../../src/core/protocol/task.ts';
import { findPoster, lacksPoster, posterKey } from '../../../../../src/core/resources/upload/poster.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { importContent, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import { at, endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const fresh = () => upload('film', {});
const KEY = posterKey(importContent('uid-of-film'), 'video', renditionScope('tv'));
const IMPORT = makeJob(fresh(), wantImport(fresh()));
const IMPORTED = { action: 'import', media: MEDIA, poster: true } as const;

interface Seen {
  job?: Job;
  own?: Pod[];
  report?: PrepareProgress;
  profiles?: string[];
  now?: Date;
}

const see = (owner: Upload, { job, own = [], report, profiles = [], now = NOW }: Seen = {}) =>
  decideUpload(owner, {
    profiles,
    held: new Map(),
    urgent: new Set(),
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
    now,
  });

describe('the poster that an import has made', () => {
  it('is in the status of the upload, under a key of its own, and stays there without the Job', () => {
    const { status } = see(fresh(), { job: IMPORT, own: [endedPod(IMPORTED)] });
    expect(status).toMatchObject({ phase: 'ready', poster: KEY });
    expect(see({ ...fresh(), status }).status.poster).toBe(KEY);
    expect(findPoster({ ...fresh(), status })).toBe(KEY);
  });

  it('is not there where the Job says of none', () => {
    const { status } = see(fresh(), { job: IMPORT, own: [endedPod({ action: 'import', media: MEDIA })] });
    expect(status).toMatchObject({ phase: 'ready' });
    expect(status).not.toHaveProperty('poster');
  });

  it('is not waited for: the upload is imported before, and its Job goes on for a moment', () => {
    const report = { progress: 1, imported: { media: MEDIA }, makesPoster: true };
    const first = see(fresh(), { job: IMPORT, report });
    expect(first).toMatchObject({ status: { phase: 'ready', media: MEDIA }, remove: [] });
    const known = { ...fresh(), status: first.status };
    expect(see(known, { job: IMPORT, report, now: at(10) }).remove).toEqual([]);
    expect(see(known, { job: IMPORT, own: [endedPod(IMPORTED)], now: at(11) }).status.poster).toBe(KEY);
    // A pod that reports this for ever keeps its Job no longer.
    expect(see(known, { job: IMPORT, report, now: at(90) }).remove).toEqual([IMPORT]);
    expect(see(known, { job: IMPORT, report: { ...report, makesPoster: false }, now: at(10) }).remove).toEqual([
      IMPORT,
    ]);
  });

  it('is nothing to an upload with another UID, and no other key is a poster', () => {
    const { status } = see(fresh(), { job: IMPORT, own: [endedPod(IMPORTED)] });
    expect(findPoster({ ...upload('other', {}), status })).toBeUndefined();
    for (const poster of ['sources/uid-of-film', '../../etc/passwd', `${KEY}.json`, KEY.replace('poster', '720p30')])
      expect(findPoster({ ...fresh(), status: { ...status, poster } })).toBeUndefined();
  });
});

describe('an upload of an earlier release', () => {
  const old = () => upload('film', { observedGeneration: 1, media: MEDIA, sourceKey: 'sources/uid-of-film' });
  const wanted = () => see(old(), { profiles: ['720p30'] }).create[0];

  it('gets its poster with the next rendition, whose Job is told where to', () => {
    expect(lacksPoster(old())).toBe(true);
    const key = posterKey(MEDIA.sha256, 'video', renditionScope('tv'));
    expect(wanted()?.task).toMatchObject({ action: 'rendition', posterKey: key });
    const job = makeJob(old(), wantRendition(old(), MEDIA, '720p30'));
    const rendition = { profile: '720p30', state: 'ready', durationSeconds: 10, bitrateKbps: 4000 } as const;
    const own = [endedPod({ action: 'rendition', rendition, poster: true })];
    const { status } = see(old(), { job, own, profiles: ['720p30'] });
    expect(status).toMatchObject({ phase: 'ready', poster: key });
    expect(wantRendition({ ...old(), status }, MEDIA, '1080p30').task).not.toHaveProperty('posterKey');
  });

  it('keeps a Job that makes none, and one that still makes it', () => {
    const withPoster = makeJob(old(), wantRendition(old(), MEDIA, '720p30'));
    const has = { ...old(), status: { ...old().status, poster: KEY } };
    const without = makeJob(has, wantRendition(has, MEDIA, '720p30'));
    expect(see(old(), { job: without, profiles: ['720p30'] })).toMatchObject({ create: [], remove: [] });
    expect(see(has, { job: withPoster, profiles: ['720p30'] })).toMatchObject({ create: [], remove: [] });
  });

  it('gets another one when its owner chooses another picture', () => {
    const chosen = {
      ...old(),
      spec: { ...old().spec, tracks: { video: 2 } },
      status: { ...old().status, poster: KEY },
    };
    expect(lacksPoster(chosen)).toBe(true);
    expect(wantRendition(chosen, MEDIA, '720p30').task).toMatchObject({
      posterKey: expect.stringMatching(/-v2\.jpg$/),
    });
    // Until then it shows the earlier one.
    expect(see(chosen).status.poster).toBe(KEY);
  });
});

/** Tests which renditions are made: only those of streams that may go on air. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { PREVIEW_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { at, endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const buildImported = (): Upload =>
  upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
const COMPLETE = [{ type: 'Complete', status: 'True' }];

interface Seen {
  profiles?: string[];
  held?: Record<string, Date | undefined>;
  jobs?: Job[];
  pods?: Pod[];
  now?: Date;
}
const see = (upload: Upload, { profiles = [], held = {}, jobs = [], pods = [], now = NOW }: Seen = {}) =>
  decideUpload(upload, {
    profiles,
    held: new Map(Object.entries(held)),
    urgent: new Set(),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods: new Map(jobs.map((job) => [job.metadata.uid, pods])),
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    keepUnusedMs: 86_400_000,
    sameWork: new Map(),
    progress: new Map(),
    settings: SETTINGS,
    now,
  });

describe('a rendition that only streams want which may not go on air', () => {
  const held = { '720p30': undefined };
  const wish = wantRendition(buildImported(), MEDIA, '720p30');
  const working = makeJob(buildImported(), wish);

  it('has no Job, and the upload reports the wait without having failed', () => {
    const { create, status } = see(buildImported(), { profiles: ['720p30'], held });
    expect(create).toEqual([]);
    expect(status).toMatchObject({ phase: 'ready', progress: 1 });
    expect(status.renditions).toBeUndefined();
    expect(findCondition(status.conditions, 'Prepared')).toMatchObject({
      status: 'False',
      reason: 'OnHold',
      message: 'The upload will be prepared for 720p30 when a stream that plays it may go on air.',
    });
  });

  it('is kept where it is ready', () => {
    const { status } = see(upload(), { profiles: ['720p30'], held });
    expect(status).toMatchObject({ phase: 'ready', renditions: [{ profile: '720p30', state: 'ready' }] });
    expect(findCondition(status.conditions, 'Prepared')?.status).toBe('True');
  });

  it('does not keep others from being made', () => {
    const { create, status } = see(buildImported(), { profiles: ['1080p30', '720p30'], held });
    expect(create.map(({ name }) => name)).toEqual(['film-1080p30']);
    expect(status).toMatchObject({ phase: 'preparing', renditions: [{ profile: '1080p30', state: 'pending' }] });
  });

  it('goes on being made for a while after the credit is used up, and is stopped then', () => {
    const seen = { profiles: ['720p30'], held: { '720p30': at(60) }, jobs: [working] };
    expect(see(buildImported(), seen)).toMatchObject({ remove: [], requeueAt: at(60), status: { phase: 'preparing' } });
    const later = see(buildImported(), { ...seen, now: at(60) });
    expect(later).toMatchObject({ remove: [working], status: { phase: 'ready' } });
    expect(see(buildImported(), { ...seen, held }).remove).toEqual([working]);
  });

  it('is taken where its Job has made it', () => {
    const made = { profile: '720p30', state: 'ready', durationSeconds: 10, bitrateKbps: 4000 } as const;
    const pods = [endedPod({ action: 'rendition', rendition: made })];
    const { status, remove } = see(buildImported(), { profiles: ['720p30'], held, jobs: [working], pods });
    expect(remove).toEqual([]);
    expect(status).toMatchObject({ phase: 'ready', renditions: [{ profile: '720p30', state: 'ready' }] });
  });
});

describe('a Job for a rendition that no stream wants any more', () => {
  const working = (profile: string, conditions?: Parameters<typeof makeJob>[2]) =>
    makeJob(buildImported(), wantRendition(buildImported(), MEDIA, profile), conditions);

  it('is removed, and no other', () => {
    const jobs = [working('720p30'), working('1080p30'), working('2160p30', COMPLETE)];
    expect(see(buildImported(), { profiles: ['1080p30'], jobs }).remove).toEqual([jobs[0]]);
    const foreign = working('1440p30');
    const others = { ...foreign, metadata: { ...foreign.metadata, ownerReferences: [] } };
    expect(see(buildImported(), { jobs: [others] }).remove).toEqual([]);
  });

  it('stays while a viewer wants to see the upload', () => {
    const asked = buildImported();
    asked.metadata.annotations = { [PREVIEW_ANNOTATION]: NOW.toISOString() };
    const preview = makeJob(asked, wantRendition(asked, MEDIA, 'preview'));
    expect(see(asked, { jobs: [preview] }).remove).toEqual([]);
    expect(see(buildImported(), { jobs: [preview] }).remove).toEqual([preview]);
  });
});

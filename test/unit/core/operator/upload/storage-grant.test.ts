/** Tests an upload's use of its account's room. */
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { buildJob, type WantedJob, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MEDIA, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const see = (upload: Upload, seen: Partial<UploadObservation> = {}) =>
  decideUpload(upload, {
    profiles: [],
    held: new Map(),
    urgent: new Set(),
    jobs: new Map(),
    pods: new Map(),
    sameWork: new Map(),
    progress: new Map(),
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    settings: SETTINGS,
    keepUnusedMs: 1,
    now: NOW,
    ...seen,
  } as UploadObservation);

function limited(): Upload {
  const source = upload('film', {});
  return { ...source, spec: { ...source.spec, source: { url: 'https://example.com/a.mp4' }, accountMaxBytes: 1000 } };
}

describe('an import from a link', () => {
  it('brings no more than its grant, and keeps to the grant of its beginning', () => {
    const { create } = see(limited(), { grant: () => ({ maxBytes: 7 }) });
    expect(create.map(({ task }) => task)).toEqual([expect.objectContaining({ maxBytes: 7 })]);
    const built = buildJob(limited(), create[0] as WantedJob, SETTINGS) as unknown as Job;
    const job = { ...built, metadata: { ...built.metadata, uid: 'job' } };
    const jobs = new Map([[job.metadata.name, job]]);
    expect(see(limited(), { jobs, grant: () => 'full' })).toMatchObject({ create: [], remove: [] });
  });

  it('waits while others may bring all that is left', () => {
    const waiting = see(limited(), { grant: () => 'wait' });
    expect(waiting).toMatchObject({ create: [], waitsForRoom: true, status: { phase: 'importing' } });
    expect(waiting.requeueAt?.getTime()).toBeGreaterThan(NOW.getTime());
  });

  it('fails where nothing is left', () => {
    const { status } = see(limited(), { grant: () => 'full' });
    expect(status).toMatchObject({ phase: 'failed', error: { code: 'storage_full' } });
  });
});

it('no rendition is made beyond the account’s limit, and it is made when there is room again', () => {
  const imported = upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
  const profiles = ['720p30'];
  const full = see(imported, { profiles, hasPreparedRoom: () => false });
  expect(full.create).toEqual([]);
  expect(full.status.renditions).toMatchObject([{ state: 'failed', error: { code: 'storage_full' } }]);
  const again = see({ ...imported, status: full.status }, { profiles });
  expect(again.create).toHaveLength(1);
  expect(again.status.renditions).toMatchObject([{ state: 'pending' }]);
});

it('a rendition that found the storage full fails while its Job is there, and is tried again when that is gone', () => {
  const imported = upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
  const profiles = ['720p30'];
  const error = { code: 'storage_full', message: 'In whatever words.' } as const;
  const status = { ...imported.status, renditions: [{ profile: '720p30', state: 'failed' as const, error }] };
  const failed = { ...imported, status };
  const job = makeJob(failed, wantRendition(failed, MEDIA, '720p30'));
  const jobs = new Map([[job.metadata.name, job]]);
  expect(see(failed, { profiles, jobs }).status.renditions).toMatchObject([{ state: 'failed', error }]);
  expect(see(failed, { profiles }).create).toHaveLength(1);
});

/** Tests when a rendition has helpers, and what becomes of them. */
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import {
  getImportedKey,
  type ImportTask,
  wantImport,
  wantRendition,
} from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import type { PrepareProgress } from '../../../../../src/core/protocol/task.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import { at, endedPod, MEDIA, makeHelpersJob, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const PROFILE = '720p30';
/** Ten hours: 113 ranges of twenty chunks. */
const LONG = { ...MEDIA, durationSeconds: 36_000 };
const RANGES = 112;
const HELPERS = `helpers-uid-of-film-${PROFILE}`;

const film = (status: Partial<UploadStatus> = {}): Upload =>
  upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: LONG, ...status });
const wantedJob = wantRendition(film(), LONG, PROFILE);
const lead = makeJob(film(), wantedJob);
const report = (seconds: number, ranges?: number): PrepareProgress => ({
  progress: seconds / 36_000,
  prepared: { seconds, totalSeconds: 36_000, speed: 2 },
  ...(ranges !== undefined && { ranges }),
});
const begun = { [lead.metadata.uid]: report(30, RANGES) };

interface Seen extends Partial<Pick<UploadObservation, 'profiles' | 'urgent' | 'held' | 'now' | 'pods'>> {
  jobs?: Job[];
  progress?: Record<string, PrepareProgress>;
}
const see = (
  seen: Upload,
  { profiles = [PROFILE], jobs = [lead], progress = begun, pods = new Map(), now = NOW, ...more }: Seen = {},
) =>
  decideUpload(seen, {
    profiles,
    held: new Map(),
    urgent: new Set(),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods,
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    keepUnusedMs: 86_400_000,
    settings: SETTINGS,
    sameWork: new Map(),
    progress: new Map(Object.entries(progress)),
    now,
    ...more,
  });

const [wanted] = see(film()).helpers;
if (!wanted) throw new Error('no helpers are wanted');
const helpers = makeHelpersJob(film(), wanted);

describe('a rendition that is made in ranges', () => {
  it('may have helpers for all but the first of them, once its first chunk is made', () => {
    expect(see(film(), { progress: { [lead.metadata.uid]: report(0, RANGES) } }).helpers).toEqual([]);
    expect(see(film(), { progress: { [lead.metadata.uid]: report(30) } }).helpers).toEqual([]);
    expect(wanted).toEqual({
      name: HELPERS,
      task: { ...wantedJob.task, action: 'range', posterKey: undefined },
      ranges: RANGES,
      left: RANGES,
      deadlineSeconds: wantedJob.deadlineSeconds,
      urgent: false,
    });
  });

  it('is urgent while a stream waits for it, and while one plays the beginning', () => {
    const key = wanted.task.renditionKey;
    const renditions = [{ profile: PROFILE, state: 'pending' as const, key, playable: true, preparedSeconds: 60 }];
    expect(see(film(), { urgent: new Set([PROFILE]) }).helpers).toMatchObject([{ urgent: true }]);
    expect(see(film({ renditions })).helpers).toMatchObject([{ urgent: true }]);
  });

  it('has none where its Job claims more ranges than the source has chunks', () => {
    expect(see(film(), { progress: { [lead.metadata.uid]: report(30, 100_000) } }).helpers).toEqual([]);
  });

  it('keeps its helpers when its pod cannot be asked, with the ranges that are left', () => {
    const jobs = [lead, { ...helpers, status: { active: 3, succeeded: 20 } }];
    const { helpers: kept, remove } = see(film(), { jobs, progress: {} });
    expect(kept).toMatchObject([{ name: HELPERS, ranges: RANGES, left: RANGES - 20 }]);
    expect(remove).toEqual([]);
  });

  it.each(['Complete', 'Failed'])('leaves helpers alone whose Job is %s, and asks for no others', (type) => {
    const jobs = [lead, { ...helpers, status: { conditions: [{ type, status: 'True' }] } }];
    expect(see(film(), { jobs })).toMatchObject({ helpers: [], remove: [], status: { phase: 'preparing' } });
  });

  it('is what its own Job says, whatever its helpers say', () => {
    const jobs = [lead, helpers];
    for (const pod of [
      endedPod({ action: 'failed', error: { code: 'media_unreadable', message: 'No.' } }),
      endedPod('?'),
    ])
      expect(see(film(), { jobs, pods: new Map([[helpers.metadata.uid, [pod]]]) })).toMatchObject({
        helpers: [{ name: HELPERS }],
        remove: [],
        status: { phase: 'preparing' },
      });
  });

  it('has new helpers where those there are make another one', () => {
    const task = { ...wanted.task, renditionKey: 'renditions/another' };
    const jobs = [lead, makeHelpersJob(film(), { ...wanted, task })];
    const { helpers: kept, remove } = see(film(), { jobs });
    expect(kept).toEqual([]);
    expect(remove.map(({ metadata }) => metadata.name)).toEqual([HELPERS]);
  });
});

describe('a rendition that an import makes', () => {
  const fresh = upload('film', {});
  const importJob = wantImport(fresh, true, { profile: PROFILE });
  const job = makeJob(fresh, importJob);
  const said = { ...report(30, RANGES), profile: PROFILE };

  it('may have helpers once the source is stored, under the key that the import was given', () => {
    const jobs = [job];
    expect(see(fresh, { jobs, progress: { [job.metadata.uid]: said } }).helpers).toEqual([]);
    const progress = { [job.metadata.uid]: { ...said, imported: { media: LONG } } };
    const renditionKey = getImportedKey(importJob.task as ImportTask, PROFILE);
    expect(see(fresh, { jobs, progress }).helpers).toMatchObject([
      { name: HELPERS, ranges: RANGES, task: { action: 'range', sourceKey: 'sources/uid-of-film', renditionKey } },
    ]);
  });
});

describe('helpers are removed', () => {
  const jobs = [lead, helpers];
  const removed = (seen: Upload, more: Seen = {}) =>
    see(seen, { jobs, ...more }).remove.map(({ metadata }) => metadata.name);

  it('when the rendition is complete, also those that have ended', () => {
    const rendition = { profile: PROFILE, state: 'ready' as const, durationSeconds: 36_000, bitrateKbps: 4000 };
    const pods = new Map([[lead.metadata.uid, [endedPod({ action: 'rendition', rendition })]]]);
    expect(see(film(), { jobs, pods }).helpers).toEqual([]);
    expect(removed(film(), { pods })).toEqual([HELPERS]);
    const over = { ...helpers, status: { conditions: [{ type: 'Complete', status: 'True' }] } };
    expect(removed(film(), { jobs: [lead, over], pods })).toEqual([HELPERS]);
  });

  it('when it has failed', () => {
    const error = { code: 'media_unreadable' as const, message: 'Cut off.' };
    const pods = new Map([[lead.metadata.uid, [endedPod({ action: 'failed', error })]]]);
    expect(see(film(), { jobs, pods }).status.phase).toBe('failed');
    expect(removed(film(), { pods })).toEqual([HELPERS]);
  });

  it('together with its own Job when nobody wants it any more: the quality was edited, the stream is gone', () => {
    expect(removed(film(), { profiles: ['1080p30'] })).toEqual([lead.metadata.name, HELPERS]);
    expect(removed(film(), { profiles: [] })).toEqual([lead.metadata.name, HELPERS]);
  });

  it('when the streams that want it have not been allowed on air for too long', () => {
    const held = (until: Date) => ({ held: new Map([[PROFILE, until]]) });
    expect(removed(film(), held(at(60)))).toEqual([]);
    expect(removed(film(), held(at(-1)))).toEqual([lead.metadata.name, HELPERS]);
  });

  it('when its Job is gone, and not twice', () => {
    expect(removed(film(), { jobs: [helpers] })).toEqual([HELPERS]);
    const going = { ...helpers, metadata: { ...helpers.metadata, deletionTimestamp: '2026-06-01T12:00:00Z' } };
    expect(removed(film(), { jobs: [going] })).toEqual([]);
  });
});

describe('the Job of helpers', () => {
  const spec = JSON.parse(JSON.stringify(helpers.spec));

  it('has a pod for each range, which a bad range of another pod does not end', () => {
    expect(spec).toMatchObject({
      completionMode: 'Indexed',
      completions: RANGES,
      parallelism: 3,
      backoffLimitPerIndex: 2,
    });
    for (const field of ['backoffLimit', 'maxFailedIndexes']) expect(spec).not.toHaveProperty(field);
    expect(spec.podReplacementPolicy).toBe('Failed');
  });

  it('has a name that leaves room for the number of its pods, however long the name of the upload is', () => {
    const uid = '01234567-89ab-cdef-0123-456789abcdef';
    const long = { ...film(), metadata: { ...film().metadata, name: 'f'.repeat(55), uid } };
    const job = makeJob(long, wantRendition(long, LONG, '1080p60'));
    const [found] = see(long, {
      profiles: ['1080p60'],
      jobs: [job],
      progress: { [job.metadata.uid]: report(30, RANGES) },
    }).helpers;
    expect(`${found?.name}-100000`.length).toBeLessThanOrEqual(63);
  });

  it('spreads its pods over the nodes, and yields the processor to all others', () => {
    const cpu = (job: Job) => {
      const pod = job.spec.template?.spec;
      const all = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
      return all.reduce((sum, { resources }) => sum + Number.parseInt(resources?.requests?.cpu ?? '', 10), 0);
    };
    expect(spec.template.spec.topologySpreadConstraints).toMatchObject([{ whenUnsatisfiable: 'ScheduleAnyway' }]);
    const make = (urgent: boolean, profile = PROFILE) => makeJob(film(), wantRendition(film(), LONG, profile, urgent));
    const order = [helpers, make(false), make(false, 'preview'), make(true)].map(cpu);
    expect(order).toEqual([2, 30, 150, 250]);
  });
});

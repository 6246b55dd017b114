import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { addWaitingStates, decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { buildUploadEvents } from '../../../../../src/core/operator/upload/events.ts';
import { buildJob, type WantedJob, wantImport, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import { prepareConfig } from '../../../../../src/core/protocol/environment.ts';
import type { PrepareProgress } from '../../../../../src/core/protocol/task.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { PREVIEW_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { getPreviewState, requestPreview } from '../../../../../src/core/resources/upload/requested.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import { warn } from '../../../../../src/core/resources/upload/warnings.ts';
import { at, endedPod, MEDIA, makeJob, NOW, rendition, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const fresh = () => upload('film', {});
const buildImported = (): Upload =>
  upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
const COMPLETE = [{ type: 'Complete', status: 'True' }];
const failed = (reason: string) => [{ type: 'Failed', status: 'True', reason }];

function see(
  upload: Upload,
  seen: {
    profiles?: string[];
    urgent?: string[];
    jobs?: Job[];
    pods?: Pod[];
    progress?: Record<string, PrepareProgress>;
    sameSource?: string;
    sameWork?: Record<string, Job>;
    now?: Date;
  } = {},
) {
  const { profiles = [], jobs = [], pods = [], now = NOW } = seen;
  return decideUpload(upload, {
    profiles,
    held: new Map(),
    urgent: new Set(seen.urgent),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods: new Map(jobs.map((job) => [job.metadata.uid, pods])),
    sameSource: () => seen.sameSource,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    keepUnusedMs: 86_400_000,
    settings: SETTINGS,
    sameWork: new Map(Object.entries(seen.sameWork ?? {})),
    progress: new Map(Object.entries(seen.progress ?? {})),
    now,
  });
}
const error = { code: 'media_unreadable', message: 'Cut off.' } as const;

describe('an upload that a client sends', () => {
  const buildSent = (receivedBytes: number): Upload => ({
    ...fresh(),
    spec: { track: 'video', source: { sent: { sizeBytes: 100, receivedBytes } } },
  });

  it('has no Job before all of it has come, and says how far it is', () => {
    const { create, status } = see(buildSent(40));
    expect(create).toEqual([]);
    expect(status).toMatchObject({ phase: 'importing', progress: 0.2 });
    expect(findCondition(status.conditions, 'Imported')).toMatchObject({ status: 'False', reason: 'Receiving' });
  });

  it('is imported out of its pieces then', () => {
    const { create, status } = see(buildSent(100));
    expect(status).toMatchObject({ phase: 'importing', progress: 0.5 });
    expect(create.map(({ task }) => task)).toEqual([
      {
        action: 'import',
        type: 'video',
        sourceKey: 'sources/uid-of-film',
        sent: { key: 'incoming/uid-of-film', sizeBytes: 100 },
        renditions: { content: 'upload-uid-of-film', scope: renditionScope('tv') },
      },
    ]);
  });
});

describe('an upload with the content of another one of its account', () => {
  const seen = { profiles: ['720p30'], sameSource: 'sources/older' };
  const jobs = [makeJob(fresh(), wantImport(fresh()))];

  it('has the source of that one, for its renditions too', () => {
    const pods = [endedPod({ action: 'import', media: MEDIA })];
    const { status, create } = see(fresh(), { ...seen, jobs, pods });
    expect(status.sourceKey).toBe('sources/older');
    expect(create.map(({ task }) => task.sourceKey)).toEqual(['sources/older']);
    expect(see({ ...fresh(), status }, { ...seen, sameSource: 'sources/another' }).status.sourceKey).toBe(
      'sources/older',
    );
  });

  it('keeps its own where it has been imported before', () => {
    expect(see(buildImported(), seen).status.sourceKey).toBe('sources/uid-of-film');
  });
});

describe('the import of an upload', () => {
  it('makes the Job, once', () => {
    const { create, status } = see(fresh());
    expect(create.map(({ name }) => name)).toEqual(['film-import']);
    expect(status).toMatchObject({ phase: 'importing', progress: 0, observedGeneration: 1 });
    const job = makeJob(fresh(), wantImport(fresh()));
    expect(see(fresh(), { jobs: [job] })).toMatchObject({ create: [], remove: [], status: { phase: 'importing' } });
  });

  it('is ready with the pod’s result, before the Job is counted as complete too', () => {
    const jobs = [makeJob(fresh(), wantImport(fresh()))];
    const { status } = see(fresh(), { jobs, pods: [endedPod({ action: 'import', media: MEDIA })] });
    expect(status).toMatchObject({ phase: 'ready', progress: 1, media: MEDIA, sourceKey: 'sources/uid-of-film' });
    expect(findCondition(status.conditions, 'Imported')?.status).toBe('True');
    expect(buildUploadEvents({}, status).map(({ reason }) => reason)).toEqual(['MediaImported']);
  });

  it.each([
    ['the pod says so', [], endedPod({ action: 'failed', error }), 'media_unreadable'],
    ['the pod answers nonsense', [], endedPod('?'), 'prepare_failed'],
    ['the pod answers nothing', [], endedPod(''), 'prepare_failed'],
    ['all tries failed without a word', failed('BackoffLimitExceeded'), endedPod('', 1), 'prepare_failed'],
    [
      'all tries failed, the last for a reason',
      failed('BackoffLimitExceeded'),
      endedPod({ action: 'failed', error }, 1),
      'media_unreadable',
    ],
    ['it took too long', failed('DeadlineExceeded'), undefined, 'prepare_timeout'],
  ])('fails for good when %s', (_what, conditions, pod, code) => {
    const job = makeJob(fresh(), wantImport(fresh()), conditions);
    const jobs = [{ ...job, status: { ...job.status, failed: 1 } }];
    const { status, create } = see(fresh(), { jobs, pods: pod ? [pod] : [] });
    expect(status).toMatchObject({ phase: 'failed', error: { code } });
    expect(create).toEqual([]);
    const later = { ...fresh(), status };
    expect(see(later, { profiles: ['720p30'] })).toMatchObject({ create: [], remove: [], status: { phase: 'failed' } });
  });

  it('is tried again when the time of a Job was up before it had a pod, which may have been refused', () => {
    const jobs = [makeJob(fresh(), wantImport(fresh()), failed('DeadlineExceeded'))];
    expect(see(fresh(), { jobs })).toMatchObject({ remove: jobs, status: { phase: 'importing' } });
  });

  it('goes on while a try has failed and others are left', () => {
    const jobs = [makeJob(fresh(), wantImport(fresh()))];
    expect(see(fresh(), { jobs, pods: [endedPod({ action: 'failed', error }, 1)] }).status.phase).toBe('importing');
  });

  it('waits for the status of a pod whose Job is complete, and does it again when that is lost', () => {
    const jobs = [makeJob(fresh(), wantImport(fresh()), COMPLETE)];
    expect(see(fresh(), { jobs, now: at(1) })).toMatchObject({ remove: [], create: [], requeueAt: at(15) });
    expect(see(fresh(), { jobs, now: at(16) }).remove).toEqual(jobs);
  });

  it('is tried again after an edit, when the old Job is gone', () => {
    const jobs = [makeJob(fresh(), wantImport(fresh()), failed('BackoffLimitExceeded'))];
    const edited = { ...fresh(), status: see(fresh(), { jobs }).status };
    edited.metadata = { ...edited.metadata, generation: 2 };
    expect(see(edited, { jobs })).toMatchObject({ remove: jobs, create: [], status: { phase: 'importing' } });
    expect(see(edited).create).toHaveLength(1);
  });

  it('removes a Job that an upload of the same name left behind, waits for it, and leaves that of somebody else', () => {
    const job = makeJob({ ...fresh(), metadata: { ...fresh().metadata, uid: 'another' } }, wantImport(fresh()));
    const waits = { create: [], status: { phase: 'importing' } };
    expect(see(fresh(), { jobs: [job] })).toMatchObject({ ...waits, remove: [job] });
    const going = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-06-01T12:00:00Z' } };
    const foreign = { ...job, metadata: { ...job.metadata, labels: { app: 'another' } } };
    for (const other of [going, foreign])
      expect(see(fresh(), { jobs: [other] })).toMatchObject({ ...waits, remove: [] });
  });
});

describe('the renditions of an upload', () => {
  const wish = (profile: string): WantedJob => wantRendition(buildImported(), MEDIA, profile);

  it('are made for the profiles that streams ask for', () => {
    const { status, create } = see(buildImported(), { profiles: ['720p30', '1080p60'] });
    expect(create.map(({ name }) => name)).toEqual(['film-1080p60', 'film-720p30']);
    expect(status).toMatchObject({ phase: 'preparing', progress: 0 });
    expect(findCondition(status.conditions, 'Prepared')?.message).toBe(
      'The upload is being prepared for 1080p60, 720p30.',
    );
  });

  it('say which of them wait for their turn', () => {
    const { status } = see(buildImported(), { profiles: ['720p30', '1080p60'], urgent: ['720p30'] });
    const says = (...queued: string[]) => {
      const { conditions } = addWaitingStates(buildImported(), status, new Set(queued));
      const { reason, message } = findCondition(conditions, 'Prepared') ?? {};
      return [reason, message];
    };
    expect(says()).toEqual(['Preparing', 'The upload is being prepared for 1080p60, 720p30.']);
    expect(says('film-720p30')).toEqual([
      'Queued',
      'The upload is being prepared for 1080p60; 720p30 waits for other preparations to end.',
    ]);
    expect(says('film-720p30', 'film-1080p60')).toEqual([
      'Queued',
      '1080p60, 720p30 wait for other preparations to end.',
    ]);
    const waiting = addWaitingStates(fresh(), see(fresh()).status, new Set(['film-import']));
    expect(waiting.conditions?.map(({ reason, status: is }) => [reason, is])).toEqual([
      ['Queued', 'False'],
      ['Queued', 'False'],
    ]);
    const { create } = see(buildImported(), { profiles: ['720p30', '1080p60'], urgent: ['720p30'] });
    expect(create.map(({ urgent }) => urgent)).toEqual([false, true]);
  });

  it('have their Jobs’ progress, and an unreachable one lowers none', () => {
    const jobs = [makeJob(buildImported(), wish('720p30')), makeJob(buildImported(), wish('1080p60'))];
    const look = (upload: Upload, ...fractions: (number | undefined)[]) =>
      see(upload, {
        profiles: ['720p30', '1080p60'],
        jobs,
        progress: Object.fromEntries(
          jobs.flatMap(({ metadata }, index) => {
            const fraction = fractions[index];
            return fraction === undefined ? [] : [[metadata.uid, { progress: fraction }]];
          }),
        ),
      }).status;
    const first = look(buildImported(), 0.4);
    expect(first).toMatchObject({ phase: 'preparing', progress: 0.2 });
    const then = (...fractions: (number | undefined)[]) =>
      look({ ...buildImported(), status: first }, ...fractions).progress;
    expect(then(0.48, undefined)).toBe(0.2);
    expect(then(0.6, undefined)).toBe(0.3);
    expect(then()).toBe(0.2);
    expect(then(0, 0)).toBe(0);
  });

  describe('that can be played before they are complete', () => {
    const film = { ...MEDIA, durationSeconds: 3600 };
    const source = upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: film });
    const wanted = wantRendition(source, film, '720p30');
    const job = makeJob(source, wanted);
    const key = wanted.task.action === 'rendition' ? wanted.task.renditionKey : '';
    const prepared = { seconds: 60, totalSeconds: 3600, speed: 2 };
    const answer = (part = prepared) => ({ [job.metadata.uid]: { progress: 0.02, prepared: part } });
    const look = (before: Upload, seen: Parameters<typeof see>[1] = {}) =>
      see(before, { profiles: ['720p30'], jobs: [job], ...seen }).status;
    const playable = { ...source, status: look(source, { progress: answer() }) };

    it('say so, while the upload is still being prepared', () => {
      expect(playable.status).toMatchObject({
        phase: 'preparing',
        renditions: [{ profile: '720p30', state: 'pending', playable: true, key, preparedSeconds: 60 }],
      });
      expect(findCondition(playable.status.conditions, 'Prepared')?.status).toBe('False');
      expect(buildUploadEvents(source.status, playable.status).map(({ reason }) => reason)).toEqual(['MediaPlayable']);
      expect(buildUploadEvents(playable.status, playable.status)).toEqual([]);
    });

    it('say so, too, where the Job of another upload makes the same', () => {
      const status = look(source, { jobs: [], sameWork: { [key]: job }, progress: answer() });
      expect(status.renditions).toEqual(playable.status.renditions);
    });

    it('say no more than can be true', () => {
      const status = look(source, { progress: answer({ ...prepared, totalSeconds: 8000 }) });
      expect(status.renditions).toEqual([{ profile: '720p30', state: 'pending' }]);
    });

    it('stay so while nobody answers, and when the Job has to be made again', () => {
      const [shown] = playable.status.renditions ?? [];
      expect(look(playable).renditions).toEqual([shown]);
      const { estimatedReadyAt: _, ...rest } = shown ?? {};
      expect(look(playable, { jobs: [] }).renditions).toEqual([rest]);
    });

    it('have a Job made again in front of others, since a stream may be on air with them', () => {
      const again = (loaded: Upload) => see(loaded, { profiles: ['720p30'] }).create.map(({ urgent }) => urgent);
      expect(again(playable)).toEqual([true]);
      expect(again(source)).toEqual([false]);
    });

    it('are so only for what the upload now is', () => {
      const audio = { ...playable, spec: { ...playable.spec, track: 'audio' as const } };
      expect(look(audio).renditions).toEqual([{ profile: '720p30', state: 'pending' }]);
    });

    it('have nothing left of that when they are ready, fail or are not wanted any more', () => {
      const made = { action: 'rendition', rendition: rendition('720p30', { durationSeconds: 3599 }) } as const;
      const done = { key, durationSeconds: 3599, bitrateKbps: 4000 };
      expect(look(playable, { pods: [endedPod(made)] }).renditions).toEqual([
        { profile: '720p30', state: 'ready', ...done },
      ]);
      expect(look(playable, { pods: [endedPod({ action: 'failed', error })] }).renditions).toEqual([
        { profile: '720p30', state: 'failed', error },
      ]);
      expect(look(playable, { profiles: [] }).renditions).toBeUndefined();
    });

    it('do not include a preview, which is too short for that', () => {
      const annotations = { [PREVIEW_ANNOTATION]: NOW.toISOString() };
      const asked = { ...source, metadata: { ...source.metadata, annotations } };
      const preview = makeJob(asked, wantRendition(asked, film, 'preview'));
      const whole = { progress: 1, prepared: { seconds: 60, totalSeconds: 60, speed: 2 } };
      const status = see(asked, { jobs: [preview], progress: { [preview.metadata.uid]: whole } }).status;
      expect(status.renditions).toEqual([{ profile: 'preview', state: 'pending' }]);
    });
  });

  it('are ready one by one', () => {
    const jobs = [makeJob(buildImported(), wish('720p30'))];
    const made = { action: 'rendition', rendition: rendition('720p30', { durationSeconds: 10 }) } as const;
    const { status } = see(buildImported(), { profiles: ['720p30', '1080p60'], jobs, pods: [endedPod(made)] });
    expect(status.renditions?.map(({ profile, state }) => [profile, state])).toEqual([
      ['1080p60', 'pending'],
      ['720p30', 'ready'],
    ]);
    expect(status).toMatchObject({ phase: 'preparing', progress: 0.5 });
  });

  it('stay when their Jobs are removed and when no stream uses them any more', () => {
    const ready = upload();
    expect(see(ready, { profiles: ['720p30'] })).toMatchObject({ create: [], status: { phase: 'ready' } });
    const [kept, ...more] = see(ready).status.renditions ?? [];
    expect(more).toEqual([]);
    expect(kept).toEqual({ ...ready.status?.renditions?.[0], unwantedSince: '2026-06-01T12:00:00Z' });
  });

  it('are forgotten after a long time without use, and made again for the next use', () => {
    const unwanted = { ...upload(), status: see(upload()).status };
    const day = 86_400;
    const hourLater = see(unwanted, { now: at(3600) });
    expect(hourLater).toMatchObject({ status: unwanted.status, requeueAt: at(day) });
    const wanted = see(unwanted, { profiles: ['720p30'], now: at(day - 1) });
    expect(wanted.status.renditions).toEqual(upload().status?.renditions);
    const forgotten = see(unwanted, { now: at(day) });
    expect(forgotten.status.renditions).toBeUndefined();
    expect(forgotten.status.phase).toBe('ready');
    const again = see({ ...upload(), status: forgotten.status }, { profiles: ['720p30'] });
    expect(again.create.map(({ name }) => name)).toEqual(['film-720p30']);
  });

  it('add changes made meanwhile to their import’s warnings, once', () => {
    const told = [warn('picture_held', 'For 10.0 s.')];
    const before = { ...buildImported(), status: { ...buildImported().status, warnings: told } };
    const warnings = [warn('silence_added', 'For 2.0 s.'), warn('picture_held', 'For 10.1 s.')];
    const made = endedPod({ action: 'rendition', rendition: rendition('720p30'), warnings });
    const jobs = [makeJob(before, wish('720p30'), COMPLETE)];
    const { status } = see(before, { profiles: ['720p30'], jobs, pods: [made] });
    expect(status).toMatchObject({ phase: 'ready', warnings: [warnings[1], warnings[0]] });
    expect(buildUploadEvents(before.status, status)).toMatchObject([
      { type: 'Warning', reason: 'SilenceAdded', message: warnings[0]?.message },
      { reason: 'MediaPrepared' },
    ]);
    const later = see({ ...before, status }, { profiles: ['720p30'], jobs });
    expect(later.status).toEqual(status);
  });

  it('fail once two pods have met a step without an end, and their Job goes', () => {
    const endless = {
      action: 'failed',
      error: { code: 'media_too_complex', message: 'No end.' },
      isEndless: true,
    } as const;
    const jobs = [makeJob(buildImported(), wish('720p30'))];
    const seeWith = (pods: Pod[]) => see(buildImported(), { profiles: ['720p30'], jobs, pods });
    const once = seeWith([endedPod(endless, 70), endedPod('', 1)]);
    expect([once.status.phase, once.remove]).toEqual(['preparing', []]);
    const twice = seeWith([endedPod(endless, 70), endedPod(endless, 137)]);
    expect(twice.status).toMatchObject({ phase: 'failed', error: { code: 'media_too_complex' } });
    expect(twice.remove).toEqual(jobs);
  });

  it('fail for good, and say why', () => {
    const jobs = [makeJob(buildImported(), wish('720p30'), failed('BackoffLimitExceeded'))];
    const { status } = see(buildImported(), { profiles: ['720p30'], jobs });
    expect(status).toMatchObject({ phase: 'failed', error: { code: 'prepare_failed' } });
    expect(see({ ...buildImported(), status }, { profiles: ['720p30'] }).create).toEqual([]);
    expect(buildUploadEvents(buildImported().status, status).map(({ reason }) => reason)).toEqual(['MediaFailed']);
  });
});

describe('an upload that somebody wants to see', () => {
  const askPreview = (upload: Upload, time = NOW): Upload => ({
    ...upload,
    metadata: { ...upload.metadata, annotations: { [PREVIEW_ANNOTATION]: time.toISOString() } },
  });
  const job = () => makeJob(buildImported(), wantRendition(buildImported(), MEDIA, 'preview'));
  const made = endedPod({ action: 'rendition', rendition: rendition('preview', { durationSeconds: 10 }) });

  it('has a preview made that no stream waits for, and is ready meanwhile', () => {
    const { create, status, requeueAt } = see(askPreview(buildImported()));
    expect(create).toMatchObject([{ name: 'film-preview', urgent: false, deadlineSeconds: 1880 }]);
    expect(status).toMatchObject({
      phase: 'ready',
      progress: 1,
      renditions: [{ profile: 'preview', state: 'pending' }],
    });
    expect(findCondition(status.conditions, 'Prepared')).toMatchObject({ status: 'True', reason: 'NothingWanted' });
    expect(getPreviewState({ ...buildImported(), status })).toBe('preparing');
    expect(requeueAt).toEqual(at(3600));
    const queued = addWaitingStates(askPreview(buildImported()), status, new Set(['film-preview']));
    expect(queued).toEqual(status);
  });

  it('shows it when it is made, and keeps it as long as all that no stream asks for', () => {
    const { status, create } = see(askPreview(buildImported()), { jobs: [job()], pods: [made] });
    expect(create).toEqual([]);
    expect(getPreviewState({ ...buildImported(), status })).toBe('ready');
    const day = 86_400;
    const kept = see(askPreview({ ...buildImported(), status }), { now: at(1) });
    expect(kept).toMatchObject({ create: [], requeueAt: at(day + 1) });
    const forgotten = see({ ...askPreview(buildImported()), status: kept.status }, { now: at(day + 1) });
    expect(forgotten).toMatchObject({ create: [], status: { phase: 'ready' } });
    expect(forgotten.status.renditions).toBeUndefined();
  });

  it('says that it failed, which keeps no stream from it, and has it tried again when somebody asks later', () => {
    const { status } = see(askPreview(buildImported()), {
      jobs: [job()],
      pods: [endedPod({ action: 'failed', error })],
    });
    expect(status.phase).toBe('ready');
    expect(status.error).toBeUndefined();
    expect(getPreviewState({ ...buildImported(), status })).toBe('failed');
    expect(requestPreview({ ...askPreview(buildImported()), status }, at(60))).toBeUndefined();
    const later = {
      ...askPreview(buildImported()),
      status: see({ ...askPreview(buildImported()), status }, { now: at(3601) }).status,
    };
    expect(getPreviewState(later)).toBeNull();
    expect(see(askPreview(later, at(3601)), { now: at(3601) }).create).toHaveLength(1);
  });

  it('needs none where a stream has had it prepared, nor before it has come', () => {
    expect(see(askPreview(upload())).create).toEqual([]);
    expect(requestPreview(upload(), NOW)).toBeUndefined();
    expect(requestPreview(fresh(), NOW)).toBeUndefined();
    expect(requestPreview(buildImported(), NOW)?.annotations).toEqual({ [PREVIEW_ANNOTATION]: '2026-06-01T12:00:00Z' });
    expect(see(askPreview(buildImported(), at(-3601))).create).toEqual([]);
    expect(see(askPreview(buildImported(), at(365 * 86_400))).create).toEqual([]);
  });
});

describe('the Job', () => {
  const bare = { ...buildImported(), status: {} };
  // biome-ignore lint/suspicious/noExplicitAny: the builder's answer has the shape of a Job, which is not typed here.
  const spec = JSON.parse(JSON.stringify(buildJob(bare, wantImport(bare), SETTINGS).spec)) as any;
  const container = spec.template.spec.containers[0];

  it('hands over everything that prepare reads', () => {
    const env = Object.fromEntries(
      container.env.map((entry: { name: string; value: string }) => [entry.name, entry.value]),
    );
    expect(prepareConfig(env)).toMatchObject({
      task: {
        action: 'import',
        url: 'https://media.example/film.mp4',
        type: 'video',
        sourceKey: 'sources/uid-of-film',
      },
      resultFile: container.terminationMessagePath,
      storageUrl: 'file:///media',
      allowPrivateLinks: false,
      maxSourceBytes: 20 * 2 ** 30,
    });
  });

  it('listens where the operator asks it, on the pod’s own address', () => {
    const port = container.env.find(({ name }: { name: string }) => name === 'LOOPSTREAM_PORT')?.value;
    expect(container.ports).toEqual([{ name: 'progress', containerPort: Number(port), protocol: 'TCP' }]);
    const host = container.env.find(({ name }: { name: string }) => name === 'LOOPSTREAM_HOST');
    expect(host.valueFrom).toEqual({ fieldRef: { fieldPath: 'status.podIP' } });
  });

  it('ends, is cleared away, has no token, and counts no drained node as a failure', () => {
    const activeDeadlineSeconds = 5700 + SETTINGS.maxPrepareSeconds;
    expect(spec).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds, podReplacementPolicy: 'Failed' });
    expect(spec.template.spec).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false });
    expect(spec.podFailurePolicy.rules[0].action).toBe('Ignore');
  });
});

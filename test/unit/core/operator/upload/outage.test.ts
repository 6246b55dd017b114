/** Tests that a link whose server is away waits without a Job, and that a failed one is retried on request. */
import { describe, expect, test } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { buildJob, wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { planWait } from '../../../../../src/core/operator/upload/outage.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { RETRY_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import { endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const AWAY = {
  code: 'link_unreachable',
  message: 'The link could not be fetched. The server returned status 503.',
} as const;
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const iso = (seconds: number) => later(seconds).toISOString().replace('.000Z', 'Z');

function see(upload: Upload, { jobs = [], pods = [], now = NOW }: { jobs?: Job[]; pods?: Pod[]; now?: Date } = {}) {
  return decideUpload(upload, {
    profiles: [],
    held: new Map(),
    urgent: new Set<string>(),
    sameWork: new Map(),
    progress: new Map(),
    keepUnusedMs: 1e9,
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    settings: SETTINGS,
    now,
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods: new Map(jobs.map((job) => [job.metadata.uid, pods])),
  });
}
const fresh = (status: UploadStatus = {}) => upload('film', status);
const job = () => makeJob(fresh(), wantImport(fresh()));
const ended = (retryAfterSeconds?: number) =>
  endedPod({ action: 'failed', error: AWAY, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });

describe('an import whose server is away', () => {
  const first = see(fresh(), { jobs: [job()], pods: [ended(0)] });

  test('has no Job while it waits, and reports the reason and the end', () => {
    expect(first.remove.map(({ metadata }) => metadata.name)).toEqual(['film-import']);
    expect(first.create).toEqual([]);
    expect(first.status).toMatchObject({ phase: 'importing' });
    expect(first.status.error).toBeUndefined();
    expect(first.status.waiting).toEqual({
      message: 'The server returned status 503.',
      tries: 1,
      since: iso(0),
      nextTryAt: iso(10),
      until: iso(1800),
    });
    expect(findCondition(first.status.conditions, 'Imported')).toMatchObject({ reason: 'WaitingForLink' });
    const waiting = see(fresh(first.status), { now: later(5) });
    expect(waiting).toMatchObject({ create: [], requeueAt: later(10) });
  });

  test('is tried again when the time has come, also by an operator that has just begun', () => {
    expect(see(fresh(first.status), { now: later(10) }).create.map(({ name }) => name)).toEqual(['film-import']);
  });

  test('is not believed to have failed again because its first Job is still seen', () => {
    const { status, create } = see(fresh(first.status), { jobs: [job()], pods: [ended(0)], now: later(1) });
    expect(create).toEqual([]);
    expect(status.waiting).toEqual(first.status.waiting);
  });

  test('says nothing of waiting once the file has come', () => {
    const come = see(fresh(first.status), {
      jobs: [job()],
      now: later(20),
      pods: [endedPod({ action: 'import', media: MEDIA })],
    });
    expect(come.status).toMatchObject({ phase: 'ready' });
    expect(come.status.waiting).toBeUndefined();
  });

  test('is given up after half an hour, with the reason and how often it was tried', () => {
    const { status } = see(fresh(first.status), { jobs: [job()], pods: [ended(0)], now: later(1800) });
    expect(status).toMatchObject({ phase: 'failed', error: { code: 'link_unreachable' } });
    expect(status.error?.message).toContain('503. The import tried the link 2 times');
  });

  test('fails at once where minutes do not help', () => {
    const { status } = see(fresh(), { jobs: [job()], pods: [ended()] });
    expect(status).toMatchObject({ phase: 'failed', error: AWAY });
  });
});

describe('the wait', () => {
  const failure = (retryAfterSeconds: number) => ({ error: AWAY, retryAfterSeconds });

  test('grows, and ends within half an hour of the first failure', () => {
    const waits: number[] = [];
    let now = NOW;
    let waiting = planWait(undefined, failure(0), now);
    while (waiting) {
      waits.push((Date.parse(waiting.nextTryAt) - now.getTime()) / 1000);
      now = new Date(waiting.nextTryAt);
      waiting = planWait(waiting, failure(0), now);
    }
    expect(waits.slice(0, 6)).toEqual([10, 20, 40, 80, 160, 300]);
    expect(waits.reduce((sum, wait) => sum + wait)).toBe(1800);
  });

  test.each([
    [60, 60],
    [3, 10],
    [86_400, 1800],
    [1e12, 1800],
  ])('of a server that asks for %i s is %i s', (asked, seconds) => {
    expect(planWait(undefined, failure(asked), NOW)?.nextTryAt).toBe(iso(seconds));
  });
});

describe('an upload that has failed', () => {
  const failed = (annotation?: string, status: UploadStatus = {}): Upload => {
    const one = fresh({ observedGeneration: 1, phase: 'failed', error: AWAY, ...status });
    return {
      ...one,
      metadata: {
        ...one.metadata,
        ...(annotation !== undefined && { annotations: { [RETRY_ANNOTATION]: annotation } }),
      },
    };
  };

  test('is tried again once for each new value of the annotation', () => {
    const asked = failed(iso(-5));
    const { remove, status } = see(asked, { jobs: [job()], pods: [ended()] });
    expect(remove).toHaveLength(1);
    expect(status).toMatchObject({ phase: 'importing', retried: iso(-5) });
    const next = see({ ...asked, status });
    expect(next.create).toMatchObject([{ name: 'film-import', retry: iso(-5) }]);
    const [wish] = next.create;
    const made = wish && buildJob(asked, wish, SETTINGS);
    expect(made?.metadata.annotations?.[RETRY_ANNOTATION]).toBe(iso(-5));
    const again = see(failed(iso(-5), { retried: iso(-5) }));
    expect(again).toMatchObject({ create: [], status: { phase: 'failed' } });
  });

  test.each([
    ['an old wish', failed(iso(-600))],
    ['none', failed()],
  ])('is left alone by %s', (_what, one) => {
    expect(see(one)).toMatchObject({ create: [], status: { phase: 'failed' } });
  });

  test('and was sent by a client is tried again too: its source may have been adopted', () => {
    const sent = {
      ...failed(iso(-5)),
      spec: { track: 'video' as const, source: { sent: { sizeBytes: 9, receivedBytes: 9 } } },
    };
    expect(see(sent)).toMatchObject({ create: [{ name: 'film-import' }], status: { phase: 'importing' } });
  });
});

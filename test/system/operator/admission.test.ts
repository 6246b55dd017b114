/** Tests the order of preparation on a real control plane: limits, turns, one Job for one rendition. */
import { expect, it } from 'vitest';
import { JOBS, type Job } from '../../../src/core/kube/core.ts';
import { readTask } from '../../../src/core/operator/upload/job.ts';
import { hasEnded } from '../../../src/core/operator/upload/progress.ts';
import { mayDelete } from '../../../src/core/operator/upload/sweep.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { SWEEP_JOB } from '../../../src/core/resources/common/names.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { sourceKey } from '../../../src/core/resources/upload/spec.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  kube,
  kubelet,
  MADE,
  NS,
  waitForJobPod,
  waitUntilIdle,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Names of the active Jobs. */
const active = async (): Promise<string[]> => {
  const jobs = (await kube.list(JOBS, { namespace: NS })) as Job[];
  return jobs.flatMap((job) => (hasEnded(job) ? [] : [job.metadata.name])).sort();
};
const jobsAre = (...names: string[]) =>
  until(`${names.join(' ')} work`, async () => (await active()).join() === names.sort().join(), 60_000);
const readReason = async (name: string, type: string) =>
  findCondition((await kube.get(UPLOADS, NS, name)).status?.conditions, type)?.reason;
const finishImport = (job: string) => finishJob(job, { action: 'import', media: MEDIA });

it('only the allowed number of Jobs run; the rest report it and follow, started streams’ media first', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await createUpload(name);
  await jobsAre('a-import', 'b-import', 'c-import', 'd-import');
  await until('the others say so', async () =>
    (await Promise.all(['e', 'f'].map((name) => readReason(name, 'Imported')))).every((reason) => reason === 'Queued'),
  );
  await createDestination();
  await createStream({ uploadName: 'f' });
  await waitUntilIdle();
  expect(await active()).toHaveLength(4);
  await finishImport('b-import');
  await jobsAre('a-import', 'c-import', 'd-import', 'f-import');
  await finishImport('a-import');
  await jobsAre('c-import', 'd-import', 'e-import', 'f-import');
  await until('nobody is queued', async () => (await readReason('e', 'Imported')) === 'Importing');
});

it('a rendition of the same content is made by one Job; the next one finds it', async () => {
  for (const name of ['one', 'two']) await createUpload(name);
  await Promise.all(['one-import', 'two-import'].map(finishImport));
  const items = [{ uploadName: 'one' }, { uploadName: 'two' }];
  await kube.create(PLAYLISTS, NS, buildObject('Playlist', 'both', { items }) as never);
  const spec = { quality: '720p', playlistNames: ['both'], destinationNames: ['tv'], replicas: 0 };
  await kube.create(LOOPSTREAMS, NS, buildObject('LoopStream', 'bunny', spec) as never);
  const first = await until('one Job makes it', async () => {
    const [name = '', ...others] = await active();
    return others.length === 0 && name.endsWith('-720p30') && name;
  });
  await waitUntilIdle();
  expect(await active()).toEqual([first]);
  expect(await readReason('one', 'Prepared')).toBe('Preparing');
  expect(await readReason('two', 'Prepared')).toBe('Preparing');
  await finishJob(first, MADE);
  const second = first === 'one-720p30' ? 'two-720p30' : 'one-720p30';
  await jobsAre(second);
  await finishJob(second, MADE);
  for (const name of ['one', 'two']) {
    await until(`${name} is ready`, async () => (await kube.get(UPLOADS, NS, name)).status?.phase === 'ready');
  }
});

it('a Job that takes too long ends with prepare_timeout', async () => {
  await createUpload();
  await jobsAre('film-import');
  await kube.mergePatch(JOBS, NS, 'film-import', { spec: { activeDeadlineSeconds: 1 } });
  const failed = await until('it failed', async () => {
    const { status } = await kube.get(UPLOADS, NS, 'film');
    return status?.phase === 'failed' && status;
  });
  expect(failed.error?.code).toBe('prepare_timeout');
});

it('a failed try is followed by another; a finished Job is removed, and its result is not made again', async () => {
  await createUpload();
  const first = (await waitForJobPod('film-import')).metadata.name;
  await kubelet.bind(first);
  await kubelet.end(
    first,
    1,
    JSON.stringify({ action: 'failed', error: { code: 'link_unreachable', message: 'No.' } }),
  );
  // The Job controller waits for ten seconds.
  const second = await until(
    'another try',
    async () => {
      const { name } = (await waitForJobPod('film-import')).metadata;
      return name !== first && name;
    },
    60_000,
  );
  expect((await kube.get(UPLOADS, NS, 'film')).status).toMatchObject({ phase: 'importing' });
  await kubelet.bind(second);
  await kubelet.end(second, 0, JSON.stringify({ action: 'import', media: MEDIA }));
  await until('it is imported', async () => (await kube.get(UPLOADS, NS, 'film')).status?.phase === 'ready');
  const { spec } = (await kube.get(JOBS, NS, 'film-import')) as Job;
  expect(spec).toMatchObject({ backoffLimit: 3, ttlSecondsAfterFinished: 3600 });
  await kube.mergePatch(JOBS, NS, 'film-import', { spec: { ttlSecondsAfterFinished: 1 } });
  await until('the Job is cleared away', async () => (await kube.list(JOBS, { namespace: NS })).length === 0, 60_000);
  await waitUntilIdle();
  expect(await kube.list(JOBS, { namespace: NS })).toEqual([]);
  expect((await kube.get(UPLOADS, NS, 'film')).status).toMatchObject({ phase: 'ready', media: MEDIA });
});

it('a sweep gets the list of files to keep, and no Job begins whose rendition it may be deleting', async () => {
  await createUpload();
  await finishImport('film-import');
  await until('it is imported', async () => (await kube.get(UPLOADS, NS, 'film')).status?.media !== undefined);
  await withoutOperator(async () => undefined, { sweep: { firstMs: 0 } });
  await waitForJobPod(SWEEP_JOB);
  const task = readTask((await kube.get(JOBS, NS, SWEEP_JOB)) as Job);
  if (task?.action !== 'sweep') throw new Error('no sweep');
  const { uid } = (await kube.get(UPLOADS, NS, 'film')).metadata;
  expect(['film', uid].map((name) => mayDelete(task)(sourceKey(name)))).toEqual([true, false]);
  expect(task.graceSeconds).toBe(86_400);
  await createDestination();
  await createStream();
  await until('the rendition waits', async () => (await readReason('film', 'Prepared')) === 'Queued');
  await waitUntilIdle();
  expect((await active()).filter((name) => name.startsWith('film-'))).not.toContain('film-720p30');
  await finishJob(SWEEP_JOB, { action: 'swept', deleted: 0, marked: 0 });
  await waitForJobPod('film-720p30');
});

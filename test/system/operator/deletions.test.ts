/** Tests that the deletion of an upload leaves a trace, and that a status of another upload is not believed, on a real control plane. */
import { expect, test } from 'vitest';
import { CONFIG_MAPS, EVENTS, JOBS, NAMESPACES } from '../../../src/core/kube/core.ts';
import { isOwnedBy } from '../../../src/core/operator/pods/security.ts';
import { readRecordsTask } from '../../../src/core/operator/upload/job.ts';
import { DELETED_UPLOADS, SWEEP_JOB, UPLOAD_FINALIZER } from '../../../src/core/resources/common/names.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  createUpload,
  finishJob,
  kube,
  NS,
  operator,
  waitForJobPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const getFilm = () => kube.get(UPLOADS, NS, 'film');
const importFilm = async (result: object = {}) => {
  await finishJob('film-import', { action: 'import', media: MEDIA, ...result });
  return until('the film is imported', async () => {
    const film = await getFilm();
    return film.status?.media !== undefined && film.status.uid === film.metadata.uid && film;
  });
};

test('a deleted upload is remembered until a sweep has written it down, also while no operator runs', async () => {
  await createUpload();
  const film = await importFilm();
  expect(film.metadata.finalizers).toEqual([UPLOAD_FINALIZER]);
  await withoutOperator(async () => {
    await kube.delete(UPLOADS, NS, 'film');
    expect((await getFilm()).metadata.deletionTimestamp).toBeDefined();
  });
  await until('it is gone', async () => (await kube.list(UPLOADS, { namespace: NS })).length === 0);
  const { data } = await kube.get(CONFIG_MAPS, NS, DELETED_UPLOADS);
  expect(JSON.parse(data?.[film.metadata.uid] ?? '')).toEqual({
    name: 'film',
    sourceKey: `sources/${film.metadata.uid}`,
  });
  // Its successor of the same name does not take its source up.
  await createUpload();
  const { uid } = (await getFilm()).metadata;
  const job = await until('its import', async () =>
    (await kube.list(JOBS, { namespace: NS })).find((one) => isOwnedBy(one, { metadata: { uid } })),
  );
  const { uid: installation } = (await kube.get(NAMESPACES, '', 'kube-system')).metadata;
  expect(readRecordsTask(job)).toMatchObject({
    installation,
    upload: { installation, namespace: NS, name: 'film', uid },
    deletedUids: [film.metadata.uid],
  });
});

test('a status of another upload is not believed: its import finds the source that it had', async () => {
  const status = { uid: 'gone', phase: 'ready', media: MEDIA, sourceKey: 'sources/of-somebody-else' };
  await withoutOperator(async () => {
    await createUpload();
    await kube.mergePatch(UPLOADS, NS, 'film', { status }, { subresource: 'status' });
  });
  const film = await importFilm({ sourceKey: 'sources/gone' });
  expect(film.status).toMatchObject({ sourceKey: 'sources/gone', media: MEDIA });
});

test('sources that a sweep keeps without an upload are reported by an event and a metric, until there are none', async () => {
  const readGauge = async () => {
    const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
    return /^loopstream_suspicious_sources\{namespace="tv"\} (\d+)$/m.exec(text)?.[1];
  };
  const runSweep = async (suspicious: number) => {
    await withoutOperator(async () => undefined, { sweep: { firstMs: 0, intervalMs: 1 } });
    await waitForJobPod(SWEEP_JOB);
    expect(await readGauge()).toBeUndefined();
    await finishJob(SWEEP_JOB, { action: 'swept', deleted: 0, marked: 3, ...(suspicious > 0 && { suspicious }) });
    await until('the metric', async () => (await readGauge()) === String(suspicious));
  };
  await runSweep(2);
  const event = await until('the event', async () =>
    (await kube.list(EVENTS, { namespace: NS })).find(
      (one) => (one as { reason?: string }).reason === 'SweepSuspicious',
    ),
  );
  expect(event).toMatchObject({ type: 'Warning', message: expect.stringMatching(/^2 sources .*forget-sources/) });
  await kube.delete(JOBS, NS, SWEEP_JOB, { propagationPolicy: 'Background' });
  await runSweep(0);
  // An operator that sweeps all the time makes a Job again as soon as the test's own end has deleted it.
  await withoutOperator(async () => undefined);
});

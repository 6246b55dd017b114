/**
 * Tests that what an operator made for an object does not hold up the restored one, which has another UID, on a real control plane with its
 * garbage collector.
 */
import { expect, it } from 'vitest';
import { JOBS, PODS } from '../../../src/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/kube/types.ts';
import { POD_FINALIZER } from '../../../src/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  createUpload,
  finishJob,
  getPod,
  goLive,
  kube,
  kubelet,
  NS,
  waitForPhase,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Deletes an object that no operator looks after, with all that it owns. */
async function deleteAlone(resource: Resource, name: string): Promise<void> {
  await kube.mergePatch(resource, NS, name, { metadata: { finalizers: [] } });
  await kube.delete(resource, NS, name, { propagationPolicy: 'Background' });
}

/** The part of an object that a backup tool gives back, of another UID. */
const restore = <T extends KubeObject>(resource: Resource<T>, { metadata, ...rest }: T, more: object = {}) => {
  const { name, labels, annotations, ownerReferences } = metadata;
  const kept = { name, labels, annotations, ownerReferences, ...more };
  return kube.create(resource, NS, { ...rest, metadata: JSON.parse(JSON.stringify(kept)) } as T);
};

it.each([
  ['without its owner', { ownerReferences: [] }],
  ['with its owner and finalizer', { finalizers: [POD_FINALIZER] }],
])('a pod that is restored %s makes room for the stream’s own, and never publishes', async (_how, more) => {
  await goLive();
  const backup = await getPod();
  const stream = await kube.get(LOOPSTREAMS, NS, 'bunny');
  const strange = await withoutOperator(async () => {
    await kube.mergePatch(PODS, NS, 'bunny-onair', { metadata: { finalizers: [] } });
    await deleteAlone(LOOPSTREAMS as Resource, 'bunny');
    await until('the pod is gone', async () => {
      await kubelet.remove('bunny-onair');
      return (await getPod()) === undefined;
    });
    if (!backup) throw new Error('no pod');
    const { nodeName: _, ...spec } = backup.spec;
    const pod = await restore(PODS, { ...backup, spec }, more);
    await restore(LOOPSTREAMS, stream);
    return pod;
  });
  const pod = await until('the stream has a pod of its own', async () => {
    const found = await getPod();
    return found && found.metadata.uid !== strange.metadata.uid && found;
  });
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  const live = await waitForPhase('live');
  expect(live.status?.podUID).toBe(pod.metadata.uid);
});

it('a Job that is restored without its owner makes room for the upload’s own', async () => {
  await createUpload('film');
  const backup = await until('the Job', () => kube.get(JOBS, NS, 'film-import').catch(() => undefined));
  const upload = await kube.get(UPLOADS, NS, 'film');
  const uid = await withoutOperator(async () => {
    await deleteAlone(UPLOADS as Resource, 'film');
    await until('the Job is gone', async () =>
      kube.get(JOBS, NS, 'film-import').then(
        () => false,
        () => true,
      ),
    );
    const { selector: _, template, ...spec } = backup.spec as { selector?: object; template: KubeObject };
    const { labels } = backup.metadata;
    const job = { ...backup, spec: { ...spec, template: { ...template, metadata: { labels } } } };
    const restored = await restore(JOBS, job as typeof backup, { ownerReferences: [] });
    await restore(UPLOADS, upload);
    return restored.metadata.uid;
  });
  const own = await until('the upload has a Job of its own', async () => {
    const job = await kube.get(JOBS, NS, 'film-import').catch(() => undefined);
    return job && job.metadata.uid !== uid && job;
  });
  expect(own.metadata.ownerReferences).toMatchObject([{ kind: 'Upload', name: 'film' }]);
  await finishJob('film-import', { action: 'import', media: MEDIA });
  await until('the upload has its media', async () => (await kube.get(UPLOADS, NS, 'film')).status?.media);
});

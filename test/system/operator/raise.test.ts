/** Tests on a real control plane that work which began in the background gets its share of the processors when a stream waits for it. */
import { expect, it } from 'vitest';
import { PODS, type Pod } from '../../../src/core/kube/core.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  kube,
  NS,
  setSpec,
  waitForJobPod,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const readCpus = ({ spec }: Pod) => {
  const { initContainers = [], containers = [] } = spec;
  return [...initContainers, ...containers].map(({ resources }) => resources?.requests?.cpu);
};
const BACKGROUND = ['20m', '10m'];
const AWAITED = ['200m', '50m'];

it.each(['film-import', 'film-720p30'])('raises the requests of the running pod of %s, in place', async (job) => {
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0 });
  if (job !== 'film-import') await finishJob('film-import', { action: 'import', media: MEDIA });
  const pod = await waitForJobPod(job);
  expect(readCpus(pod)).toEqual(BACKGROUND);
  await setSpec({ replicas: 1 });
  const read = () => kube.get(PODS, NS, pod.metadata.name) as Promise<Pod>;
  await until('the pod requests more', async () => readCpus(await read()).join() === AWAITED.join());
  expect((await read()).metadata.uid).toBe(pod.metadata.uid);
});

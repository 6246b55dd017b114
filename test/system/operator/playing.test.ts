/** Tests that the operator keeps a stream's current items while it prepares their successors, and no longer, on a real control plane. */
import { expect, it } from 'vitest';
import { PODS, type Pod } from '../../../src/core/kube/core.ts';
import { toPlaying } from '../../../src/core/protocol/program.ts';
import { readPodProgram } from '../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { podNames } from '../../../src/core/resources/common/names.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  createUpload,
  finishJob,
  getPod,
  getStream,
  goLive,
  kube,
  kubelet,
  MADE,
  NS,
  setSpec,
  waitForPhase,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Removes the pod at once, as if somebody had taken its finalizer away. */
async function lose({ metadata: { name, uid } }: Pod): Promise<Pod> {
  await kube.mergePatch(PODS, NS, name, { metadata: { finalizers: null } });
  await kube.delete(PODS, NS, name, { gracePeriodSeconds: 0 });
  return until('another pod', async () => {
    const pods = await Promise.all(podNames('bunny').map((name) => getPod(name)));
    return pods.find((pod) => pod !== undefined && pod.metadata.uid !== uid);
  });
}

it('a pod lost during the preparation of another upload is replaced with its old items, and then plays the other', async () => {
  expect((await goLive()).status).not.toHaveProperty('playing');
  const pod = (await getPod()) as Pod;
  const program = readPodProgram(pod);
  if (!program) throw new Error('the pod has no program');
  await createUpload('next');
  await setSpec({ uploadName: 'next' });
  const { status } = await until('it is kept', async () => {
    const stream = await getStream();
    return stream.status?.playing && stream;
  });
  expect(status?.playing).toEqual(toPlaying(program));

  const other = await lose(pod);
  expect(readPodProgram(other)).toEqual(program);
  await kubelet.bind(other.metadata.name);
  await kubelet.run(other.metadata.name, true);
  const back = await waitForPhase('live');
  expect(back.status).toMatchObject({ canStart: false, epoch: program.epoch, playing: status?.playing });
  expect(findCondition(back.status?.conditions, 'MediaReady')?.message).toContain('"next"');

  await finishJob('next-import', { action: 'import', media: MEDIA });
  await finishJob('next-720p30', MADE);
  await until('nothing is kept', async () => (await getStream()).status?.playing === undefined);
  const next = readPodProgram((await getPod(other.metadata.name)) as Pod);
  expect(next).toMatchObject({
    version: program.version + 1,
    epoch: program.epoch,
    video: { items: [{ id: 'next' }] },
  });
});

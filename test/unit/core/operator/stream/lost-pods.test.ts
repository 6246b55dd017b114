/** Tests that pods which went down with their node are called failed where somebody says so of the node, and nowhere else. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { Operator, Universe } from './universe.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A stream on air whose node loses its power, and the operator, which knows of it. */
async function loseNode() {
  const universe = new Universe();
  const operator = new Operator(universe, async () => undefined);
  const look = async () => {
    operator.sync();
    operator.look();
    await operator.busy;
    await tick();
  };
  const settle = async () => {
    for (let round = 0; round < 20; round++) {
      await look();
      for (const { run } of universe.steps()) run();
    }
  };
  await settle();
  const [pod] = universe.pods;
  const { nodeName = '' } = pod?.spec ?? {};
  expect(universe.publishing).toEqual([pod?.metadata.uid]);
  universe.silentNodes.add(nodeName);
  const find = (): Pod | undefined => universe.pods.find(({ metadata }) => metadata.uid === pod?.metadata.uid);
  const remove = () => universe.delete(`pods/${pod?.metadata.name}`, 30);
  return { universe, operator, nodeName, look, settle, find, remove };
}

test('a pod that is removed from a node out of service is called failed, and the next one publishes without the garbage collector', async () => {
  const { universe, nodeName, look, find, remove } = await loseNode();
  universe.callOutOfService(nodeName);
  await look();
  expect(find()?.status?.phase).toBe('Running');
  remove();
  await look();
  expect(find()?.status).toMatchObject({
    phase: 'Failed',
    reason: 'NodeOutOfService',
    message: `Node "${nodeName}" is out of service.`,
  });
  for (let round = 0; round < 20 && universe.publishing.length === 0; round++) {
    await look();
    for (const { what, run } of universe.steps()) if (!what.startsWith('call failed')) run();
  }
  expect(universe.publishing).toEqual([universe.stream?.status?.podUID]);
  expect(universe.publishing).not.toEqual([find()?.metadata.uid]);
});

test.each<[string, (given: Awaited<ReturnType<typeof loseNode>>) => void]>([
  ['only does not answer', () => undefined],
  [
    'is back although it still has the taint',
    ({ universe, nodeName }) => {
      universe.callOutOfService(nodeName);
      universe.silentNodes.clear();
    },
  ],
  [
    'was out of service before, as an old cache has it',
    ({ universe, operator, nodeName }) => {
      universe.callOutOfService(nodeName);
      operator.sync();
      universe.bringBack(nodeName);
      universe.silentNodes.add(nodeName);
      // The cache hears of pods alone.
      operator.sync = () => undefined;
    },
  ],
])('no pod is called failed while its node %s', async (_what, arrange) => {
  const given = await loseNode();
  given.remove();
  given.operator.sync();
  arrange(given);
  await given.look();
  expect(given.find()?.status?.phase).toBe('Running');
});

test('without the right to say so, the garbage collector is waited for', async () => {
  const { universe, nodeName, look, settle, find, remove } = await loseNode();
  universe.lacksPodStatus = true;
  universe.callOutOfService(nodeName);
  remove();
  await look();
  expect(find()?.status?.phase).toBe('Running');
  // The next pod is made meanwhile.
  expect(universe.pods).toHaveLength(2);
  await settle();
  expect(universe.publishing).toEqual([universe.stream?.status?.podUID]);
});

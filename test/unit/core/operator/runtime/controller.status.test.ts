/** The status of an object is written by several: each keeps what is its own. */
import { expect, test } from 'vitest';
import type { Reflector } from '../../../../../src/core/kube/reflector.ts';
import { type Kube, KubeError, type Stored } from '../../../../../src/core/kube/types.ts';
import { writeStatus } from '../../../../../src/core/operator/runtime/controller.ts';
import type { Condition } from '../../../../../src/core/resources/common/conditions.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../../../../src/core/resources/stream/spec.ts';

const condition = (type: string, status: Condition['status'] = 'True'): Condition => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const METADATA = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
};

/** Writes `next` over `current`; returns what was sent and what the cache got. */
async function write(current: LoopStreamStatus, next: LoopStreamStatus, answer?: KubeError) {
  const sent: LoopStream[] = [];
  const cached: LoopStream[] = [];
  const replace = async (_resource: unknown, _namespace: string, object: LoopStream) => {
    sent.push(object);
    if (answer) throw answer;
    return object;
  };
  const cache = { upsert: (object: LoopStream) => cached.push(object) } as unknown as Reflector<LoopStream>;
  const stream = { metadata: METADATA, spec: {}, status: current } as Stored<LoopStream>;
  const written = await writeStatus({ kube: { replace } as unknown as Kube }, LOOPSTREAMS, cache, stream, next);
  return { written, sent, cached };
}

test("a condition of another controller and the meter's number stay; conditions of the operator that are over go", async () => {
  const theirs = condition('CreditAvailable');
  const { written, sent, cached } = await write(
    {
      phase: 'starting',
      acknowledgedSession: 3,
      conditions: [theirs, condition('Ready', 'False'), condition('Reconciling')],
    },
    { phase: 'live', conditions: [condition('Ready')] },
  );
  expect(written).toBe(true);
  expect(sent.map(({ status }) => status)).toEqual([
    { phase: 'live', acknowledgedSession: 3, conditions: [condition('Ready'), theirs] },
  ]);
  expect(cached).toEqual(sent);
});

test('a condition that is over is a change, what others write is none', async () => {
  const now: LoopStreamStatus = { phase: 'live', conditions: [condition('Ready')] };
  const others = { acknowledgedSession: 4, conditions: [condition('CreditAvailable'), condition('Ready')] };
  expect(await write({ ...now, ...others }, now)).toEqual({ written: false, sent: [], cached: [] });
  expect(await write({ ...now, conditions: [condition('Ready'), condition('Degraded')] }, now)).toMatchObject({
    written: true,
  });
});

test('it is written to this version of this object alone', async () => {
  const { uid, resourceVersion } = METADATA;
  const { sent } = await write({}, { phase: 'live' });
  expect(sent[0]?.metadata).toMatchObject({ uid, resourceVersion });
  const conflict = new KubeError(409, 'Conflict', 'it has changed');
  await expect(write({}, { phase: 'live' }, conflict)).rejects.toBe(conflict);
  expect(await write({}, { phase: 'live' }, new KubeError(404, 'NotFound', ''))).toMatchObject({
    written: false,
    cached: [],
  });
});

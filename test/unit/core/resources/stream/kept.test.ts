/** Tests what caches keep of the objects that a tenant writes. */
import { expect, test } from 'vitest';
import { keepOwnMetadata } from '../../../../../src/core/resources/common/kept.ts';
import { keepSmallTemplate, keepWithoutTemplate, readTooLarge } from '../../../../../src/core/resources/stream/kept.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';

const long = 'x'.repeat(200_000);
const stream = (template?: object, metadata: object = {}) =>
  ({
    kind: 'LoopStream',
    metadata: { name: 's', uid: 'u', resourceVersion: '1', finalizers: ['f'], ...metadata },
    spec: { destinationNames: ['d'], ...(template && { template }) },
  }) as unknown as LoopStream;

test('a cache keeps our labels and annotations, and drops those of others', () => {
  const own = { 'loopstream.dev/account': 'a', 'app.kubernetes.io/name': 'n' };
  const object = stream(undefined, { labels: { ...own, team: 'x' }, annotations: { 'kubectl.kubernetes.io/x': long } });
  expect(keepOwnMetadata(object).metadata).toEqual({
    name: 's',
    uid: 'u',
    resourceVersion: '1',
    finalizers: ['f'],
    labels: own,
  });
  const plain = stream(undefined, { labels: own });
  expect(keepOwnMetadata(plain)).toBe(plain);
});

test('a process that makes no pods keeps no template; the operator keeps a small one, and of a large one its size', () => {
  const small = stream({ nodeSelector: { disk: 'ssd' } });
  expect(keepWithoutTemplate(small).spec).toEqual({ destinationNames: ['d'] });
  expect(keepSmallTemplate(small)).toBe(small);
  expect(readTooLarge(small)).toBeUndefined();
  const large = keepSmallTemplate(stream({ annotations: { note: long } }));
  expect(JSON.stringify(large).length).toBeLessThan(1000);
  expect(readTooLarge(large)).toMatchObject({ size: expect.any(Number) });
  expect(readTooLarge(large)?.size).toBeGreaterThan(200_000);
});

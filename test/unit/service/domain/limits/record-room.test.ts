import { expect, test } from 'vitest';
import type { ChangeHandler } from '../../../../../src/core/kube/reflector.ts';
import type { KubeObject, Stored } from '../../../../../src/core/kube/types.ts';
import { countCachedBytes } from '../../../../../src/service/domain/limits/record-room.ts';

const objectOf = (name: string, generation: number, text: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, generation },
    spec: { text },
  }) as unknown as Stored<KubeObject>;
const sizeOf = (object: Stored<KubeObject>) => JSON.stringify(object).length;

test('the bytes of all caches follow each change of a spec', () => {
  const handlers: ChangeHandler<KubeObject>[] = [];
  const onChange = (handler: ChangeHandler<KubeObject>) => {
    handlers.push(handler);
    return () => undefined;
  };
  const count = countCachedBytes([{ onChange }, { onChange }]);
  const [first, second] = handlers as [ChangeHandler<KubeObject>, ChangeHandler<KubeObject>];
  const [a1, a2, b1] = [objectOf('a', 1, 'x'), objectOf('a', 2, 'x'.repeat(500)), objectOf('b', 1, 'yy')];
  first('a', a1, undefined);
  second('a', b1, undefined);
  expect(count()).toBe(sizeOf(a1) + sizeOf(b1));
  first('a', a2, a1);
  expect(count()).toBe(sizeOf(a2) + sizeOf(b1));
  second('a', undefined, b1);
  expect(count()).toBe(sizeOf(a2));
});

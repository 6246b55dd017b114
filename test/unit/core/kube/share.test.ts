import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareParts } from '../../../../src/core/kube/share.ts';

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value));

test('an object keeps its content, and has the equal parts of another one', () => {
  const known = { metadata: { name: 'a', labels: { app: 'x', tier: 'web' } }, list: [{ type: 'Ready' }, 1, null] };
  const fresh = copy({ ...known, metadata: { ...known.metadata, name: 'b' } });
  const shared = shareParts(fresh, known);
  expect(shared).toEqual({ ...known, metadata: { ...known.metadata, name: 'b' } });
  expect(shared.metadata.labels).toBe(known.metadata.labels);
  expect(shared.list).toBe(known.list);
  expect(shareParts(copy(known), known)).toBe(known);
});

test('property: the content is the same, whatever the other object is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
      const fresh = copy(value);
      const known = copy(other);
      expect(shareParts(copy(fresh), known)).toEqual(fresh);
      expect(known).toEqual(copy(other));
      expect(shareParts(copy(fresh), copy(fresh))).toEqual(fresh);
    }),
  );
});

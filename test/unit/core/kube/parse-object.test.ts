import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseObject, stripManagedFields } from '../../../../src/core/kube/parse-object.ts';

const ENTRY = { manager: 'kubectl', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
/** Names of fields hold texts of a user, such as the path of a mount. */
const awkward = fc
  .array(fc.constantFrom('}]', ']', '},', ',"managedFields":[{', '"', '\\', 'x', '\u00fc', '{', '[', ','))
  .map((parts) => parts.join(''));

/** JSON.parse of Node 24 itself takes some escaped names of members for others: `JSON.parse('[{"":{},"x\\"":{}}]')`. */
const memberName = awkward.map((text) => text.replaceAll(/["\\]/g, ''));

interface Listed {
  kind: string;
  items: { metadata: { name: string; managedFields?: unknown }; spec: unknown }[];
}

const strip = ({ items, ...rest }: Listed) => ({ ...rest, items: items.map((item) => stripManagedFields(item)) });

test('nothing but managedFields is lost, whatever the texts of an object are', () => {
  const fields = fc.dictionary(awkward, fc.constant({}), { maxKeys: 4 });
  const entries = fc.array(
    fields.map((fieldsV1) => ({ ...ENTRY, fieldsV1 })),
    { maxLength: 3 },
  );
  const object = fc.record({
    name: awkward,
    labels: fc.dictionary(memberName, awkward),
    managedFields: entries,
    uid: awkward,
  });
  const spec = fc.record({ text: awkward, list: fc.array(fc.dictionary(memberName, awkward)) });
  const item = fc.record({ metadata: object, spec });
  fc.assert(
    fc.property(fc.record({ kind: awkward, items: fc.array(item) }), (list) => {
      expect(strip(parseObject(JSON.stringify(list)) as Listed)).toEqual(strip(list));
    }),
    { numRuns: 1000 },
  );
});

test('what is cut is not parsed: the object of a pod comes without managedFields', () => {
  const pod = { metadata: { name: 'a', managedFields: [{ ...ENTRY, fieldsV1: { 'f:spec': {} } }] }, spec: {} };
  expect(parseObject(JSON.stringify(pod))).toEqual({ metadata: { name: 'a' }, spec: {} });
});

test('what is no JSON is refused', () => {
  expect(() => parseObject('{"metadata":{"name":"a","managedFields":[{"manager":"x"}]')).toThrow(SyntaxError);
  expect(() => parseObject('')).toThrow(SyntaxError);
});

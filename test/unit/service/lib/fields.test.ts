import { type Static, Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  bodySchema,
  computed,
  createReader,
  createSpec,
  fieldsIn,
  recordSchema,
  shown,
  writeFields,
} from '../../../../src/service/lib/fields.ts';

const Times = Type.Object({
  from: Type.Optional(Type.String({ description: 'First moment.' })),
  to: Type.Optional(Type.String()),
});
const Spec = Type.Object({
  title: Type.String(),
  mode: Type.Optional(Type.Enum(['Fast', 'Safe'], { default: 'Fast', description: 'How it runs.' })),
  fileName: Type.Optional(Type.String()),
  listNames: Type.Optional(Type.Array(Type.String())),
  times: Type.Optional(Times),
});
type Source = { name: string; spec: Static<typeof Spec> };

const inSpec = fieldsIn({ schema: Spec, get: ({ spec }: Source) => spec });
const inTimes = fieldsIn({ schema: Times, get: ({ spec }: Source) => spec.times, put: (times) => ({ times }) });
const FIELDS = {
  id: shown(Type.String(), ({ name }: Source) => name),
  name: inSpec('title', { in: { create: 'required', update: 'optional' } }),
  mode: inSpec('mode', { in: { create: 'optional', update: 'optional' } }),
  fileID: inSpec('fileName', { in: { create: 'optional', update: 'optional' }, absent: null, replaces: 'listNames' }),
  listIDs: inSpec('listNames', {
    in: { create: 'optional', update: 'optional' },
    absent: [],
    replaces: 'fileName',
    write: (ids: string[]) => (ids.length > 0 ? ids : null),
  }),
  startAt: inTimes('from', { in: { create: 'optional', plan: 'optional' }, absent: null }),
  endAt: inTimes('to', { in: { create: 'optional', plan: 'optional' }, absent: null }),
  age: computed(Type.Integer()),
};
const Thing = recordSchema(FIELDS, { title: 'Thing' });
const Create = bodySchema(FIELDS, 'create', { title: 'ThingCreate' });
const Plan = bodySchema(FIELDS, 'plan', { title: 'ThingPlan' });
const read = createReader(FIELDS);

describe('schemas', () => {
  test('have the type and the sentence of the resource, and announce no default', () => {
    expect(JSON.parse(JSON.stringify(Thing.properties))).toMatchObject({
      mode: { enum: ['Fast', 'Safe'], description: 'How it runs.' },
      startAt: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'First moment.' },
    });
    expect(Thing.properties.mode).not.toHaveProperty('default');
    expect(Create.properties.mode).not.toHaveProperty('default');
  });

  test('a record has every field, a body those that it may set', () => {
    expect(Thing.required).toEqual(Object.keys(FIELDS));
    expect(Object.keys(Create.properties)).toEqual(['name', 'mode', 'fileID', 'listIDs', 'startAt', 'endAt']);
    expect(Create.required).toEqual(['name']);
    expect(Object.keys(Plan.properties)).toEqual(['startAt', 'endAt']);
  });

  test('have static types', () => {
    expectTypeOf<Static<typeof Thing>['mode']>().toEqualTypeOf<'Fast' | 'Safe'>();
    expectTypeOf<Static<typeof Thing>['fileID']>().toEqualTypeOf<string | null>();
    expectTypeOf<Static<typeof Create>['mode']>().toEqualTypeOf<'Fast' | 'Safe' | undefined>();
    expectTypeOf<{ name: string }>().toExtend<Static<typeof Create>>();
    expectTypeOf<{ mode: 'Fast' }>().not.toExtend<Static<typeof Create>>();
    expectTypeOf<keyof Static<typeof Plan>>().toEqualTypeOf<'startAt' | 'endAt'>();
  });

  test('a field that the resource may lack has a default', () => {
    expect(() => inSpec('fileName')).toThrow('The field fileName needs a default');
  });
});

test('a record shows defaults where the resource has nothing', () => {
  expect(read({ name: 'a', spec: { title: 'A' } }, { age: 3 })).toEqual({
    ...{ id: 'a', name: 'A', mode: 'Fast', fileID: null, listIDs: [], startAt: null, endAt: null, age: 3 },
  });
  const times = { from: 'now' };
  expect(read({ name: 'a', spec: { title: 'A', mode: 'Safe', times } }, { age: 3 })).toMatchObject({
    ...{ mode: 'Safe', startAt: 'now', endAt: null },
  });
});

describe('a request', () => {
  test('patches the fields that it gives and no others', () => {
    expect(writeFields(FIELDS, 'update', {})).toEqual({});
    expect(writeFields(FIELDS, 'update', { mode: 'Safe' })).toEqual({ mode: 'Safe' });
  });

  test('removes what it replaces, and an empty list', () => {
    expect(writeFields(FIELDS, 'update', { fileID: 'f' })).toEqual({ fileName: 'f', listNames: null });
    expect(writeFields(FIELDS, 'update', { listIDs: [] })).toEqual({ listNames: null, fileName: null });
  });

  test('that replaces a whole removes what it leaves out', () => {
    expect(writeFields(FIELDS, 'plan', { endAt: 'later' }, { replace: true })).toEqual({
      times: { from: null, to: 'later' },
    });
  });

  test('that creates makes a spec without removals', () => {
    const patch = writeFields(FIELDS, 'create', { name: 'A', fileID: 'f', startAt: 'now', endAt: 'later' });
    expect(createSpec(patch)).toEqual({ title: 'A', fileName: 'f', times: { from: 'now', to: 'later' } });
  });
});

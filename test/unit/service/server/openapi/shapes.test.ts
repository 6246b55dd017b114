/** Tests the names of enums in the description. */
import { expect, test } from 'vitest';
import { nameValues, shapeSchemas } from '../../../../../src/service/server/openapi/shapes.ts';

test('a titled enum becomes one type, and values that two enums share get the name of theirs', () => {
  const schemas = {};
  const start = { enum: ['now', 'failed'], title: 'StreamStart', description: 'When.' };
  expect(shapeSchemas([start, { enum: ['failed', 'over'], title: 'End' }, { enum: ['alone'] }], schemas)).toEqual([
    { $ref: '#/components/schemas/StreamStart', description: 'When.' },
    { $ref: '#/components/schemas/End' },
    { type: 'string', enum: ['alone'] },
  ]);
  nameValues(schemas);
  expect(schemas).toMatchObject({
    StreamStart: { enum: ['now', 'failed'], 'x-enum-varnames': ['STREAM_START_NOW', 'STREAM_START_FAILED'] },
    End: { 'x-enum-varnames': ['END_FAILED', 'END_OVER'] },
  });
});

test('an enum that has all values of another one keeps their names', () => {
  const schemas = {};
  shapeSchemas(
    [
      { enum: ['one', 'two'], title: 'Asked' },
      { enum: ['one'], title: 'Given' },
    ],
    schemas,
  );
  nameValues(schemas);
  expect(schemas).toEqual({
    Asked: { type: 'string', title: 'Asked', enum: ['one', 'two'] },
    Given: expect.objectContaining({ 'x-enum-varnames': ['GIVEN_ONE'] }),
  });
});

test('two enums of one name are an error', () => {
  const other = { enum: ['b'], title: 'Kind' };
  expect(() => shapeSchemas([{ enum: ['a'], title: 'Kind' }, other], {})).toThrow('Two enums have the name Kind.');
});

import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { StreamCreate } from '../../../../../src/service/domain/streams/record.ts';
import { findChoice, readLeniently } from '../../../../../src/service/server/http/lenient.ts';

describe('the choices of a text', () => {
  const qualities = ['q_720p', 'q_1080p', '720p', '1080p'];
  const framerates = ['f_24', 'f_30', '24', '30', 24, 30];

  test.each([
    [qualities, 'Q_720P', 'q_720p'],
    [qualities, '1080', 'q_1080p'],
    [qualities, 1080, 'q_1080p'],
    [framerates, ' 30 ', '30'],
    [['f_24', 'f_30'], 30, 'f_30'],
    [['q_720p', 'q_1080p'], '1080P', 'q_1080p'],
    [['VIDEO', 'AUDIO'], 'video', 'VIDEO'],
    [['Skip', 'Block'], 'SKIP', 'Skip'],
  ])('of %j, %j is %j', (choices, given, choice) => {
    expect(findChoice(choices, given)).toBe(choice);
  });

  test.each([
    [qualities, 'high'],
    [qualities, ''],
    [qualities, null],
    [framerates, 29.97],
    [['1h', '1d'], 1],
    [['video'], ['video']],
    [['f_30'], true],
  ])('of %j, %j is none', (choices, given) => {
    expect(findChoice(choices, given)).toBeUndefined();
  });
});

const Body = Type.Object({
  key: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  limit: Type.Integer(),
  force: Type.Boolean(),
  at: Type.String({ format: 'date-time' }),
  ids: Type.Array(Type.String()),
  mode: Type.Enum(['sequential', 'shuffle']),
  item: Type.Union([
    Type.Object({ op: Type.Enum(['move']), to: Type.Integer() }),
    Type.Object({ op: Type.Enum(['add']), id: Type.String() }),
  ]),
});

test('agents’ numbers, texts, lists and objects are read in the place of each other', () => {
  const given = {
    ...{ key: 12_345, name: 7, limit: '5', force: 'false', ids: 'a', mode: 'Shuffle', item: '{"op":"add","id":"x"}' },
    other: 1,
  };
  expect(readLeniently(Body, given, 'all')).toEqual({
    ...{ key: '12345', name: '7', limit: 5, force: false, ids: ['a'], mode: 'shuffle', item: { op: 'add', id: 'x' } },
    other: 1,
  });
  expect(readLeniently(Body, { ids: '["a", 2]', item: { op: 'MOVE', to: '3' } }, 'all')).toEqual({
    ids: ['a', '2'],
    item: { op: 'move', to: 3 },
  });
});

test.each([
  // Their digits are not those that were meant.
  ['key', 2 ** 60],
  ['key', 1.5],
  ['at', 1_700_000_000],
  ['limit', '1e3'],
  ['limit', ''],
  ['force', 'yes'],
  ['force', 1],
  ['ids', '[a'],
  ['item', '{'],
  ['item', 'move'],
  ['name', null],
])('%s: %j stays as it is', (name, value) => {
  expect(readLeniently(Body, { [name]: value }, 'all')).toEqual({ [name]: value });
});

test('other clients’ types are read for choices alone', () => {
  const given = { key: 1, limit: '5', mode: 'SHUFFLE', ids: 'a' };
  expect(readLeniently(Body, given, 'choices')).toEqual({ ...given, mode: 'shuffle' });
});

test('each choice of a new stream is understood in capital letters', () => {
  const given = { quality: 'Q_1080P', framerate: 'F_30', onItemFailure: 'SKIP', start: 'PREPARED' };
  expect(readLeniently(StreamCreate, given, 'choices')).toEqual({
    ...{ quality: 'q_1080p', framerate: 'f_30', onItemFailure: 'Skip', start: 'Prepared' },
  });
});

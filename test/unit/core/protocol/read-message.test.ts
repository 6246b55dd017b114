import { type TSchema, Type } from 'typebox';
import { describe, expect, it, test } from 'vitest';
import { SkipAnswer, SkipRequest } from '../../../../src/core/protocol/commands.ts';
import { readJson, readMessage } from '../../../../src/core/protocol/read-message.ts';
import { RecordsTask } from '../../../../src/core/protocol/records.ts';
import { StreamerReport, StreamerStats, TimeOnAir } from '../../../../src/core/protocol/report.ts';
import { PrepareProgress, PrepareResult, PrepareTask } from '../../../../src/core/protocol/task.ts';
import { ProbeResult } from '../../../../src/core/resources/destination/spec.ts';

/** Keywords that the reader understands, and those that say nothing of a value. */
const KEYWORDS = new Set(
  (
    'type const enum anyOf properties required items minItems maxItems minLength maxLength pattern format minimum ' +
    'exclusiveMinimum maximum default policy description title'
  ).split(' '),
);

function listKeywords(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(listKeywords);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (['const', 'enum', 'default', 'required'].includes(name)) return [name];
    return [
      name,
      ...(name === 'properties' ? Object.values(inner as object).flatMap(listKeywords) : listKeywords(inner)),
    ];
  });
}

test.each<[string, TSchema]>(
  Object.entries({
    SkipAnswer,
    SkipRequest,
    RecordsTask,
    StreamerReport,
    StreamerStats,
    TimeOnAir,
    PrepareProgress,
    PrepareResult,
    PrepareTask,
    ProbeResult,
  }),
)('%s demands nothing that the reader does not check', (_, schema) => {
  expect(listKeywords(JSON.parse(JSON.stringify(schema))).filter((name) => !KEYWORDS.has(name))).toEqual([]);
});

describe('a message', () => {
  const Message = Type.Object({
    name: Type.String({ minLength: 1, maxLength: 3 }),
    count: Type.Integer({ minimum: 0, default: 7 }),
    kind: Type.Optional(Type.Enum(['a', 'b'])),
    list: Type.Array(Type.Union([Type.Number(), Type.Null()]), { maxItems: 3, default: [] }),
  });

  it('loses what is not known, and gets the defaults of what is missing', () => {
    expect(readMessage(Message, { name: 'x', mood: 'good' }, 'strict')).toEqual({
      ok: true,
      message: { name: 'x', count: 7, list: [] },
    });
  });

  it('that is strict fails at its first broken field, and names the place alone', () => {
    const failsAt = (value: unknown) => {
      const read = readMessage(Message, value, 'strict');
      return read.ok ? undefined : read.failure.path;
    };
    expect(failsAt({})).toBe('/name');
    expect(failsAt({ name: 'long' })).toBe('/name');
    expect(failsAt({ name: 'x', count: -1 })).toBe('/count');
    expect(failsAt({ name: 'x', kind: 'c' })).toBe('/kind');
    expect(failsAt({ name: 'x', list: [1, 'secret'] })).toBe('/list/1');
    expect(failsAt({ name: 'x', list: [1, 2, 3, 4] })).toBe('/list');
    expect(failsAt([])).toBe('');
  });

  it('that is lenient loses what is broken, and no more', () => {
    const odd = { name: 'long', count: 1.5, kind: 'c', list: [1, 'x', null, 4] };
    expect(readMessage(Message, odd, 'lenient')).toEqual({
      ok: true,
      message: { name: 'lon', count: 7, list: [1, null] },
    });
    expect(readMessage(Message, { name: 3 }, 'lenient')).toEqual({
      ok: false,
      failure: { code: 'unexpected', path: '/name' },
    });
  });

  it('cannot change the prototype of anything, and is never an exception', () => {
    const text = '{"name":"x","__proto__":{"count":1},"constructor":1}';
    expect(readJson(Message, text, 'strict')).toEqual({ ok: true, message: { name: 'x', count: 7, list: [] } });
    for (const broken of [undefined, '', '{', 'null', '[]', '1e999'])
      expect(readJson(Message, broken, 'lenient').ok).toBe(false);
  });
});

import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../../src/service/lib/errors.ts';
import { parseJson } from '../../../../../src/service/server/http/json.ts';

const refusal = (text: string | Uint8Array): unknown => {
  try {
    parseJson(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.extras.errors ? (error.extras.errors as object[])[0] : error.code;
  }
  return undefined;
};

test('JSON.parse and this parser read the same values', () => {
  const texts = [
    'null',
    '-0',
    '1e400',
    '"a\\"b\\\\"',
    '[]',
    '{}',
    '[[],{},[1,{"a":[2]}]]',
    '{"a":{"b":1},"b":{"b":2}}',
  ];
  for (const text of [...texts, ' {"a" : "\\ud83d\\ude00", "ä": "{[,:"} ', '{"__proto__":{"x":1},"constructor":1}'])
    expect(parseJson(new TextEncoder().encode(text)), text).toEqual(JSON.parse(text));
});

describe('a name that is given twice is named, however it is written', () => {
  test.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"b":{"c":1,"c":2}}', '/b/c'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['[{"a":1},{"a":1,"x":[],"a":1}]', '/1/a'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"a/b~":"x","a/b~":"x"}', '/a~1b~0'],
  ])('%s', (text, path) => expect(refusal(text)).toEqual({ path, message: 'appears twice' }));
});

test('half of a surrogate pair is named, in a value and in a name', () => {
  const message = 'contains half of a surrogate pair, which is not a character';
  expect(refusal('{"a":["x","\\ud83d"]}')).toEqual({ path: '/a/1', message });
  expect(refusal('{"a":"\\ude00\\ud83d"}')).toEqual({ path: '/a', message });
  expect(refusal('{"a":{"\\udc00":1}}')).toMatchObject({ message });
});

test('nesting ends before the stack does', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(refusal(nested(32))).toBeUndefined();
  expect(refusal(nested(33))).toEqual({ path: '/0'.repeat(32), message: 'is nested deeper than 32 levels' });
  expect(refusal(nested(500_000))).toMatchObject({ message: 'is nested deeper than 32 levels' });
  expect(refusal(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).toMatchObject({ path: '/a'.repeat(32) });
});

test('a text that is no JSON, or no UTF-8, is malformed', () => {
  for (const text of ['', '{', '{"a":1,}', "{'a':1}", 'NaN', '01', '"\n"', '[1]x', '\u00ff'.repeat(3)])
    expect(refusal(text), text).toBe('malformed_json');
  expect(refusal(Uint8Array.of(0x22, 0xc3, 0x28, 0x22))).toBe('malformed_json');
  expect(refusal(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toBe('malformed_json');
  expect(refusal(Buffer.from('"a"', 'utf16le'))).toBe('malformed_json');
});

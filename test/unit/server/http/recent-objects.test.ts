import fc from 'fast-check';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { findRecentObjects } from '../../../../src/server/http/recent-objects.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const idOf = (prefix: string, at: number) => `${prefix}-${ulid(at).toLowerCase()}`;
const loader = (known: string[] = []) => ({
  isKnown: (id: string) => known.includes(id),
  load: () => Promise.resolve(),
});
const loaders = { str: loader(), upl: loader(), dst: loader(), pls: loader() };
const idsIn = (text: string, by = loaders) => [...findRecentObjects(text, by, NOW).keys()];

test('an id is young for ten seconds, wherever it is named, and is told once', () => {
  const [stream, upload, later] = [idOf('str', NOW - 9_000), idOf('upl', NOW), idOf('dst', NOW + 2_000)];
  const old = idOf('str', NOW - 10_000);
  const text = `/v1/streams/${stream}/start?wait=1\n{"a":"${upload}","b":["${old}","${stream}"],"q":"{x(id:\\"${later}\\")}"}`;
  expect([...findRecentObjects(text, loaders, NOW)]).toEqual([
    [stream, loaders.str],
    [upload, loaders.upl],
    [later, loaders.dst],
  ]);
  // What is known is not asked for, nor what nobody here knows of.
  expect(idsIn(text, { ...loaders, str: loader([stream]) })).toEqual([upload, later]);
  expect(idsIn(idOf('abc', NOW))).toEqual([]);
});

test('nobody has more than twenty of them asked for', () => {
  const many = Array.from({ length: 500 }, () => idOf('upl', NOW));
  expect(idsIn(JSON.stringify(many))).toEqual(many.slice(0, 20));
});

test('any text is read, and nothing in it is an id that is none', () => {
  const part = fc.constantFrom(
    'str-',
    'pls',
    '-',
    '8zzzzzzzzz',
    '01kpabcdef',
    'ilou',
    ...(idOf('str', NOW).match(/.{1,6}/g) ?? []),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(part).map((parts) => parts.join('')),
      ),
      (text) => {
        for (const id of idsIn(text)) expect(id).toMatch(/^[a-z]{3}-[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      },
    ),
  );
});

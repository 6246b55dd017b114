import fc from 'fast-check';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { findRecentObjects } from '../../../../../src/service/server/http/recent-objects.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const AT = { now: NOW, most: 20 };
const getId = (prefix: string, at: number) => `${prefix}-${ulid(at).toLowerCase()}`;
const loader = (known: string[] = []) => ({
  isKnown: (_accountId: string, id: string) => known.includes(id),
  load: () => Promise.resolve(),
});
const loaders = { str: loader(), upl: loader(), dst: loader(), pls: loader() };
const idsIn = (text: string, by = loaders) => [...findRecentObjects('ada', text, by, AT).keys()];

test('an id is young for ten seconds, wherever it is named, and is looked up once', () => {
  const [stream, upload, later] = [getId('str', NOW - 9_000), getId('upl', NOW), getId('dst', NOW + 2_000)];
  const old = getId('str', NOW - 10_000);
  const text = `/v1/streams/${stream}/start?wait=1\n{"a":"${upload}","b":["${old}","${stream}"],"q":"{x(id:\\"${later}\\")}"}`;
  expect([...findRecentObjects('ada', text, loaders, AT)]).toEqual([
    [stream, loaders.str],
    [upload, loaders.upl],
    [later, loaders.dst],
  ]);
  // Known ids are not looked up, nor those of unknown nouns.
  expect(idsIn(text, { ...loaders, str: loader([stream]) })).toEqual([upload, later]);
  expect(idsIn(getId('abc', NOW))).toEqual([]);
});

test('no more ids are looked up than a part of a request may have', () => {
  const many = Array.from({ length: 500 }, () => getId('upl', NOW));
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
    ...(getId('str', NOW).match(/.{1,6}/g) ?? []),
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

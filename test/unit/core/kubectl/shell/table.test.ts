/** Tests tables: columns that fit a width, texts that are never cut, no control characters of an object's text. */
import { expect, test } from 'vitest';
import { type Column, formatTable, layOut, sanitize, wrap } from '../../../../../src/core/kubectl/shell/table.ts';

interface Row {
  name: string;
  where: string;
  why: string;
}
const COLUMNS: Column<Row>[] = [
  { name: 'NAME', read: ({ name }) => name },
  { name: 'WHERE', read: ({ where }) => where, least: 10 },
  { name: 'WHY', read: ({ why }) => why, least: 20 },
];
const long = 'The destination rejected the stream: the key may be wrong. '.repeat(4);
const row = (more: Partial<Row> = {}): Row => ({ name: 'bunny', where: 'tv', why: '', ...more });

test('columns stand below their names, and an empty cell is a dash', () => {
  expect(formatTable(COLUMNS, [row(), row({ name: 'evening-news', why: 'Wait.' })])).toBe(
    ['NAME           WHERE   WHY', 'bunny          tv      -', 'evening-news   tv      Wait.', ''].join('\n'),
  );
});

test('a line fits the width: long texts go on below, and no name is broken or cut', () => {
  const name = 'n'.repeat(57);
  const where = 'one,two,dst-01m8jesvkcbh,four,five,six';
  const rows = [row({ name, where, why: long })];
  for (const width of [104, 120, 200]) {
    const lines = formatTable(COLUMNS, rows, width).trimEnd().split('\n');
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(width);
    const text = lines.slice(1);
    expect(text[0]).toContain(name);
    expect(text.join('\n')).toContain('dst-01m8jesvkcbh,');
    const why = text.map((line) => line.slice(lines[0]?.indexOf('WHY')).trim()).join(' ');
    expect(why.trim()).toBe(long.trim());
  }
  expect(formatTable(COLUMNS, rows).split('\n')[1]).toContain(long.trim());
});

test('a name that is wider than the terminal makes the line longer', () => {
  const text = formatTable(COLUMNS, [row({ name: 'n'.repeat(80), why: 'Wait.' })], 60);
  expect(text).toContain('n'.repeat(80));
  expect(text).toContain('Wait.');
});

test('wide characters and marks take their places of a terminal', () => {
  const [header = '', wide = '', marked = ''] = formatTable(COLUMNS, [
    row({ name: '夜間放送🐰' }),
    row({ name: 'cafe\u0301' }),
  ]).split('\n');
  expect(header.indexOf('WHERE')).toBe(13);
  expect(wide).toBe('夜間放送🐰   tv      -');
  expect(marked).toBe(`cafe\u0301${' '.repeat(9)}tv      -`);
});

test('rows that come later stand in the same columns', () => {
  const { line } = layOut(COLUMNS, [row({ name: 'evening-news' })], 60);
  expect(line(row())).toBe('bunny          tv      -');
});

test('control characters and line breaks of a text do not reach the terminal', () => {
  const text = formatTable(COLUMNS, [row({ why: 'a\u001b[31mred\u001b[0m\nb\u0007\u202ec' })]);
  expect(text.split('\n')[1]).toBe('bunny   tv      ared b c');
});

test('a text is broken between words, and behind commas', () => {
  expect(wrap('one two three', 9)).toEqual(['one two', 'three']);
  expect(wrap('abcdefghij', 5)).toEqual(['abcdefghij']);
  expect(wrap('tv,radio', 5)).toEqual(['tv,', 'radio']);
  expect(wrap('one, two', 9)).toEqual(['one, two']);
  expect(wrap('', 9)).toEqual(['']);
});

test('a text of several lines keeps them, and nothing that controls a terminal', () => {
  expect(sanitize('a\u001b[2Jb\r\nc\u202e\u0007d')).toBe('ab \nc  d');
});

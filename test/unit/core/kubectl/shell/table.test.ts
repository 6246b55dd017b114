/** Tests tables: columns that fit a width, names that are never cut, no control characters of an object's text. */
import { expect, test } from 'vitest';
import { type Column, cut, formatTable, layOut, sanitize } from '../../../../../src/core/kubectl/shell/table.ts';

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

test('a line fits the width: the last columns are cut first, and a name never is', () => {
  const name = 'n'.repeat(57);
  const rows = [row({ name, where: 'one,two,three,four,five,six', why: long })];
  for (const width of [100, 120, 200]) {
    const [header = '', line = ''] = formatTable(COLUMNS, rows, width).split('\n');
    expect(Math.max(header.length, line.length), `${width}`).toBeLessThanOrEqual(width);
    expect(line).toContain(name);
    expect(line.endsWith('…')).toBe(true);
  }
  expect(formatTable(COLUMNS, rows)).toContain(long.trim());
});

test('rows that come later stand in the same columns', () => {
  const { line } = layOut(COLUMNS, [row({ name: 'evening-news' })], 60);
  expect(line(row())).toBe('bunny          tv      -');
});

test('control characters and line breaks of a text do not reach the terminal', () => {
  const text = formatTable(COLUMNS, [row({ why: 'a\u001b[31mred\u001b[0m\nb\u0007\u202ec' })]);
  expect(text.split('\n')[1]).toBe('bunny   tv      ared b c');
});

test('a text is cut at a word, and by characters where it has no words', () => {
  expect(cut('one two three', 9)).toBe('one two…');
  expect(cut('abcdefghij', 5)).toBe('abcd…');
  expect(cut('🐰🐰🐰🐰', 3)).toBe('🐰🐰…');
  expect(cut('short', 9)).toBe('short');
});

test('a text of several lines keeps them, and nothing that controls a terminal', () => {
  expect(sanitize('a\u001b[2Jb\r\nc\u202e\u0007d')).toBe('ab \nc  d');
});

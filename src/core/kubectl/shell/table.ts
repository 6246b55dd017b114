/** Lays out rows in columns, within a width. Pure: no I/O, no clock. */
import { stripVTControlCharacters } from 'node:util';

export interface Column<Row> {
  name: string;
  read: (row: Row) => string;
  /** Decorates a cell that is padded already, such as with a colour. */
  paint?: (cell: string, row: Row) => string;
  /** The least width to which the column shrinks, where its text goes on in the next line. Without it, the column keeps its width. */
  least?: number;
}

const GAP = '   ';

/** Text of an object without the characters that control a terminal. Its lines stay. */
export const sanitize = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/gu, ' ');

/** The same in one line. */
export const toLine = (text: string): string => sanitize(text).replaceAll(/\s+/g, ' ').trim();

/** Characters that take two places of a terminal: East Asian ones, and pictures. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\p{Emoji_Presentation}]/u;
/** Characters that take none: marks of the one before. */
const MARK = /\p{M}/u;

/** The width of a text on a terminal. */
const measure = (text: string): number =>
  [...text].reduce((sum, one) => sum + (MARK.test(one) ? 0 : WIDE.test(one) ? 2 : 1), 0);

/** The parts of a text that stay whole: words, and names of a list. */
const splitWords = (text: string): string[] => text.split(/(?<=[\s,])(?=\S)/);

/** Breaks a text into lines of this width at most. A word that is longer stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of splitWords(text)) {
    if (line !== '' && measure(line + word.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
  }
  return [...lines, line.trimEnd()];
}

/** A layout keeps its widths, so that rows that come later stand in the same columns. */
export interface Layout<Row> {
  header: string;
  line(row: Row): string;
}

/** `width` in characters; without it each row is one line. No text is cut. */
export function layOut<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): Layout<Row> {
  const widths = columns.map(({ name, read }) =>
    Math.max(measure(name), ...rows.map((row) => measure(toLine(read(row))))),
  );
  if (width !== undefined) shrink(columns, rows, widths, width);
  const pad = (text: string, index: number) => text + ' '.repeat(Math.max(0, (widths[index] ?? 0) - measure(text)));
  const split = ({ read, least }: Column<Row>, row: Row, index: number) => {
    const text = toLine(read(row)) || '-';
    return least === undefined || width === undefined ? [text] : wrap(text, widths[index] ?? 0);
  };
  const line = (row: Row) => {
    const cells = columns.map((column, index) => split(column, row, index));
    const height = Math.max(...cells.map(({ length }) => length));
    const lines = Array.from({ length: height }, (_, at) =>
      columns
        .map(({ paint }, index) => {
          const text = cells[index]?.[at] ?? '';
          const cell = index === columns.length - 1 ? text : pad(text, index);
          return paint && text !== '' ? paint(cell, row) : cell;
        })
        .join(GAP)
        .trimEnd(),
    );
    return lines.join('\n');
  };
  return {
    header: columns
      .map(({ name }, index) => pad(name, index))
      .join(GAP)
      .trimEnd(),
    line,
  };
}

/** The width of the longest part of a column that is not broken. */
const measureWords = <Row>({ read }: Column<Row>, rows: readonly Row[]): number =>
  Math.max(0, ...rows.flatMap((row) => splitWords(toLine(read(row))).map((word) => measure(word.trimEnd()))));

/** Takes what is too much from the columns that may shrink, the last one first. Each keeps the width of its longest word. */
function shrink<Row>(columns: readonly Column<Row>[], rows: readonly Row[], widths: number[], width: number): void {
  let surplus = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
  for (let index = columns.length - 1; index >= 0 && surplus > 0; index--) {
    const column = columns[index];
    if (column?.least === undefined) continue;
    const current = widths[index] ?? 0;
    const least = Math.max(Math.min(current, column.least), measure(column.name), measureWords(column, rows));
    const next = Math.max(least, current - surplus);
    widths[index] = next;
    surplus -= current - next;
  }
}

/** A whole table. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const { header, line } = layOut(columns, rows, width);
  return [header, ...rows.map(line)].map((text) => `${text}\n`).join('');
}

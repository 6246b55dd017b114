/** Lays out rows in columns, within a width. Pure: no I/O, no clock. */
import { stripVTControlCharacters } from 'node:util';

export interface Column<Row> {
  name: string;
  read: (row: Row) => string;
  /** Decorates a cell that is padded already, such as with a colour. */
  paint?: (cell: string, row: Row) => string;
  /** The least width to which the column shrinks. A column without it is never cut. */
  least?: number;
}

const GAP = '   ';

/** Text of an object without the characters that control a terminal. Its lines stay. */
export const sanitize = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/gu, ' ');

/** The same in one line. */
export const toLine = (text: string): string => sanitize(text).replaceAll(/\s+/g, ' ').trim();

const measure = (text: string): number => [...text].length;

/** Cuts a text at a word, with `…`. */
export function cut(text: string, width: number): string {
  if (measure(text) <= width) return text;
  const kept = [...text].slice(0, Math.max(0, width - 1)).join('');
  const word = kept.lastIndexOf(' ');
  return `${word > width / 2 ? kept.slice(0, word) : kept}…`;
}

/** A layout keeps its widths, so that rows that come later stand in the same columns. */
export interface Layout<Row> {
  header: string;
  line(row: Row): string;
}

/** `width` in characters; without it no cell is cut. */
export function layOut<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): Layout<Row> {
  const widths = columns.map(({ name, read }) =>
    Math.max(measure(name), ...rows.map((row) => measure(toLine(read(row))))),
  );
  if (width !== undefined) shrink(columns, widths, width);
  const last = columns.length - 1;
  const pad = (text: string, index: number) =>
    index === last ? text : text + ' '.repeat(Math.max(0, (widths[index] ?? 0) - measure(text)));
  const cell = (column: Column<Row>, row: Row, index: number) => {
    const text = toLine(column.read(row)) || '-';
    const fitting = column.least === undefined || width === undefined ? text : cut(text, widths[index] ?? 0);
    return column.paint ? column.paint(pad(fitting, index), row) : pad(fitting, index);
  };
  return {
    header: columns
      .map(({ name }, index) => pad(name, index))
      .join(GAP)
      .trimEnd(),
    line: (row) =>
      columns
        .map((column, index) => cell(column, row, index))
        .join(GAP)
        .trimEnd(),
  };
}

/** Takes what is too much from the columns that may shrink, the last one first. */
function shrink<Row>(columns: readonly Column<Row>[], widths: number[], width: number): void {
  let surplus = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
  for (let index = columns.length - 1; index >= 0 && surplus > 0; index--) {
    const { least, name } = columns[index] ?? {};
    if (least === undefined || name === undefined) continue;
    const current = widths[index] ?? 0;
    const next = Math.max(Math.min(current, least), measure(name), current - surplus);
    widths[index] = next;
    surplus -= current - next;
  }
}

/** A whole table. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const { header, line } = layOut(columns, rows, width);
  return [header, ...rows.map(line)].map((text) => `${text}\n`).join('');
}

/** Collects measurements of the cluster's tests, and makes a table of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../../cluster/README.md');
const [BEGIN, END] = ['<!-- measured: begin -->', '<!-- measured: end -->'];

/** The columns have one width, as the formatter wants. */
function table([head = [], ...body]: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((row) => [...(row[column] ?? '')].length)));
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

export function createResults() {
  const rows: [string, string, string][] = [];
  return {
    add: (what: string, measured: string, meaning: string) => void rows.push([what, measured, meaning]),
    /** The table as text, for a terminal. */
    text: () =>
      rows.map(([what, measured, meaning]) => `  ${what}: ${measured}${meaning && ` (${meaning})`}\n`).join(''),
    /** Replaces the table in README.md. */
    write: (machine: string) => {
      const text = `${machine}\n\n${table([['what', 'measured', 'how it went on'], ...rows])}\n`;
      const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN);
      const after = rest.split(END)[1] ?? '\n';
      writeFileSync(FILE, `${before}${BEGIN}\n\n${text}\n${END}${after}`);
    },
  };
}
export type Results = ReturnType<typeof createResults>;

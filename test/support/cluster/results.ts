/** Measurements of the cluster's tests, and the table that is made of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../cluster/README.md');
const [BEGIN, END] = ['<!-- measured: begin -->', '<!-- measured: end -->'];

export function createResults() {
  const rows: [string, string, string][] = [];
  return {
    add: (what: string, measured: string, meaning: string) => void rows.push([what, measured, meaning]),
    /** For whoever watches. */
    text: () =>
      rows.map(([what, measured, meaning]) => `  ${what}: ${measured}${meaning && ` (${meaning})`}\n`).join(''),
    /** Puts the table into README.md, in the place of the one before. */
    write: (machine: string) => {
      const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
      const text = `${machine}\n\n| what | measured | how it went on |\n| --- | --- | --- |\n${table}\n`;
      const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN);
      const after = rest.split(END)[1] ?? '\n';
      writeFileSync(FILE, `${before}${BEGIN}\n\n${text}\n${END}${after}`);
    },
  };
}
export type Results = ReturnType<typeof createResults>;

/** Keeps the results of the benchmarks: the newest of each row in RESULTS.md, and earlier runs in `results/`, a file a date. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NEWEST = join(import.meta.dirname, 'RESULTS.md');
const EARLIER = join(import.meta.dirname, 'results');

interface Run {
  /** `YYYY-MM-DD HH:MM` */
  time: string;
  text: string;
}

/** Names what a run measured. Counts and durations in a row's name may differ from run to run. */
function readNames({ text }: Run): string[] {
  const [heading = '', ...lines] = text.split('\n');
  const kind = heading.split(' UTC', 2)[1] ?? '';
  if (kind !== '') return [kind];
  return lines
    .filter((line) => line.startsWith('| ') && !line.startsWith('| what ') && !line.startsWith('| --'))
    .map((line) => {
      const [, what = '', , , beside = ''] = line.split('|');
      return `${what}|${beside}`.replaceAll(/\([^)]*\)|\d+(?= (?:s|h|of)\b)/g, '').replaceAll(/\s+/g, ' ');
    });
}

/** Divides the text of RESULTS.md into what stays, and the runs of which each row was measured again. Pure: no I/O, no clock. */
export function divideRuns(text: string): { newest: string; earlier: Run[] } {
  const [head = '', ...parts] = text.split(/^(?=### \d{4}-)/m);
  const runs = parts.map((part): Run => ({ time: part.slice(4, 20), text: `${part.trim()}\n` }));
  const known = new Set<string>();
  const stays = new Set<Run>();
  for (const run of runs.toSorted((a, b) => b.time.localeCompare(a.time))) {
    const names = readNames(run);
    if (names.some((name) => !known.has(name))) stays.add(run);
    for (const name of names) known.add(name);
  }
  const newest = [head.trimEnd(), ...runs.filter((run) => stays.has(run)).map((run) => run.text.trimEnd())];
  return { newest: `${newest.join('\n\n')}\n`, earlier: runs.filter((run) => !stays.has(run)) };
}

/** Appends a run. `kind` names one that has no rows. */
export function recordRun(text: string, kind = ''): void {
  const time = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const { newest, earlier } = divideRuns(`${readFileSync(NEWEST, 'utf8')}\n### ${time} UTC${kind}\n\n${text}`);
  mkdirSync(EARLIER, { recursive: true });
  for (const run of earlier) {
    const date = run.time.slice(0, 10);
    const file = join(EARLIER, `${date}.md`);
    if (!existsSync(file)) writeFileSync(file, `# Earlier results, ${date}\n`);
    appendFileSync(file, `\n${run.text.replace(/^#/, '')}`);
  }
  writeFileSync(NEWEST, newest);
}

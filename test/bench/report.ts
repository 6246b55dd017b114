/** Formats the table of a run, and the facts that it depends on. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { recordRun } from './results.ts';

export interface Row {
  what: string;
  ours: string;
  peer: string;
  beside: string;
  result: string;
  bar: string;
}

const COLUMNS: [key: keyof Row, title: string][] = [
  ['what', 'what'],
  ['ours', 'loopstream'],
  ['peer', 'peer'],
  ['beside', 'the peer'],
  ['result', 'result'],
  ['bar', 'bar'],
];

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2;
}

/** Formats Markdown with aligned columns. */
function table(rows: readonly Row[]): string {
  const cells = [COLUMNS.map(([, title]) => title), ...rows.map((row) => COLUMNS.map(([key]) => row[key]))];
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

const firstLine = (command: string, args: string[]): string => {
  const text = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return text.split('\n', 1)[0] ?? '';
};

/** Programs whose versions a run depends on. */
export const readVersion = {
  ffmpeg: () => `ffmpeg ${/version (\S+)/.exec(firstLine('ffmpeg', ['-version']))?.[1] ?? 'unknown'}`,
  liquidsoap: () => `liquidsoap ${firstLine('liquidsoap', ['--version']).replace('Liquidsoap ', '')}`,
};

/** Returns one paragraph: processor, kernel, versions, load. */
export function circumstances(versions: readonly string[]): string {
  const kernel = readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  const [one, five] = loadavg().map((load) => load.toFixed(1));
  const processor = `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, Linux ${kernel}`;
  const load = `load before the run ${one} (1 min), ${five} (5 min)`;
  return `${processor}; ${[`Node ${process.version}`, ...versions].join(', ')}; ${load}.`;
}

/** Prints the table, and records it in RESULTS.md unless `record` is false. */
export function report(about: string, rows: readonly Row[], record: boolean): void {
  const text = `${about}\n\n${table(rows)}\n`;
  process.stdout.write(text);
  if (record) recordRun(text);
}

/** Parses a whole number above 0 of a command line. */
export function whole(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`${text} is not a whole number above 0`);
  return Number(text);
}

/** Parses the parts of a benchmark on a command line, divided by commas. Throws where one is not among `known`. */
export function selectParts(text: string, known: readonly string[]): string[] {
  const parts = text.split(',');
  const unknown = parts.find((part) => !known.includes(part));
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`);
  return parts;
}

/** Runs the selected `parts` and collects their rows. Each part's rows are printed at once, and so survive the failure of a later part. */
export function collect(parts: readonly string[], say: (text: string) => void) {
  const rows: Row[] = [];
  const take = async (part: string, step: () => Promise<Row[]>): Promise<void> => {
    if (!parts.includes(part)) return;
    say(`measuring: ${part}`);
    const found = await step();
    for (const { what, ours, peer, result } of found) say(`  ${what}: ${ours}, peer ${peer}: ${result}`);
    rows.push(...found);
  };
  return { rows, take };
}

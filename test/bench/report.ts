/** The table of a run, and the facts that it depends on. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

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

/** Markdown, its columns aligned. */
export function table(rows: readonly Row[]): string {
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

/** One paragraph: processor, kernel, versions, load. */
export function circumstances(): string {
  const ffmpeg = /version (\S+)/.exec(firstLine('ffmpeg', ['-version']))?.[1] ?? 'unknown';
  const liquidsoap = firstLine('liquidsoap', ['--version']).replace('Liquidsoap ', '');
  const kernel = readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  const [one, five] = loadavg().map((load) => load.toFixed(1));
  const processor = `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, Linux ${kernel}`;
  return `${processor}; Node ${process.version}, ffmpeg ${ffmpeg}, liquidsoap ${liquidsoap}; load before the run ${one} (1 min), ${five} (5 min).`;
}

/** Runs the parts of the preparation benchmark: says what is awaited, times work, and ends what it started when the run ends early. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { median } from '../report.ts';

const FIRST_LINE_MS = 2_000;
const NEXT_LINE_MS = 5_000;

const execute = promisify(execFile);
const began = performance.now();

export const formatSeconds = (seconds: number): string => `${seconds.toFixed(2)} s`;

/** Formats the median, and the range where there is more than one value. */
export function formatRange(values: readonly number[]): string {
  const range = `${formatSeconds(Math.min(...values))}–${formatSeconds(Math.max(...values))}`;
  return formatSeconds(median(values)) + (values.length > 1 ? ` (${range})` : '');
}

/** Prints a line with the time since the start. */
export function say(text: string): void {
  const at = ((performance.now() - began) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`[${at} s] ${text}\n`);
}

/** Resolves like `work`. Prints what is awaited, and for how long, while that takes more than two seconds. */
export async function during<T>(what: string, work: () => Promise<T>, detail?: () => string): Promise<T> {
  const from = performance.now();
  const tell = () => {
    const more = detail?.();
    say(`  waiting: ${what}, ${((performance.now() - from) / 1000).toFixed(0)} s${more ? `; ${more}` : ''}`);
    timer = setTimeout(tell, NEXT_LINE_MS);
  };
  let timer = setTimeout(tell, FIRST_LINE_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves to the seconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}

/** Runs a program to its end. The program gets SIGTERM when the signal aborts. */
export async function run(command: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  await execute(command, args, { signal });
}

/**
 * The files that a pod is given: its program and its destinations' secrets. Kubernetes replaces them by swapping a symbolic
 * link. They are read again every two seconds: the handful of small reads costs nothing, while a watch would take one of a
 * node's few inotify instances for every stream and miss a swap that comes before it is set up.
 */
import { readFile } from 'node:fs/promises';
import { sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { FIELDS } from '../../resources/destination/read.ts';
import type { Program } from '../../resources/stream/program.ts';
import type { Secrets } from './output/output.ts';
import { isProgram } from './tracks/document-shape.ts';

const POLL_MS = 2000;

export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Rejects with ProgramError, whose message names no content of the file. */
export async function readProgram(path: string): Promise<Program> {
  let program: unknown;
  try {
    program = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ProgramError('The program file cannot be read as JSON.', { cause: error });
  }
  if (!isProgram(program)) throw new ProgramError('The program file does not hold a program.');
  return program;
}

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Those that have a URL, by name; undefined when the file cannot be read. What is in it is in no error and no log. */
export async function readDestinations(path: string): Promise<Map<string, Secrets> | undefined> {
  try {
    const told: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof told !== 'object' || told === null) return undefined;
    const found = Object.entries(told).map(([name, given]): [string, Secrets] => [
      name,
      Object.fromEntries(FIELDS.map((field) => [field, text(given?.[field])])) as Secrets,
    ]);
    return new Map(found.filter(([, { rtmpUrl }]) => rtmpUrl !== ''));
  } catch {
    return undefined;
  }
}

export interface FileEvents {
  /** Anything in it is another: what is played, or where it is sent. */
  onProgram: (program: Program) => void | Promise<void>;
  onDestinations: (destinations: ReadonlyMap<string, Secrets>) => void;
  /** Called at each poll, for the file that the publisher lock reads. */
  onPoll: () => void | Promise<void>;
}

/** Reads the files until `signal` is aborted. What cannot be read leaves things as they are. */
export async function watchFiles(
  paths: { programFile: string; destinationsFile: string },
  first: Program,
  events: FileEvents,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let complained = false;
  for (let current = JSON.stringify(first); !signal.aborted; ) {
    await sleep(POLL_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const program = await readProgram(paths.programFile);
      const told = JSON.stringify(program);
      if (told !== current) {
        await events.onProgram(program);
        current = told;
      }
      complained = false;
    } catch (error) {
      if (!complained) log.warn({ err: error }, 'the program file cannot be used; the one before stays on air');
      complained = true;
    }
    await events.onPoll();
    const destinations = await readDestinations(paths.destinationsFile);
    if (destinations) events.onDestinations(destinations);
  }
}

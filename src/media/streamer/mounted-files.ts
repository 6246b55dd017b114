/**
 * Reads the mounted files of a pod: its program and the secrets of its destinations. Kubernetes replaces them by
 * swapping a symbolic link. About every two seconds their inodes are looked at, and a new one is read. A watch would take one of
 * a node's few inotify instances for every stream, and would miss a swap before it is set up.
 */
import { readFile } from 'node:fs/promises';
import { ChangedFile } from '../../lib/changed-file.ts';
import type { Logger } from '../../lib/log.ts';
import { FIELDS } from '../../resources/destination/read.ts';
import type { Program } from '../../resources/stream/program.ts';
import type { Secrets } from './output/output.ts';
import { isProgram } from './tracks/document-shape.ts';

const POLL_MS = 2000;

export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Rejects with ProgramError, whose message repeats no content of the file. */
export async function readProgram(path: string): Promise<Program> {
  let program: unknown;
  try {
    program = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ProgramError('The program file cannot be read as JSON.', { cause: error });
  }
  if (!isProgram(program)) throw new ProgramError('The program file does not contain a program.');
  return program;
}

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Reads the destinations that have a URL, by name; undefined when the file cannot be read. No error and no log repeats
 * the content.
 */
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
  /** Called when the program differs in anything: its items or its destinations. */
  onProgram: (program: Program) => void | Promise<void>;
  onDestinations: (destinations: ReadonlyMap<string, Secrets>) => void;
  /** Called at each poll, for the file of the publisher lock. */
  onPoll: () => void | Promise<void>;
}

/** Polls the files until the signal is aborted. A file that cannot be read changes nothing. */
export async function watchFiles(
  paths: { programFile: string; destinationsFile: string },
  first: Program,
  events: FileEvents,
  log: Logger,
  /** `sleep` resolves after about so many milliseconds, or when the signal is aborted. */
  { signal, sleep }: { signal: AbortSignal; sleep: (ms: number) => Promise<void> },
): Promise<void> {
  const programFile = new ChangedFile(paths.programFile);
  const destinationsFile = new ChangedFile(paths.destinationsFile);
  let current = JSON.stringify(first);
  let complained = false;
  const takeProgram = async (): Promise<boolean> => {
    try {
      const program = await readProgram(paths.programFile);
      const told = JSON.stringify(program);
      if (told !== current) {
        await events.onProgram(program);
        current = told;
      }
      complained = false;
    } catch (error) {
      if (!complained) log.warn({ err: error }, 'the program file cannot be used; the previous program stays on air');
      complained = true;
    }
    return !complained;
  };
  const takeDestinations = async (): Promise<boolean> => {
    const destinations = await readDestinations(paths.destinationsFile);
    if (destinations) events.onDestinations(destinations);
    return destinations !== undefined;
  };
  while (!signal.aborted) {
    await sleep(POLL_MS);
    if (signal.aborted) return;
    await programFile.poll(takeProgram);
    await events.onPoll();
    await destinationsFile.poll(takeDestinations);
  }
}

/**
 * Reads the mounted files of a pod: its program and the secrets of its destinations. Kubernetes replaces them by
 * swapping a symbolic link. About every two seconds their inodes are looked at, and a new one is read. A watch would take one of
 * a node's few inotify instances for every stream, and would miss a swap before it is set up.
 */
import { readFile } from 'node:fs/promises';
import { ChangedFile } from '../../lib/changed-file.ts';
import type { Logger } from '../../lib/log.ts';
import type { DestinationSecrets } from '../../protocol/destinations.ts';
import type { Program } from '../../protocol/program.ts';
import { readDestinations, readProgram } from '../../protocol/to-streamer.ts';

const POLL_MS = 2000;

export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Rejects with ProgramError, whose message repeats no content of the file. */
export async function readProgramFile(path: string): Promise<Program> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ProgramError('The program file cannot be read.', { cause: error });
  }
  const read = readProgram(text);
  if (read.ok) return read.message;
  throw new ProgramError(
    read.failure.code === 'not_json' ? 'The program file is not JSON.' : 'The program file does not contain a program.',
  );
}

/**
 * Reads the destinations that have a URL, by name; undefined when they cannot be read. No error and no log repeats
 * the content.
 */
export async function readDestinationsFile(path: string): Promise<Map<string, DestinationSecrets> | undefined> {
  try {
    const read = readDestinations(JSON.parse(await readFile(path, 'utf8')));
    return read.ok ? read.message : undefined;
  } catch {
    return undefined;
  }
}

export interface FileEvents {
  /** Called when the program differs in anything: its items or its destinations. */
  onProgram: (program: Program) => void | Promise<void>;
  onDestinations: (destinations: ReadonlyMap<string, DestinationSecrets>) => void;
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
      const program = await readProgramFile(paths.programFile);
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
    const found = await readDestinationsFile(paths.destinationsFile);
    if (found) events.onDestinations(found);
    return found !== undefined;
  };
  while (!signal.aborted) {
    await sleep(POLL_MS);
    if (signal.aborted) return;
    await programFile.poll(takeProgram);
    await events.onPoll();
    await destinationsFile.poll(takeDestinations);
  }
}

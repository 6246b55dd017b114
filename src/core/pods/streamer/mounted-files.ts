/**
 * Reads the mounted files of a pod: its program and the secrets of its destinations. Kubernetes replaces them by
 * swapping a symbolic link. About every two seconds their inodes are looked at, and a new one is read. A watch would take one of
 * a node's few inotify instances for every stream, and would miss a swap before it is set up.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangedFile } from '../../lib/changed-file.ts';
import type { Logger } from '../../lib/log.ts';
import type { DestinationSecrets } from '../../protocol/destinations.ts';
import type { Program } from '../../protocol/program.ts';
import { readDestinations, readProgram } from '../../protocol/to-streamer.ts';
import { ingestForbidden } from '../../resources/destination/forbidden.ts';
import { FIELDS, readDestination } from '../../resources/destination/read.ts';

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

export interface DestinationFiles {
  /** JSON, of the stream's Secret. */
  destinationsFile: string;
  /** A file for each member of each destination, of their own Secrets; read while there is no such file. */
  destinationsDir?: string | undefined;
}

/**
 * Reads the destinations that have a URL, by name; undefined when they cannot be read. No error and no log repeats
 * the content.
 */
export async function readDestinationFiles(
  files: DestinationFiles,
): Promise<Map<string, DestinationSecrets> | undefined> {
  try {
    const read = readDestinations(await readMembers(files));
    return read.ok ? read.message : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text of a file; undefined where it does not exist. */
async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readMembers({ destinationsFile, destinationsDir }: DestinationFiles): Promise<unknown> {
  const json = await readIfExists(destinationsFile);
  if (json !== undefined || destinationsDir === undefined) return JSON.parse(json ?? '');
  // Kubernetes swaps a link to all files of the volume: members of two versions would send a new key to an old server.
  const directory = await realpath(destinationsDir);
  const readOne = async (name: string) => {
    const fields = FIELDS.map(async (field) => [field, await readIfExists(join(directory, name, field))]);
    return [name, Object.fromEntries(await Promise.all(fields))];
  };
  const told = Object.fromEntries(await Promise.all((await readdir(directory)).map(readOne)));
  return (await realpath(destinationsDir)) === directory ? told : undefined;
}

type Destinations = ReadonlyMap<string, DestinationSecrets>;

/**
 * Users can edit a destination's Secret into one that the operator refuses: an unusable or deleted Secret changes
 * nothing.
 */
function keepUsable(known: Destinations, found: Destinations, allowPrivate: boolean): Destinations {
  const isUsable = (secrets: DestinationSecrets): boolean => {
    const { read } = readDestination(secrets, () => '');
    return read !== undefined && ingestForbidden(read.ingest, allowPrivate) === undefined;
  };
  return new Map([...known, ...[...found].filter(([name, secrets]) => !known.has(name) || isUsable(secrets))]);
}

export interface FileEvents {
  /** Called when the program differs in anything: its items or its destinations. */
  onProgram: (program: Program) => void | Promise<void>;
  onDestinations: (destinations: Destinations) => void;
  /** Called at each poll, for the file of the publisher lock. */
  onPoll: () => void | Promise<void>;
}

/** Polls the files until the signal is aborted. A file that cannot be read changes nothing. */
export async function watchFiles(
  paths: DestinationFiles & { programFile: string; allowPrivateDestinations: boolean },
  first: Program,
  events: FileEvents,
  log: Logger,
  /** `sleep` resolves after about so many milliseconds, or when the signal is aborted. */
  { signal, sleep }: { signal: AbortSignal; sleep: (ms: number) => Promise<void> },
): Promise<void> {
  const programFile = new ChangedFile(paths.programFile);
  const destinationsFile = new ChangedFile(paths.destinationsFile);
  const destinationsDir = new ChangedFile(paths.destinationsDir ?? paths.destinationsFile);
  // The file counts as soon as it exists, which may be a moment after the volume has changed.
  const hasFile = () => existsSync(paths.destinationsFile);
  let known: Destinations = new Map();
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
    const isHandedOver = hasFile();
    const found = await readDestinationFiles(paths);
    if (!found) return false;
    known = isHandedOver ? found : keepUsable(known, found, paths.allowPrivateDestinations);
    events.onDestinations(known);
    return true;
  };
  while (!signal.aborted) {
    await sleep(POLL_MS);
    if (signal.aborted) return;
    await programFile.poll(takeProgram);
    await events.onPoll();
    await (hasFile() ? destinationsFile : destinationsDir).poll(takeDestinations);
  }
}

/**
 * The files that a pod is given: its program and its destinations' secrets. Kubernetes replaces them by swapping a symbolic
 * link. They are read again every two seconds: the handful of small reads costs nothing, while a watch would take one of a
 * node's few inotify instances for every stream and miss a swap that comes before it is set up.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../clock.ts';
import type { Logger } from '../log.ts';
import { SECRET_KEY_KEY, SECRET_URL_KEY } from '../streams/names.ts';
import type { Program } from '../streams/program.ts';
import { isProgram } from './shape.ts';
import type { Secrets } from './target.ts';

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

/** Undefined while the Secret is not mounted, or has no URL. */
export async function readSecrets(destinationsDir: string, name: string): Promise<Secrets | undefined> {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) return undefined;
  const read = (file: string) => readFile(join(destinationsDir, name, file), 'utf8').then((text) => text.trim());
  try {
    return { rtmpUrl: await read(SECRET_URL_KEY), rtmpKey: await read(SECRET_KEY_KEY).catch(() => '') };
  } catch {
    return undefined;
  }
}

export interface FileEvents {
  onProgram: (program: Program) => void | Promise<void>;
  onSecrets: (name: string, secrets: Secrets | undefined) => void;
  destinations: () => readonly string[];
}

/** Reads the files until `signal` is aborted. What cannot be read leaves things as they are. */
export async function watchFiles(
  paths: { programFile: string; destinationsDir: string },
  version: number,
  events: FileEvents,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let complained = false;
  for (let current = version; !signal.aborted; ) {
    await sleep(POLL_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const program = await readProgram(paths.programFile);
      if (program.version !== current) {
        await events.onProgram(program);
        current = program.version;
      }
      complained = false;
    } catch (error) {
      if (!complained) log.warn({ err: error }, 'the program file cannot be used; the one before stays on air');
      complained = true;
    }
    for (const name of events.destinations()) {
      const secrets = await readSecrets(paths.destinationsDir, name);
      if (secrets) events.onSecrets(name, secrets);
    }
  }
}

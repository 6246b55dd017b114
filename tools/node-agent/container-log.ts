/**
 * Writes the log file of one run of a container. Writes are synchronous: they are small, and a reader that follows can
 * read the file and then listen without missing or repeating a line. A file that has grown to 10 MB becomes FILE.1.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { LineSplitter, type LogQuery, type OutputStream, selectLog } from './log-format.ts';

const ROTATE_BYTES = 10 * 2 ** 20;

export class ContainerLog {
  readonly #file: string;
  readonly #rotateBytes: number;
  readonly #now: () => Date;
  readonly #splitters = { stdout: new LineSplitter('stdout'), stderr: new LineSplitter('stderr') };
  readonly #listeners = new Set<(record: Buffer | undefined) => void>();
  #fd: number | undefined;
  #size = 0;

  constructor(file: string, now: () => Date, rotateBytes = ROTATE_BYTES) {
    this.#file = file;
    this.#now = now;
    this.#rotateBytes = rotateBytes;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#open();
  }

  write(stream: OutputStream, chunk: Buffer): void {
    this.#append(this.#splitters[stream].records(chunk, this.#now().toISOString()));
  }

  /** Ends the log and its followers' reading. */
  end(): void {
    const time = this.#now().toISOString();
    this.#append([...this.#splitters.stdout.end(time), ...this.#splitters.stderr.end(time)]);
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    for (const listener of this.#listeners) listener(undefined);
    this.#listeners.clear();
  }

  /** Passes each new record to `listener`, and `undefined` at the end. Returns a function that unsubscribes. */
  follow(listener: (record: Buffer | undefined) => void): () => void {
    if (this.#fd === undefined) listener(undefined);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #append(records: Buffer[]): void {
    if (records.length === 0 || this.#fd === undefined) return;
    const data = Buffer.concat(records);
    try {
      writeSync(this.#fd, data);
      this.#size += data.length;
      if (this.#size >= this.#rotateBytes) this.#rotate(this.#fd);
    } catch {
      // A full disk costs log lines; the container goes on, and those who follow still see them.
    }
    for (const record of records) for (const listener of this.#listeners) listener(record);
  }

  #open(): void {
    this.#fd = openSync(this.#file, 'a', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  #rotate(fd: number): void {
    closeSync(fd);
    this.#fd = undefined;
    renameSync(this.#file, `${this.#file}.1`);
    this.#open();
  }
}

function readOr(file: string, missing: Buffer): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return missing;
  }
}

const NOTHING = Buffer.alloc(0);

/** Reads the requested part of a log on disk, at most two files of 10 MB; empty when there is none. */
export const readLog = (file: string, query: LogQuery): Buffer =>
  selectLog(Buffer.concat([readOr(`${file}.1`, NOTHING), readOr(file, NOTHING)]), query);

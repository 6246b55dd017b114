/**
 * An object that arrives in pieces, over hours and over servers that die meanwhile. Each piece is an object of its own whose
 * key says which bytes it holds: a listing tells how far it has come, and nothing has to be remembered anywhere. One at a time
 * may append; who does so sees to that.
 */
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../lib/settles.ts';
import type { Storage } from './storage.ts';

/** The bytes that a server which is killed loses at most, and the memory of one arrival. */
export const LARGEST_PIECE = 4 * 2 ** 20;
/** The first piece of an arrival; each one that was filled doubles the next. */
export const SMALLEST_PIECE = 256 * 1024;
/** A piece that fills slowly is written after so long, so that its memory serves others. */
const HOLD_MS = 5_000;
/** So that keys are in the order of the bytes: 2^53 has sixteen digits. */
const DIGITS = 16;
const PIECE = /\/(\d{16})-(\d{16})$/;
/** Says that the bytes from here on are not verified: a client has sent a checksum with them, and not all have come. */
const UNVERIFIED = /\/unverified-(\d{16})$/;

/** Bytes [start, end) of the whole. */
interface Piece {
  key: string;
  start: number;
  end: number;
}

const formatPieceKey = (prefix: string, start: number, end: number): string =>
  `${prefix}/${[start, end].map((n) => String(n).padStart(DIGITS, '0')).join('-')}`;

/** All pieces, in order, and the byte from which on they are not verified. */
async function listPieces(storage: Storage, prefix: string): Promise<{ all: Piece[]; marks: string[]; from: number }> {
  const all: Piece[] = [];
  const marks: string[] = [];
  let from = Number.POSITIVE_INFINITY;
  for await (const key of storage.list(`${prefix}/`)) {
    const mark = UNVERIFIED.exec(key);
    const [, start, end] = PIECE.exec(key) ?? [];
    if (start !== undefined) all.push({ key, start: Number(start), end: Number(end) });
    if (!mark) continue;
    marks.push(key);
    from = Math.min(from, Number(mark[1]));
  }
  // Of two that begin at the same byte the longer one counts.
  all.sort((a, b) => a.start - b.start || b.end - a.end);
  return { all, marks, from };
}

/** Those that follow on each other from the first byte on; others were made twice and are not needed. */
function follow(pieces: readonly Piece[]): Piece[] {
  let at = 0;
  return pieces.filter(({ start, end }) => {
    if (start !== at || end <= start) return false;
    at = end;
    return true;
  });
}

async function listVerified(storage: Storage, prefix: string): Promise<Piece[]> {
  const { all, from } = await listPieces(storage, prefix);
  return follow(all.filter(({ end }) => end <= from));
}

/** Marks the bytes from `start` on as not verified. Answers what takes the mark away when they are. */
export async function markUnverified(storage: Storage, prefix: string, start: number): Promise<() => Promise<void>> {
  const key = `${prefix}/unverified-${String(start).padStart(DIGITS, '0')}`;
  await storage.write(key, Buffer.from('-'));
  return () => storage.delete(key);
}

/** Deletes what is not verified, and answers how many bytes are left. Nobody may append meanwhile. */
export async function dropUnverified(storage: Storage, prefix: string): Promise<number> {
  const { all, marks, from } = await listPieces(storage, prefix);
  const good = all.filter(({ end }) => end <= from);
  if (marks.length > 0) {
    for (const { key } of all.filter(({ end }) => end > from)) await storage.delete(key);
    // Last, so that what is left of this by a death in between is still not verified.
    for (const key of marks) await storage.delete(key);
  }
  return follow(good).at(-1)?.end ?? 0;
}

/** How many bytes have come, from the first one on without a gap. Rejects with StorageError. */
export async function arrivedBytes(storage: Storage, prefix: string): Promise<number> {
  return (await listVerified(storage, prefix)).at(-1)?.end ?? 0;
}

/** Buffers in which pieces are put together. */
export interface PieceMemory {
  /** A buffer of `bytes`, or a smaller one while memory is short. Rejects when there is none for too long. */
  take(bytes: number): Promise<Buffer>;
  give(buffer: Buffer): void;
}

const OWN_MEMORY: PieceMemory = { take: async (bytes) => Buffer.allocUnsafe(bytes), give: () => undefined };

/** One piece on its way to storage. It holds memory only while it holds bytes. */
class Filling {
  readonly #memory: PieceMemory;
  readonly #keep: (bytes: Buffer) => Promise<void>;
  #buffer: Buffer | undefined;
  #filled = 0;
  #size = SMALLEST_PIECE;
  #since = 0;

  constructor(memory: PieceMemory, keep: (bytes: Buffer) => Promise<void>) {
    this.#memory = memory;
    this.#keep = keep;
  }

  /** Milliseconds until it is to be written, full or not. */
  get dueMs(): number {
    return this.#buffer ? Math.max(0, this.#since + HOLD_MS - performance.now()) : Number.POSITIVE_INFINITY;
  }

  async add(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      if (!this.#buffer) {
        this.#buffer = await this.#memory.take(this.#size);
        this.#since = performance.now();
      }
      const taken = rest.copy(this.#buffer, this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
      if (this.#filled < this.#buffer.length) continue;
      await this.flush();
      this.#size = Math.min(LARGEST_PIECE, this.#size * 2);
    }
  }

  async flush(): Promise<void> {
    const [buffer, filled] = [this.#buffer, this.#filled];
    if (!buffer) return;
    this.#buffer = undefined;
    this.#filled = 0;
    try {
      await this.#keep(buffer.subarray(0, filled));
    } finally {
      this.#memory.give(buffer);
    }
  }
}

/**
 * Keeps what `body` brings as the bytes from `start` on, and answers where they end. When `body` breaks off, rejects with
 * its error after what had come is kept. `onKept` is told how far it is. Rejects with StorageError and with the memory's
 * error too.
 */
export async function appendPieces(
  storage: Pick<Storage, 'write'>,
  prefix: string,
  start: number,
  body: AsyncIterable<Buffer>,
  onKept: (bytes: number) => Promise<void>,
  memory: PieceMemory = OWN_MEMORY,
): Promise<number> {
  let at = start;
  const filling = new Filling(memory, async (bytes) => {
    await storage.write(formatPieceKey(prefix, at, at + bytes.length), bytes);
    at += bytes.length;
    await onKept(at);
  });
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = chunks.next();
      while (!(await settlesWithin(next, filling.dueMs))) await filling.flush();
      const { done, value } = await next;
      if (done) break;
      await filling.add(value);
    }
  } finally {
    // A body that still waits for bytes ends when they come, or with its stream.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
    await filling.flush();
  }
  return at;
}

/** All that has come, in order. Rejects with StorageError or the signal's reason. */
export async function* joinedPieces(storage: Storage, prefix: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const { key } of await listVerified(storage, prefix)) {
    const body: Readable = await storage.read(key, {}, signal);
    for await (const chunk of body) yield chunk as Buffer;
  }
}

/** Rejects with StorageError; what was deleted until then is gone. */
export async function deletePieces(storage: Storage, prefix: string): Promise<void> {
  const keys: string[] = [];
  for await (const key of storage.list(`${prefix}/`)) keys.push(key);
  for (const key of keys) await storage.delete(key);
}

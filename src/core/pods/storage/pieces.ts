/**
 * Stores an object that arrives in pieces, over hours and across dying servers. Each piece is an object of its own,
 * whose key names its bytes: a listing shows the progress, and no other state exists. Callers must ensure that only one
 * appends at a time.
 */
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../lib/settle-within.ts';
import type { Storage } from './storage.ts';

/** Limit of the bytes that a killed server loses, and of the memory of one arrival. */
export const LARGEST_PIECE = 4 * 2 ** 20;
/** Size of the first piece of an arrival; each full piece doubles the next. */
export const SMALLEST_PIECE = 256 * 1024;
/** A slow piece is written after this time, so that its memory serves others. */
const HOLD_MS = 5_000;
/** Digits that keep keys in the order of the bytes: 2^53 has sixteen. */
const DIGITS = 16;
const PIECE = /\/(\d{16})-(\d{16})$/;
/**
 * Key of a mark: bytes from here on are not verified, because a client's checksum covers bytes that have not all
 * arrived.
 */
const UNVERIFIED = /\/unverified-(\d{16})$/;

/** Bytes [start, end) of the whole. */
interface Piece {
  key: string;
  start: number;
  end: number;
}

const formatPieceKey = (prefix: string, start: number, end: number): string =>
  `${prefix}/${[start, end].map((n) => String(n).padStart(DIGITS, '0')).join('-')}`;

/** Lists all pieces in order, and the byte at which unverified ones begin. */
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
  // Of two pieces with the same start, the longer one counts.
  all.sort((a, b) => a.start - b.start || b.end - a.end);
  return { all, marks, from };
}

/** Filters the pieces that follow each other from the first byte on; others are duplicates. */
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

/** Marks the bytes from `start` on as not verified. Returns a function that removes the mark. */
export async function markUnverified(storage: Storage, prefix: string, start: number): Promise<() => Promise<void>> {
  const key = `${prefix}/unverified-${String(start).padStart(DIGITS, '0')}`;
  await storage.write(key, Buffer.from('-'));
  return () => storage.delete(key);
}

/** Deletes unverified pieces and returns the bytes left. No one may append meanwhile. */
export async function dropUnverified(storage: Storage, prefix: string): Promise<number> {
  const { all, marks, from } = await listPieces(storage, prefix);
  const good = all.filter(({ end }) => end <= from);
  if (marks.length > 0) {
    for (const { key } of all.filter(({ end }) => end > from)) await storage.delete(key);
    // Marks go last: after a crash in between, the remaining pieces are still unverified.
    for (const key of marks) await storage.delete(key);
  }
  return follow(good).at(-1)?.end ?? 0;
}

/** Returns the bytes that have arrived, from the first one on without a gap. Rejects with StorageError. */
export async function arrivedBytes(storage: Storage, prefix: string): Promise<number> {
  return (await listVerified(storage, prefix)).at(-1)?.end ?? 0;
}

/** Buffers for pieces. */
export interface PieceMemory {
  /** Returns a buffer of `bytes`, or a smaller one while memory is short. Rejects when there is none for too long. */
  take(bytes: number): Promise<Buffer>;
  give(buffer: Buffer): void;
}

const OWN_MEMORY: PieceMemory = { take: async (bytes) => Buffer.allocUnsafe(bytes), give: () => undefined };

/** A piece on its way to storage. It holds memory only while it holds bytes. */
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

  /** Milliseconds until the piece must be written, full or not. */
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
 * Stores the bytes of `body` from `start` on, and resolves with their end. When `body` breaks off, the bytes so far are
 * stored before its error is thrown. `onKept` is called with the progress. Rejects also with StorageError and with the
 * memory's error.
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
    // A waiting body ends when its bytes come, or with its stream.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
    await filling.flush();
  }
  return at;
}

/** Reads all pieces in order. Rejects with StorageError or the signal's reason. */
export async function* joinedPieces(storage: Storage, prefix: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const { key } of await listVerified(storage, prefix)) {
    const body: Readable = await storage.read(key, {}, signal);
    for await (const chunk of body) yield chunk as Buffer;
  }
}

/**
 * Reads the pieces in order as they come, to `sizeBytes`. Before it lists them once more, it calls `wait`. Rejects with StorageError, the
 * error of `wait`, or the signal's reason.
 */
export async function* arrivingPieces(
  storage: Storage,
  prefix: string,
  sizeBytes: number,
  signal: AbortSignal,
  wait: () => Promise<void>,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < sizeBytes; ) {
    for (const { key, start, end } of await listVerified(storage, prefix)) {
      if (end <= at) continue;
      // Pieces follow each other, so the first one with more holds the next byte.
      for await (const chunk of await storage.read(key, { start: at - start }, signal)) {
        at += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    }
    if (at < sizeBytes) await wait();
  }
}

/** Rejects with StorageError; deleted pieces stay deleted. */
export async function deletePieces(storage: Storage, prefix: string): Promise<void> {
  const keys: string[] = [];
  for await (const key of storage.list(`${prefix}/`)) keys.push(key);
  for (const key of keys) await storage.delete(key);
}

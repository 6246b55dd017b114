/**
 * An object that arrives in pieces, over hours and over servers that die meanwhile. Each piece is an object of its own whose
 * key says which bytes it holds: a listing tells how far it has come, and nothing has to be remembered anywhere. One at a time
 * may append; who does so sees to that.
 */
import type { Readable } from 'node:stream';
import type { Storage } from './storage.ts';

/** What a server that is killed loses at most; also the memory of one arrival. */
const PIECE_BYTES = 4 * 2 ** 20;
/** So that keys are in the order of the bytes: 2^53 has sixteen digits. */
const DIGITS = 16;
const PIECE = /\/(\d{16})-(\d{16})$/;

/** Bytes [start, end) of the whole. */
interface Piece {
  key: string;
  start: number;
  end: number;
}

const keyOf = (prefix: string, start: number, end: number): string =>
  `${prefix}/${[start, end].map((n) => String(n).padStart(DIGITS, '0')).join('-')}`;

/** The pieces that follow on each other from the first byte on; others were made twice and are not needed. */
async function piecesOf(storage: Storage, prefix: string): Promise<Piece[]> {
  const found: Piece[] = [];
  for await (const key of storage.list(`${prefix}/`)) {
    const [, start, end] = PIECE.exec(key) ?? [];
    found.push({ key, start: Number(start), end: Number(end) });
  }
  // Of two that begin at the same byte the longer one counts.
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let at = 0;
  return found.filter(({ start, end }) => {
    if (start !== at || end <= start) return false;
    at = end;
    return true;
  });
}

/** How many bytes have come, from the first one on without a gap. Rejects with StorageError. */
export async function arrivedBytes(storage: Storage, prefix: string): Promise<number> {
  return (await piecesOf(storage, prefix)).at(-1)?.end ?? 0;
}

/**
 * Keeps what `body` brings as the bytes from `start` on, and answers where they end. When `body` breaks off, rejects with
 * its error after what had come is kept. `onKept` is told how far it is. Rejects with StorageError too.
 */
export async function appendPieces(
  storage: Pick<Storage, 'write'>,
  prefix: string,
  start: number,
  body: AsyncIterable<Buffer>,
  onKept: (bytes: number) => Promise<void>,
): Promise<number> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  let at = start;
  const keep = async () => {
    if (filled === 0) return;
    await storage.write(keyOf(prefix, at, at + filled), piece.subarray(0, filled));
    at += filled;
    filled = 0;
    await onKept(at);
  };
  try {
    for await (const chunk of body) {
      for (let rest = chunk; rest.length > 0; ) {
        const taken = rest.copy(piece, filled);
        filled += taken;
        rest = rest.subarray(taken);
        if (filled === PIECE_BYTES) await keep();
      }
    }
  } finally {
    await keep();
  }
  return at;
}

/** All that has come, in order. Rejects with StorageError or the signal's reason. */
export async function* joinedPieces(storage: Storage, prefix: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const { key } of await piecesOf(storage, prefix)) {
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

/**
 * Admits the requests that bring bytes of uploads: how many are at work at once, of an account and in all, and the memory that
 * their bytes wait in. A request beyond that waits a little before it is refused, since stock clients send twenty files at once.
 */
import { AppError } from '../../lib/errors.ts';
import { Places, PlacesFull } from '../../lib/places.ts';
import type { PieceMemory } from '../../media/storage/pieces.ts';
import { NoMemory, UploadMemory } from './memory.ts';
import type { Pace } from './pace.ts';

export interface SendingLimits {
  /** Memory of this server for bytes on their way to storage. */
  memoryBytes: number;
  /** Requests at work at this server. */
  atOnce: number;
  /** The same of one account. */
  atOnceEach: number;
  /** Averaged over 30 seconds; a slower connection is ended, and what has come is kept. */
  minBytesPerSecond: number;
}

/** How long a request waits for its place, and for memory, in milliseconds. */
const PLACE_MS = 10_000;
const MEMORY_MS = 30_000;

/** What one request may take. Its signal aborts when the place is given up to another account. */
export interface Arrival extends Pace {
  memory: PieceMemory;
  release(): void;
}

export type Arrivals = ReturnType<typeof createArrivals>;

export function createArrivals({ memoryBytes, atOnce, atOnceEach, minBytesPerSecond }: SendingLimits) {
  const memory = new UploadMemory(memoryBytes, MEMORY_MS);
  const places = new Places({
    total: atOnce,
    each: { account: atOnceEach },
    waiting: { total: atOnce, each: atOnceEach, ms: PLACE_MS },
  });
  return {
    /** Rejects with `too_many_uploads_at_once` and `server_busy`. */
    async admit(accountId: string): Promise<Arrival> {
      const giveUp = new AbortController();
      const release = await places
        .take({ account: accountId }, { giveUp: () => giveUp.abort() })
        .catch((error: unknown) => {
          throw error instanceof PlacesFull ? refusal(error, atOnceEach) : error;
        });
      return { release, signal: giveUp.signal, memory: memory.of(accountId), minBytesPerSecond };
    },
  };
}

const refusal = ({ limit }: PlacesFull, each: number): AppError =>
  limit === 'account'
    ? new AppError(
        'too_many_uploads_at_once',
        `The account sends ${each} uploads to this server already. Send fewer at the same time.`,
      )
    : new AppError('server_busy', 'This server receives as many uploads at the same time as it can. Try again later.');

/** What a lack of memory is to clients; all else stays as it is. */
export const memoryRefusal = (error: unknown): unknown =>
  error instanceof NoMemory
    ? new AppError('server_busy', 'This server has no memory for more uploads at the moment. Try again later.')
    : error;

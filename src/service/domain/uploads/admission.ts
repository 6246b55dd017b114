/**
 * Admits requests that send bytes of uploads. It limits their number, for each account and in all, and their memory. A request
 * beyond the limits waits a little before it fails, since stock clients send twenty files at once.
 */

import type { PieceMemory } from '../../../core/pods/storage/pieces.ts';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import type { MinimumRate } from './minimum-rate.ts';
import { NoMemory, UploadMemory } from './upload-memory.ts';

export interface SendingLimits {
  /** Memory of this server for bytes on their way to storage. */
  memoryBytes: number;
  /** Concurrent requests of this server. */
  atOnce: number;
  /** Concurrent requests of one account. */
  atOnceEach: number;
  /** Average over 30 seconds; a slower connection is closed, and its bytes so far are kept. */
  minBytesPerSecond: number;
}

/** Longest waits for a place and for memory. */
const PLACE_MS = 10_000;
const MEMORY_MS = 30_000;

/** Resources of one request. Its signal aborts when the place goes to another account. */
export interface AdmittedRequest extends MinimumRate {
  memory: PieceMemory;
  release(): void;
}

export type UploadAdmission = ReturnType<typeof createUploadAdmission>;

export function createUploadAdmission({ memoryBytes, atOnce, atOnceEach, minBytesPerSecond }: SendingLimits) {
  const memory = new UploadMemory(memoryBytes, MEMORY_MS);
  const places = new FairSlots({
    total: atOnce,
    each: { account: atOnceEach },
    waiting: { total: atOnce, each: atOnceEach, ms: PLACE_MS },
  });
  return {
    async admit(accountId: string): Promise<AdmittedRequest> {
      const giveUp = new AbortController();
      const release = await places
        .take({ account: accountId }, { giveUp: () => giveUp.abort() })
        .catch((error: unknown) => {
          throw error instanceof SlotsFull ? refusal(error, atOnceEach) : error;
        });
      return { release, signal: giveUp.signal, memory: memory.forOwner(accountId), minBytesPerSecond };
    },
  };
}

const refusal = ({ limit }: SlotsFull, each: number): AppError =>
  limit === 'account'
    ? new AppError(
        'too_many_uploads_at_once',
        `The account already sends ${each} uploads to this server. Send fewer at the same time.`,
      )
    : new AppError('server_busy', 'This server receives as many uploads at the same time as it can. Try again later.');

/** Maps a lack of memory to its error for clients; other errors pass unchanged. */
export const memoryRefusal = (error: unknown): unknown =>
  error instanceof NoMemory
    ? new AppError('server_busy', 'This server has no memory for more uploads at the moment. Try again later.')
    : error;

/**
 * Limits how many requests the auth library works on at once: passwords are expensive to check. A free place goes to
 * the source address with the fewest running requests, and there to the account with the fewest. The queue is limited.
 */
import { AppError } from '../lib/errors.ts';
import { FairSlots, SlotsFull } from '../lib/fair-slots.ts';

export interface ConcurrencyOptions {
  /** Running requests: in total, from one source address, and those that wait for an outside provider. */
  places: number;
  perAddress: number;
  perProvider: number;
  /** In line, and of these from one source address. */
  waiting: number;
  waitingPerAddress: number;
  waitMs: number;
}

/** From where somebody asks, and about which account, as far as that is known. */
export interface RequestSource {
  address: string;
  account: string;
  /** Whether the work waits for the server of another provider. */
  waitsForProvider: boolean;
}

/** Rejects with `rate_limited` where one address has a full line, and with `server_busy` where all have. */
export type LimitConcurrency = <T>(asker: RequestSource, work: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit({
  places: total,
  perAddress,
  perProvider,
  waiting,
  waitingPerAddress,
  waitMs,
}: ConcurrencyOptions): LimitConcurrency {
  const places = new FairSlots({
    total,
    // Within an address, an account has no limit of its own: it only comes after accounts with fewer running requests.
    // A silent provider leaves places for sign-ins with a password.
    each: { address: perAddress, account: perAddress, provider: perProvider },
    waiting: { total: waiting, each: waitingPerAddress, ms: waitMs },
  });
  return async ({ address, account, waitsForProvider }, work) => {
    const owners = { address, account: `${address} ${account}`, provider: waitsForProvider ? 'provider' : address };
    const release = await places.take(owners).catch((error: unknown) => {
      throw error instanceof SlotsFull ? refusal(error) : error;
    });
    try {
      return await work();
    } finally {
      release();
    }
  };
}

const refusal = ({ limit }: SlotsFull): AppError =>
  limit === 'total' || limit === 'provider'
    ? new AppError('server_busy', 'Too many users are signing in at this moment. Try again in a few seconds.')
    : new AppError(
        'rate_limited',
        'Too many requests from this address are running at the same time. Try again in a few seconds.',
      );

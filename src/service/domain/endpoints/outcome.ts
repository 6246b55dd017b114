/** Judges what a receiver answered, and says when to try again. Pure: no I/O, no clock. */
import { backoffMs } from '../../../core/lib/backoff.ts';
import { DELIVERY_ERRORS, type DeliveryCode } from '../../../core/lib/codes/deliveries.ts';
import type { DeliveryState } from './record.ts';

/** After so long, a delivery that was never accepted has failed. */
export const GIVE_UP_MS = 24 * 3_600_000;
/** An item that began longer ago is no news. */
const GIVE_UP_STARTS_MS = 5 * 60_000;
/** 5 s, 10 s, 20 s … up to 2 h: some twenty attempts within a day. */
const BACKOFF = { baseMs: 10_000, maxMs: 4 * 3_600_000 };
/** A receiver may ask for more time than this; then it gets this. */
const MAX_WAIT_MS = 4 * 3_600_000;

/** The result of one request. */
export interface DeliveryAttempt {
  /** Undefined: there was no response. */
  status?: number;
  body?: string;
  /** Why there was no response. */
  failure?: DeliveryCode;
  /** The header Retry-After, in milliseconds. */
  retryAfterMs?: number | undefined;
  tookMs: number;
}

export interface DeliveryOutcome {
  state: DeliveryState;
  /** Undefined where no attempt follows. */
  retryInMs?: number;
  /** Disables the endpoint, with this code. */
  disables?: 'gone';
  answer: { status: number | null; body: string | null; code: DeliveryCode | null; tookMs: number };
}

/** Why an attempt failed; undefined where it did not. */
export function findFailure({ status, failure }: DeliveryAttempt): DeliveryCode | undefined {
  if (failure || status === undefined) return failure ?? 'unreachable';
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'rejected';
}

/** The result as it is kept and shown. */
export const summarize = (attempt: DeliveryAttempt): DeliveryOutcome['answer'] => ({
  status: attempt.status ?? null,
  body: attempt.body ?? null,
  code: findFailure(attempt) ?? null,
  tookMs: Math.round(attempt.tookMs),
});

/** Says what follows from an attempt: `attempts` were made before it, and it was asked for `ageMs` ago. */
export function judge(
  attempt: DeliveryAttempt,
  { attempts, ageMs, type }: { attempts: number; ageMs: number; type?: string },
  random?: number,
): DeliveryOutcome {
  const answer = summarize(attempt);
  if (answer.code === null) return { state: 'delivered', answer };
  if (answer.code === 'gone') return { state: 'failed', disables: 'gone', answer };
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(attempt.retryAfterMs ?? 0, backoffMs(BACKOFF, attempts, random)));
  const giveUpMs = type === 'item.started' ? GIVE_UP_STARTS_MS : GIVE_UP_MS;
  if (ageMs + waitMs > giveUpMs || answer.code === 'not_kept') return { state: 'failed', answer };
  return { state: 'waiting', retryInMs: waitMs, answer };
}

/** The result of an attempt, as a sentence, and how to mend it. */
export function describeAnswer(code: string | null, status: number | null): { message: string; fix: string | null } {
  if (code === null) return { message: 'The receiver accepted it.', fix: null };
  const { meaning, fix } = DELIVERY_ERRORS[code as DeliveryCode] ?? DELIVERY_ERRORS.rejected;
  const isRejected = code === 'rejected' && status !== null;
  return { message: isRejected ? `The receiver answered ${status} in place of 200.` : meaning, fix };
}

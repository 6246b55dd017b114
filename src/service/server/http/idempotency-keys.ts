/**
 * Runs a request with an idempotency key once, in every transport. The first request does the work; later equal ones get the same
 * response for 24 hours, also concurrent ones.
 * A server may die, or lose Kubernetes, between the effect and the response. A request's `Intent` is therefore stored before it
 * begins, and every id that it creates follows from it. The next try finds the objects of the one before instead of creating
 * others. A lease holds the key, and the server renews it while the request runs. If it ends without a stored response, the next
 * request with the key continues the same intent.
 */
import { createHmac } from 'node:crypto';
import { ulid } from 'ulid';
import { sleep } from '../../../core/lib/clock.ts';
import type { Intent } from '../../../core/lib/context.ts';
import type { Db } from '../../db/pool.ts';
import {
  claimKey,
  countKeyUse,
  findResponse,
  type KeptResponse,
  LEASE_SECONDS,
  releaseClaim,
  renewClaim,
  storeResponse,
} from '../../domain/idempotency/store.ts';
import type { Quotas } from '../../domain/limits/quotas.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';

export type { KeptResponse };

const KEY = /^[\x21-\x7e]{1,255}$/;
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 500;
/** Longest wait for another request with the key; waiting for a stream takes a minute at most. */
const WAIT_MS = 65_000;

/** Returns whether the same request may succeed later, with the same key: a failure on our side, or a limit of a minute. */
export const mayPass = (status: number): boolean => status >= 500 || status === 429;

/** A key that is held while its request runs. */
export interface ClaimedKey {
  readonly intent: Intent;
  /** Stores the response for retries; without one the request may run again. */
  end(answer: KeptResponse | undefined): Promise<void>;
}

export interface KeyedRequest {
  accountId: string;
  key: string;
  /** The request as text: a different one with the same key fails. */
  request: string;
  /** JSON pointer to the key in the request. */
  path: string;
}

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

export interface IdempotencyDeps {
  db: Db;
  /** Key for the fingerprints of requests, which may contain a stream key. */
  secret: string;
  quotas: Pick<Quotas, 'allowed' | 'check'>;
}

export function createIdempotencyKeys({ db, secret, quotas }: IdempotencyDeps) {
  const keyed = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();

  const createIntent = (since: Date, { accountId, key }: KeyedRequest, fingerprint: string): Intent => {
    let made = 0;
    const makeId = (prefix: string, number: number): string => {
      const bytes = keyed(JSON.stringify(['id', accountId, key, fingerprint, since, prefix, number]));
      let next = 0;
      return `${prefix}-${ulid(since.getTime(), () => (bytes[next++] ?? 0) / 256).toLowerCase()}`;
    };
    return { since, newId: (prefix) => makeId(prefix, made++), nextId: (prefix) => makeId(prefix, made) };
  };

  const hold = ({ accountId, key }: KeyedRequest, intent: Intent): ClaimedKey => {
    const again = () => void renewClaim(db, accountId, key).catch(() => undefined);
    const timer = setInterval(again, (LEASE_SECONDS * 1000) / 3);
    return {
      intent,
      async end(answer) {
        clearInterval(timer);
        if (!answer) return releaseClaim(db, accountId, key);
        const maxBytes = await quotas.allowed(accountId, 'keptAnswerBytes');
        await storeResponse(db, { accountId, key, answer, maxBytes });
      },
    };
  };

  return {
    /** Returns the claim on the key, or the stored response. Throws `idempotency_key_reused` and `quota_exceeded`. */
    async begin(asked: KeyedRequest): Promise<ClaimedKey | KeptResponse> {
      const { accountId, key, request, path } = asked;
      if (!KEY.test(key)) throw validationFailed([{ path, message: 'must be 1 to 255 visible ASCII characters' }]);
      const fingerprint = keyed(request).toString('base64url');
      const maxKeys = await quotas.allowed(accountId, 'idempotencyKeys');
      const deadline = performance.now() + WAIT_MS;
      for (let pause = FIRST_POLL_MS; ; pause = Math.min(MAX_POLL_MS, pause * 1.5)) {
        const since = await claimKey(db, { accountId, key, fingerprint, maxKeys });
        if (since) return hold(asked, createIntent(since, asked, fingerprint));
        const answer = await findResponse(db, accountId, key);
        // Neither claimed nor answered: the account has used all its keys.
        if (!answer)
          await quotas.check(accountId, {
            name: 'idempotencyKeys',
            wanted: 1,
            used: (await countKeyUse(db, accountId)).count,
          });
        if (answer && answer.fingerprint !== fingerprint)
          throw new AppError(
            'idempotency_key_reused',
            'This Idempotency-Key was sent with another request before. Use a new key.',
          );
        if (answer && answer.status !== null)
          return { status: answer.status, headers: answer.headers, body: answer.body ?? forgotten(answer.status) };
        if (performance.now() > deadline)
          throw new AppError(
            'idempotency_key_reused',
            'Another request with this Idempotency-Key is still running. Try again later.',
          );
        await sleep(pause);
      }
    },
  };
}

/** The request was done, but the account had no room to store its response (`keptAnswerBytes`). */
function forgotten(status: number): never {
  throw new AppError(
    'idempotency_key_reused',
    `The server answered this request with ${status} before, and no longer keeps the response. The request was not repeated. Read the object that it created.`,
  );
}

export const isClaimed = (begun: ClaimedKey | KeptResponse): begun is ClaimedKey => 'intent' in begun;

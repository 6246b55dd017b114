/**
 * How many requests a principal has in a window; who has no key is known by the address. The window begins with its first
 * request, and all that is told of it is exact: whoever waits as long as Retry-After says is let in.
 */
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../lib/errors.ts';

export interface Quota {
  requests: number;
  windowMs: number;
}

export interface Counter {
  /**
   * Counts a request under `key`. `current`: how many there were in its window, this one among them; `ttl`: milliseconds that
   * are left of it. Undefined when it cannot be counted: then it is let through.
   */
  count(key: string, windowMs: number): Promise<{ current: number; ttl: number } | undefined>;
}

/** Whoever has many addresses of one network counts as one. */
export const readAddress = ({ ip }: Pick<FastifyRequest, 'ip'>): string => `address ${normalizeIP(ip)}`;

/** Hangs itself on all routes that are registered on `app`, or inside of it, from now on. Without a counter memory counts. */
export async function limitRate(app: FastifyInstance, { requests, windowMs }: Quota, counter?: Counter): Promise<void> {
  await app.register(rateLimit, {
    max: requests,
    timeWindow: windowMs,
    hook: 'onRequest',
    enableDraftSpec: true,
    ...(counter && { store: createStore(counter) }),
    keyGenerator: (request) => (request.principal ? `account ${request.principal.accountId}` : readAddress(request)),
    errorResponseBuilder: (_request, { ttl }) => {
      const seconds = Math.ceil(ttl / 1000);
      return new AppError('rate_limited', `The rate limit is used up. Try again in ${seconds} seconds.`);
    },
  });
}

type Counted = { current: number; ttl: number };

/** As @fastify/rate-limit wants it: a class that it makes an instance of. */
const createStore = (counter: Counter) =>
  class Store {
    incr(key: string, callback: (error: Error | null, counted?: Counted) => void, windowMs: number): void {
      const uncounted = { current: 0, ttl: windowMs };
      void counter.count(key, windowMs).then((counted) => callback(null, counted ?? uncounted));
    }
    child(): Store {
      return this;
    }
  };

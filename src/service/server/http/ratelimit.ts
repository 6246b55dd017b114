/**
 * Limits the requests of a principal in a window; callers without a key count by address. The window begins with its first request.
 * All reported values are exact: a client that waits for Retry-After is admitted.
 */
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, ERRORS } from '../../lib/errors.ts';

export interface Quota {
  requests: number;
  windowMs: number;
}

export interface Counter {
  /**
   * Counts a request under `key`. `current` is the count of its window, including this one; `ttl` is the rest of the window in
   * milliseconds. Undefined if the counter is unavailable: the request is then admitted.
   */
  count(key: string, windowMs: number): Promise<{ current: number; ttl: number } | undefined>;
}

/** Returns the address of a client, in its shortest form. */
export const readClientAddress = ({ ip }: Pick<FastifyRequest, 'ip'>): string => normalizeIP(ip, 128);

/** Addresses of one network count as one. */
export const readAddress = ({ ip }: Pick<FastifyRequest, 'ip'>): string => `address ${normalizeIP(ip)}`;

/** The wider network of an address: providers give a customer 65,536 networks of IPv6 (RFC 6177). */
export const readNetwork = ({ ip }: Pick<FastifyRequest, 'ip'>): string => `network ${normalizeIP(ip, 48)}`;

/** Limits all routes registered on `app`, or inside of it, from now on. Without a counter it counts in memory. */
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
      return new AppError('rate_limited', `${ERRORS.rate_limited.meaning} Try again in ${seconds} seconds.`);
    },
  });
}

type Counted = { current: number; ttl: number };

/** @fastify/rate-limit expects a class that it instantiates. */
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

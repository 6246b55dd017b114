/** Counts requests in Redis, for all replicas together. While Redis is away nothing is counted, and all are let through. */
import { Redis } from 'ioredis';
import type { Logger } from '../../lib/log.ts';
import type { Counter } from './ratelimit.ts';

/** A request waits no longer for its count: it is there in less than a millisecond, or not at all. */
const COUNT_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 500;

const OPTIONS = {
  commandTimeout: COUNT_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MS),
  // What cannot be asked now is not asked at all.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/** The window begins with the first request in it, and ends by itself. */
const COUNT = `
local current = redis.call('INCR', KEYS[1])
if current == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {current, redis.call('PTTL', KEYS[1])}`;

interface Counting extends Redis {
  count(key: string, windowMs: number): Promise<[current: number, ttl: number]>;
}

/** `onUncounted` is called for each request that was let through. Close it in the end. */
export function createRedisCounter(
  url: string,
  { log, onUncounted }: { log: Logger; onUncounted: () => void },
): Counter & { close(): void } {
  const redis = new Redis(url, { ...OPTIONS, scripts: { count: { lua: COUNT, numberOfKeys: 1 } } }) as Counting;
  let away = false;
  let isParting = false;
  // An error of the driver holds the command that it is about, and that of AUTH has the password: only its code is told.
  const readCode = ({ code, message }: NodeJS.ErrnoException) => code ?? message.split(' ')[0];
  const failed = (error: Error) => {
    if (!away) log.warn({ code: readCode(error) }, 'Redis is away: requests are let through uncounted');
    away = true;
  };
  redis.on('error', failed);
  redis.on('ready', () => {
    if (away) log.info('Redis is back: requests are counted');
    away = false;
  });

  redis.on('close', () => {
    isParting = false;
  });

  return {
    async count(key, windowMs) {
      try {
        const [current, ttl] = await redis.count(`loopstream:rate:${key}`, windowMs);
        return { current, ttl };
      } catch (error) {
        failed(error as Error);
        onUncounted();
        // One that does not answer is asked again only over a new connection, so that nobody waits for it in vain. Until the
        // old one is closed, which takes seconds where nobody answers, each further `disconnect` would leave a timer and a
        // listener of its own: as many as there are requests.
        if (redis.status === 'ready' && !isParting) {
          isParting = true;
          redis.disconnect(true);
        }
        return undefined;
      }
    },
    close: () => redis.disconnect(),
  };
}

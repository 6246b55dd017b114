/** Counts requests of all replicas in Redis. While Redis is unavailable, requests are admitted uncounted. */
import { Redis } from 'ioredis';
import type { Logger } from '../../../core/lib/log.ts';
import type { Counter } from './ratelimit.ts';

/** Longest wait for a count, which takes less than a millisecond or never comes. */
const COUNT_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 500;

const OPTIONS = {
  commandTimeout: COUNT_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MS),
  // Commands fail at once while Redis is unavailable.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/** The window begins with its first request, and expires by itself. */
const COUNT = `
local current = redis.call('INCR', KEYS[1])
if current == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {current, redis.call('PTTL', KEYS[1])}`;

interface Counting extends Redis {
  count(key: string, windowMs: number): Promise<[current: number, ttl: number]>;
}

/** `onUncounted` is called for each uncounted request. Callers close the counter in the end. */
export function createRedisCounter(
  url: string,
  { log, onUncounted }: { log: Logger; onUncounted: () => void },
): Counter & { close(): void } {
  const redis = new Redis(url, { ...OPTIONS, scripts: { count: { lua: COUNT, numberOfKeys: 1 } } }) as Counting;
  let away = false;
  let isParting = false;
  // An error of the driver contains its command, and AUTH contains the password: only the code is logged.
  const readCode = ({ code, message }: NodeJS.ErrnoException) => code ?? message.split(' ')[0];
  const failed = (error: Error) => {
    if (!away) log.warn({ code: readCode(error) }, 'Redis does not respond: the rate limit counts no requests');
    away = true;
  };
  redis.on('error', failed);
  redis.on('ready', () => {
    if (away) log.info('Redis responds again: the rate limit counts requests');
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
        // A new connection replaces one that does not respond, so that no request waits for it in vain. The old one takes seconds
        // to close, and each further `disconnect` would leave a timer and a listener for every request.
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

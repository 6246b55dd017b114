/** Opens the counter of requests that all replicas share, if one is configured. */
import type { ProcessContext } from './context.ts';

export async function openRequestCounter({ config, lifecycle, metrics, log }: ProcessContext) {
  const { redisUrl } = config;
  // The driver of Redis is loaded only if it is used.
  const counter =
    redisUrl && (await (await import('../http/redis.ts')).createRedisCounter(redisUrl, { log, ...metrics }));
  lifecycle.defer('redis', () => (counter ? counter.close() : undefined));
  return counter || undefined;
}

/** Opens the counter of requests that all replicas share, if one is configured. */
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { ApiConfig } from '../settings.ts';

export async function openCounter({ redisUrl }: ApiConfig, lifecycle: Lifecycle, metrics: HttpMetrics, log: Logger) {
  // The driver of Redis is loaded only if it is used.
  const counter =
    redisUrl && (await (await import('../http/redis.ts')).createRedisCounter(redisUrl, { log, ...metrics }));
  lifecycle.defer('redis', () => (counter ? counter.close() : undefined));
  return counter || undefined;
}

/**
 * Limits a flow for each key, such as the bytes that an account writes. A bucket holds what is allowed in a minute and refills steadily,
 * so it may be emptied at once.
 */
import type { Clock } from '../../core/lib/clock.ts';

const MINUTE_MS = 60_000;

interface Bucket {
  level: number;
  atMs: number;
}

export interface TokenBuckets {
  /** Returns what is in the bucket of a key: up to a minute's worth, and less than 0 after more was taken than was there. */
  getLevel(key: string): number;
  /** Takes tokens, also where there are not as many. */
  take(key: string, tokens: number): void;
}

export function createTokenBuckets(perMinute: number, clock: Clock): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  let sweptMs = clock.monotonicMs();

  const refill = ({ level, atMs }: Bucket, nowMs: number): number =>
    Math.min(perMinute, level + ((nowMs - atMs) * perMinute) / MINUTE_MS);

  /** A full bucket is like one that nobody has used, so forgetting those bounds the map. */
  const forgetFull = (nowMs: number) => {
    if (nowMs - sweptMs < MINUTE_MS) return;
    sweptMs = nowMs;
    for (const [key, bucket] of buckets) if (refill(bucket, nowMs) === perMinute) buckets.delete(key);
  };

  const getLevel = (key: string, nowMs = clock.monotonicMs()): number => {
    const bucket = buckets.get(key);
    return bucket ? refill(bucket, nowMs) : perMinute;
  };

  return {
    getLevel: (key) => getLevel(key),
    take(key, tokens) {
      const nowMs = clock.monotonicMs();
      forgetFull(nowMs);
      buckets.set(key, { level: getLevel(key, nowMs) - tokens, atMs: nowMs });
    },
  };
}

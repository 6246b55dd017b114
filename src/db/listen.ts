/**
 * Listens to NOTIFY on a connection of its own, and reconnects when that breaks. Notifications sent while it is down
 * are lost, so listeners are told of each new connection. A connection pooler in between (PgBouncer) must pool by
 * session: with pooling by transaction no notification ever arrives.
 */

import pg from 'pg';
import { type Backoff, backoffMs } from '../lib/backoff.ts';
import { sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';

/** A connection without an answer for so long is dead; a router between may forget a silent one. */
const BEAT_MS = 15_000;
const ANSWER_MS = 10_000;
const BACKOFF: Backoff = { baseMs: 200, maxMs: 5_000 };

export interface Ears {
  /** It listens from now on, and has not before. */
  begins(): void;
  hear(payload: string): void;
}

/** Resolves when the connection has ended, for any reason. */
async function listenOnce(url: string, channel: string, ears: Ears, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    application_name: 'loopstream-news',
  });
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  client.on('error', () => end());
  client.on('end', end);
  client.on('notification', ({ payload = '' }) => ears.hear(payload));
  const stop = () => end();
  signal.addEventListener('abort', stop, { once: true });
  const beat = setInterval(() => void client.query('select').catch(stop), BEAT_MS);
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    if (!signal.aborted) ears.begins();
    await over;
  } finally {
    clearInterval(beat);
    signal.removeEventListener('abort', stop);
    void client.end().catch(() => undefined);
  }
}

/** Listens until `signal` aborts. */
export async function listen(
  url: string,
  channel: string,
  { ears, log, signal }: { ears: Ears; log: Logger; signal: AbortSignal },
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    const begins = () => {
      failures = 0;
      ears.begins();
    };
    await listenOnce(url, channel, { ...ears, begins }, signal).catch((err) => {
      if (!signal.aborted)
        log.warn({ err, channel }, 'the connection for notifications of the database failed; it is retried');
    });
    await sleep(backoffMs(BACKOFF, failures), signal).catch(() => undefined);
  }
}

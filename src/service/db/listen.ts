/**
 * Listens to NOTIFY on a connection of its own, and reconnects when that breaks. Notifications sent while it is down
 * are lost, so each new connection is announced. A connection pooler in between (PgBouncer) must pool by session: with
 * pooling by transaction no notification ever arrives.
 */

import pg from 'pg';
import { type Backoff, backoffMs } from '../../core/lib/backoff.ts';
import { sleep } from '../../core/lib/clock.ts';
import type { Logger } from '../../core/lib/log.ts';

/** A connection without an answer for so long is dead; a router between may forget a silent one. */
const BEAT_MS = 15_000;
const ANSWER_MS = 10_000;
const BACKOFF: Backoff = { baseMs: 200, maxMs: 5_000 };

export interface NotificationHandlers {
  /** It listens from now on, and has not before. */
  onConnect(): void;
  onNotify(payload: string): void;
}

/** Resolves when the connection has ended, for any reason. */
async function listenOnce(
  url: string,
  channel: string,
  handlers: NotificationHandlers,
  signal: AbortSignal,
): Promise<void> {
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
  client.on('notification', ({ payload = '' }) => handlers.onNotify(payload));
  const stop = () => end();
  signal.addEventListener('abort', stop, { once: true });
  const beat = setInterval(() => void client.query('select').catch(stop), BEAT_MS);
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    if (!signal.aborted) handlers.onConnect();
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
  { handlers, log, signal }: { handlers: NotificationHandlers; log: Logger; signal: AbortSignal },
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    const onConnect = () => {
      failures = 0;
      handlers.onConnect();
    };
    await listenOnce(url, channel, { ...handlers, onConnect }, signal).catch((err) => {
      if (!signal.aborted)
        log.warn({ err, channel }, 'the connection for notifications of the database failed; it is retried');
    });
    await sleep(backoffMs(BACKOFF, failures), signal).catch(() => undefined);
  }
}

/**
 * Serves events as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). A client that reconnects sends
 * `Last-Event-ID`, and misses nothing: each connection reads from the database what comes behind that.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFilter } from '../../domain/events/operations.ts';
import type { AccountEvent } from '../../domain/events/record.ts';
import type { EventFilter, EventService } from '../../domain/events/service.ts';
import type { FairSlots } from '../../lib/fair-slots.ts';
import { takePlace } from './changes.ts';
import { BEAT_MS, checkAgain, isOver, STUCK_MS, sendFeed } from './feed.ts';

const AT_ONCE = 100;

export interface EventStreamDeps {
  events: EventService;
  places: FairSlots;
  scopePrefix: string;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
}

interface Asked {
  accountId: string;
  after: string | undefined;
  filter: EventFilter;
}

export const eventHandlers = ({ events, places, scopePrefix, stopping }: EventStreamDeps) => ({
  async 'watchEvents text/event-stream'(request: FastifyRequest, reply: FastifyReply) {
    const { accountId, scopes } = request.principal;
    const isAllowed = checkAgain(request, 'watchEvents', scopePrefix);
    const query = request.query as { after?: string; types?: string; objectID?: string };
    const lastId = request.headers['last-event-id'];
    const after = await events.resolve(accountId, (typeof lastId === 'string' && lastId) || query.after);
    const closed = new AbortController();
    const release = takePlace(places, accountId, () => closed.abort());
    const signal = AbortSignal.any([stopping, closed.signal]);
    const lines = writeEvents(events, { accountId, after, filter: readFilter(query, scopes) }, isAllowed, signal);
    const feed = Readable.from(endStuck(lines, closed), { objectMode: false, highWaterMark: 16 * 1024 });
    feed.once('close', () => {
      closed.abort();
      release();
    });
    return sendFeed(reply, feed);
  },
});

const line = (event: AccountEvent): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Until the signal aborts, or the access is over. */
async function* writeEvents(
  events: EventService,
  { accountId, after, filter }: Asked,
  isAllowed: () => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let last = after;
  let checkedAt = performance.now();
  // Headers are sent with the first bytes.
  yield ': begins\n\n';
  while (!signal.aborted) {
    const found = await events.wait(accountId, last, filter, { limit: AT_ONCE, waitMs: BEAT_MS, signal });
    if (performance.now() - checkedAt >= BEAT_MS) {
      if (await isOver(isAllowed)) return;
      checkedAt = performance.now();
    }
    last = found.at(-1)?.id ?? last;
    yield found.length > 0 ? found.map(line).join('') : ': alive\n\n';
  }
}

/** Ends a feed whose client takes nothing. */
async function* endStuck(lines: AsyncIterable<string>, closed: AbortController): AsyncGenerator<string> {
  for await (const text of lines) {
    const timer = setTimeout(() => closed.abort(), STUCK_MS);
    yield text;
    clearTimeout(timer);
  }
}

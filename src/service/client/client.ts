/** The API as functions: a method for each operation, grouped by noun, and the feed of changes. */
import type { AccountEvent } from '../domain/events/record.ts';
import { type WatchEventsQuery, watchEvents } from './events.ts';
import { type FeedNews, readFeed } from './feed.ts';
import { createOperations, type Operations } from './operations.ts';
import { createRequests } from './requests.ts';
import { type CallOptions, type ClientOptions, openBody } from './send.ts';

export interface Client extends Operations {
  /**
   * Yields changes as they happen: begins with `reset` and ends with the connection; then begin again. Rejects with
   * LoopstreamError when it does not begin, or breaks off.
   */
  changes(call?: Pick<CallOptions, 'signal' | 'timeoutMs'>): AsyncGenerator<FeedNews>;
  /**
   * Yields events without end, and goes on where it was after a restart of the server. After one of your own program, pass the id of the
   * last event as `after`. Each event comes at least once. Rejects with LoopstreamError where trying again does not help.
   */
  watchEvents(query?: WatchEventsQuery, call?: Pick<CallOptions, 'signal' | 'timeoutMs'>): AsyncGenerator<AccountEvent>;
}

/** Nothing is sent before the first call. Every call rejects with a LoopstreamError, or its signal's reason. */
export const createClient = (options: ClientOptions): Client => ({
  ...createOperations(createRequests(options)),
  async *changes(call = {}) {
    yield* readFeed(await openBody(options, '/changes', 'text/event-stream', call), call.signal);
  },
  watchEvents: (query, call) => watchEvents(options, query, call),
});

/** The API as functions: a method for each operation, grouped by noun, and the feed of changes. */
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
}

/** Nothing is sent before the first call. Every call rejects with a LoopstreamError, or its signal's reason. */
export const createClient = (options: ClientOptions): Client => ({
  ...createOperations(createRequests(options)),
  async *changes(call = {}) {
    yield* readFeed(await openBody(options, '/changes', 'text/event-stream', call), call.signal);
  },
});

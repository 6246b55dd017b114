/** Events as they happen: server-sent events that go on where they were after any break. */
import { backoffMs } from '../../core/lib/backoff.ts';
import { sleep } from '../../core/lib/clock.ts';
import type { AccountEvent } from '../domain/events/record.ts';
import { readEventTexts, readField } from './feed.ts';
import { LoopstreamError } from './problem.ts';
import { type CallOptions, type ClientOptions, formatQuery, openBody, PAUSE } from './send.ts';

export interface WatchEventsQuery {
  /** Id of the last event that you know; `now` begins with what happens next. Without it, the oldest one that is kept comes first. */
  after?: string;
  /** Without it, all types but those that are opt-in (`schedule.upcoming`). */
  types?: readonly AccountEvent['type'][];
  objectID?: string;
}

/** Parses the text of a server-sent event; undefined for a sign of life. Pure. */
export function parseEvent(text: string): AccountEvent | undefined {
  const data = readField(text, 'data');
  return readField(text, 'id') === undefined || data === undefined ? undefined : (JSON.parse(data) as AccountEvent);
}

/**
 * Yields events without end, each at least once. A connection that breaks is opened again behind the last event. Rejects with
 * LoopstreamError where trying again does not help, and with the signal's reason.
 */
export async function* watchEvents(
  options: ClientOptions,
  { after, types, objectID }: WatchEventsQuery = {},
  call: Pick<CallOptions, 'signal' | 'timeoutMs'> = {},
): AsyncGenerator<AccountEvent> {
  let last = after;
  for (let failures = 0; ; ) {
    try {
      const query = formatQuery({ after: last, types: types?.join(','), objectID });
      const body = await openBody(options, `/events${query}`, 'text/event-stream', call);
      for await (const text of readEventTexts(body, call.signal)) {
        failures = 0;
        const event = parseEvent(text);
        if (!event) continue;
        last = event.id;
        yield event;
      }
    } catch (error) {
      if (!(error instanceof LoopstreamError) || !error.isPassing) throw error;
    }
    call.signal?.throwIfAborted();
    await sleep(backoffMs(PAUSE, failures++, Math.random()), call.signal);
  }
}

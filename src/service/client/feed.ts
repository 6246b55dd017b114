/** The feed of changes: server-sent events over fetch, which can send the headers that EventSource cannot. */
import type { Change } from '../lib/paging/change.ts';
import { ConnectionError } from './problem.ts';

/** `reset`: what was read before may be old, all of it. It comes first, and whenever changes were left out. */
export type FeedNews = Change | 'reset';

/** The server sends something every ten seconds; what is silent for this long is dead. */
const SILENCE_MS = 25_000;

/** The text of one server-sent event. */
export type EventText = string;

/** Reads a field of an event. Pure. */
export const readField = (event: EventText, name: 'event' | 'data' | 'id'): string | undefined =>
  // linear-time: a line of one event; the names are our own.
  new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1];

/** Parses the text of an event stream; an event that is cut off or of another kind yields nothing. Pure. */
export function parseFeedEvent(event: EventText): FeedNews | undefined {
  const kind = readField(event, 'event');
  if (kind === 'reset') return 'reset';
  return kind === 'change' ? (JSON.parse(readField(event, 'data') ?? 'null') as Change) : undefined;
}

export async function* readFeed(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<FeedNews> {
  for await (const event of readEventTexts(body, signal)) {
    const news = parseFeedEvent(event);
    if (news !== undefined) yield news;
  }
}

/** Ends orderly with the answer. Rejects with ConnectionError when it breaks off or falls silent, or with the signal's reason. */
export async function* readEventTexts(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<EventText> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  let silent = false;
  const listen = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      silent = true;
      cancel();
    }, SILENCE_MS);
  };
  try {
    for (;;) {
      listen();
      const { done, value } = await reader.read();
      if (silent) throw new ConnectionError('The loopstream server tells nothing any more.');
      if (done) return;
      text += value;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      yield* events;
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof ConnectionError) throw cause;
    throw new ConnectionError('The connection to the loopstream server broke off.', { cause });
  } finally {
    clearTimeout(timer);
    cancel();
  }
}

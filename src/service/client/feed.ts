/** The feed of changes: server-sent events over fetch, which can send the headers that EventSource cannot. */
import type { Change } from '../lib/paging/change.ts';
import { ConnectionError } from './problem.ts';

/** `reset`: what was read before may be old, all of it. It comes first, and whenever changes were left out. */
export type FeedNews = Change | 'reset';

/** The server sends something every ten seconds; what is silent for this long is dead. */
const SILENCE_MS = 25_000;

/** Parses the text of an event stream; an event that is cut off or of another kind yields nothing. Pure. */
export function parseFeedEvent(event: string): FeedNews | undefined {
  // linear-time: a line of one event; the names are our own.
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1];
  if (field('event') === 'reset') return 'reset';
  return field('event') === 'change' ? (JSON.parse(field('data') ?? 'null') as Change) : undefined;
}

/** Ends orderly with the answer. Rejects with ConnectionError when it breaks off or falls silent, or with the signal's reason. */
export async function* readFeed(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<FeedNews> {
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
      for (const event of events) {
        const news = parseFeedEvent(event);
        if (news !== undefined) yield news;
      }
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

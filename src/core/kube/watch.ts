/** Parses the stream of a watch: bytes → lines → events. It keeps no time. */
import { parseObject, stripManagedFields } from './parse-object.ts';
import { KubeError, type KubeObject, type Stored, type WatchEvent } from './types.ts';

const NEWLINE = 0x0a;

/** Most lines lie in one chunk, and are decoded where they are. */
function decode([first, ...more]: readonly Uint8Array[]): string {
  if (!first) return '';
  const bytes =
    more.length > 0 ? Buffer.concat([first, ...more]) : Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  return bytes.toString('utf8');
}

/**
 * Lines of a byte stream; a character may be split between two chunks, so bytes are joined before they are decoded.
 * Throws when the stream ends inside a line: half an event must not pass for the end of a watch.
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE, from); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, to));
      yield decode(parts);
      parts = [];
      from = to + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) throw new KubeError(0, 'Unreachable', 'The watch ended in the middle of an event.');
}

/** One line of a watch. Throws what an ERROR event says; undefined for an empty line or a type that we do not know. */
export function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> | undefined {
  if (line.trim() === '') return undefined;
  let event: { type?: string; object?: Record<string, unknown> };
  try {
    event = parseObject(line) as typeof event;
  } catch (cause) {
    throw new KubeError(0, 'Unreachable', 'The watch sent an event that is not JSON.', { cause });
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: stripManagedFields(event.object as unknown as Stored<T>) };
    case 'BOOKMARK':
      return { type: 'BOOKMARK', object: event.object as (WatchEvent<T> & { type: 'BOOKMARK' })['object'] };
    case 'ERROR': {
      const status = (event.object ?? {}) as { code?: number; reason?: string; message?: string };
      throw new KubeError(status.code ?? 500, status.reason ?? '', status.message ?? 'The watch ended with an error.');
    }
    default:
      return undefined;
  }
}

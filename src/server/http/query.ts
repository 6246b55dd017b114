/** Reads the query of a URL more strictly than is usual: what is not percent-encoded UTF-8 is not guessed at. */
import { parse } from 'node:querystring';

/** Half of a surrogate pair, which nothing that was decoded holds: no parameter takes it (validation.ts). */
const NO_TEXT = '\ud800';

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return NO_TEXT;
  }
}

export const parseQuery = (query: string): Record<string, unknown> =>
  parse(query, '&', '=', { decodeURIComponent: decode });

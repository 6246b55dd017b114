/** Parses the query of a URL strictly: it rejects invalid percent-encoding and UTF-8. */
import { parse } from 'node:querystring';

/** An unpaired surrogate, which decoding never yields: validation.ts rejects it in every parameter. */
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

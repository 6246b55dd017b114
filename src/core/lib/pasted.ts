/** Tidies texts that people paste: what came along around them is no part of them. Pure: no I/O, no clock. */
import { trimEnd } from './trim.ts';

/** Blanks, line breaks and what nobody sees come along when something is copied. */
export const tidyText = (text: string): string =>
  trimEnd(text.replace(/^[\s\p{Cf}]+/u, ''), (sign) => /[\s\p{Cf}]/u.test(sign));

const QUOTES: readonly (readonly [string, string])[] = [
  ['<', '>'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['„', '“'],
  ['‘', '’'],
  ['«', '»'],
];
/** Around a key. Angle brackets that are a placeholder are for others to tell. */
const AROUND_KEYS: ReadonlyMap<string, string> = new Map(QUOTES);
/** Around a URL in prose (RFC 3986, appendix C), in a program, in chats. No URL begins with one of these. */
const AROUND_URLS: ReadonlyMap<string, string> = new Map([...QUOTES, ['(', ')'], ['[', ']']]);
/** No URL ends with one of these, unless it has a placeholder such as `<key>`. */
const ENDS: ReadonlyMap<string, string> = new Map(
  [...AROUND_KEYS].filter(([, end]) => end !== "'").map(([a, b]) => [b, a]),
);

/** Deeper ones are no accident. */
const MAX_WRAPS = 8;

/** Signs at which pages and chats may break a line; no file, host or key has one. */
const INVISIBLE_BREAKS = /[\u00ad\u200b\u2060\ufeff]/g;

function unwrap(text: string, wraps: ReadonlyMap<string, string>): string {
  let inner = tidyText(text.replace(INVISIBLE_BREAKS, ''));
  for (let depth = 0; depth < MAX_WRAPS; depth++) {
    if (inner.length < 2 || wraps.get(inner.charAt(0)) !== inner.at(-1)) break;
    inner = tidyText(inner.slice(1, -1));
  }
  return inner;
}

/** A stream key as it was meant: without blanks and quotes around it. */
export const tidyKey = (text: string): string => unwrap(text, AROUND_KEYS);

/** A URL as it was meant: without blanks, brackets and quotes around it, also where one of a pair is missing. */
export function tidyUrl(text: string): string {
  const url = unwrap(text, AROUND_URLS);
  if (AROUND_URLS.has(url.charAt(0)) && url.includes('://')) return tidyText(url.slice(1));
  const begin = ENDS.get(url.at(-1) ?? '');
  return begin !== undefined && url.includes('://') && !url.slice(0, -1).includes(begin)
    ? tidyText(url.slice(0, -1))
    : url;
}

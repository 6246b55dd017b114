/** Names for people out of what a client or a link says. Pure: no I/O, no clock. */

const MAX_CHARS = 200;

/** The text as a name, without control characters and not too long; undefined when nothing is left. */
export function nameFrom(text: string): string | undefined {
  const name = text.replace(/\p{Cc}/gu, '').slice(0, MAX_CHARS);
  return name.isWellFormed() && name !== '' ? name : undefined;
}

/** The file's name out of a link; undefined when it has none. */
export function nameOfLink(url: string): string | undefined {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    // Control characters may hide behind percent signs.
    return nameFrom(decodeURIComponent(last));
  } catch {
    return undefined;
  }
}

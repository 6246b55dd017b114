/**
 * Finds the placeholder that stands for a stream key in an address: platforms print `rtmp://host/app/{stream_key}`, and people paste it.
 * Pure: no I/O, no clock.
 */

const WORDS = String.raw`[\w .-]{0,64}(?:key|stream|name)[\w .-]{0,64}`;
/** `{stream_key}`, `${KEY}`, `{{key}}`, `<stream-key>`, `[your key]`, percent-encoded or not, `%STREAM_KEY%`. */
const BRACKETED = new RegExp(
  [
    String.raw`\$?\{\{?${WORDS}\}?\}`,
    `<${WORDS}>`,
    String.raw`\[${WORDS}\]`,
    `(?:%24)?%7B(?:%7B)?${WORDS}(?:%7D)?%7D`,
    `%3C${WORDS}%3E`,
    '%[A-Z_]*KEY%',
  ].join('|'),
  'gi',
);
/** Without brackets a word is a placeholder only where it is all there is: `STREAM_KEY`, `your-stream-key`, `xxxx-xxxx-xxxx`. */
const BARE =
  /^\$?(?:(?:your|my|enter|insert|paste)[-_]?)?(?:stream[-_]?(?:key|name)|live[-_]?key)(?:[-_]?here)?$|^\$?your[-_]?key$|^x{4,}$|^x{3,}(?:[-_]x{3,})+$/i;

export const hasPlaceholder = (text: string): boolean => text.search(BRACKETED) >= 0;

/** Whether all of one part of a path stands for the key, or some of it in brackets. */
export const isPlaceholderPart = (part: string): boolean =>
  hasPlaceholder(part) || BARE.test(part) || /^\$?KEY$/.test(part);

export function fillPlaceholder(text: string, key: string): string {
  return hasPlaceholder(text) ? text.replace(BRACKETED, () => key) : key;
}

/** Whether a key is what an example had in its place. A short word such as `stream-key` may be a key that somebody has chosen. */
export const isPlaceholderKey = (key: string): boolean =>
  new RegExp(`^(?:${BRACKETED.source})$`, 'i').test(key) ||
  /^x{4,}([-_]x{4,})+$/i.test(key) ||
  /^YOUR[-_]?(STREAM[-_]?)?KEY/.test(key);

/** Text out of bytes whose encoding nobody names. Pure: no I/O, no clock. */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** As UTF-8, or as ISO 8859-1 where it is none (RFC 9110 5.5: what headers were before). */
export function decodeBytes(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Raw bytes beyond ASCII as percent signs, whatever their encoding: a path is bytes to its server. `text` has a byte in each character. */
export const percentEncode = (text: string): string =>
  text.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

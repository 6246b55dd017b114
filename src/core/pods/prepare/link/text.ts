/** Decodes text whose encoding is unknown. Pure: no I/O, no clock. */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8, or else ISO 8859-1 (RFC 9110 5.5: the old encoding of headers). */
export function decodeBytes(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/**
 * Encodes raw bytes beyond ASCII with percent signs, whatever their encoding: to its server, a path is bytes. `text`
 * has a byte in each character.
 */
export const percentEncode = (text: string): string =>
  text.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

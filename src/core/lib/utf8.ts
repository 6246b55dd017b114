/** Counts the bytes of a text in UTF-8, in Node as in a browser. Pure. */
export const countUtf8Bytes = (text: string): number => new TextEncoder().encode(text).length;

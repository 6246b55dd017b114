/** Removes signs from the end of a text in linear time, which an expression such as `/x+$/` does not. Pure. */

const isPair = (text: string, end: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, end - 2), end));

/** `isCut`: whether a sign, which is a whole code point, is removed. */
export function trimEnd(text: string, isCut: (sign: string) => boolean): string {
  let end = text.length;
  while (end > 0) {
    const start = end - (isPair(text, end) ? 2 : 1);
    if (!isCut(text.slice(start, end))) break;
    end = start;
  }
  return text.slice(0, end);
}

/** Removes one sign, such as a slash. */
export const trimEndOf = (text: string, sign: string): string => trimEnd(text, (last) => last === sign);

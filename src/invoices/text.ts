/** How numbers, dates and names stand on paper. Pure: no I/O, no clock. */
import { CREDITS_PER_MINOR_UNIT, minorDigits } from '../billing/money.ts';

export type Weight = 'regular' | 'bold';
/** Width of a text in points. */
export type Measure = (text: string, size: number, weight: Weight) => number;

/** No hyphen, which is shorter than a digit. */
const MINUS = '−';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `1234567` with two digits after the point → `12,345.67`. */
function decimal(number: bigint, digits: number): string {
  const size = String(number < 0n ? -number : number).padStart(digits + 1, '0');
  const whole = size.slice(0, size.length - digits).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${number < 0n ? MINUS : ''}${whole}${digits > 0 ? `.${size.slice(-digits)}` : ''}`;
}

export const amountText = (minor: string, currency: string): string => decimal(BigInt(minor), minorDigits(currency));
export const wholeText = (number: string): string => decimal(BigInt(number), 0);

/** Of credits their exact worth in money, which has two digits more than the currency. */
export const priceText = (credits: string, currency: string): string =>
  decimal(BigInt(credits), minorDigits(currency) + String(CREDITS_PER_MINOR_UNIT).length - 1);

/** `45296.7` → `12:34:56`: hours are not cut into days. */
export function hoursText(seconds: string): string {
  const whole = BigInt(seconds.split('.')[0] ?? '0');
  const two = (part: bigint) => String(part).padStart(2, '0');
  return `${wholeText(String(whole / 3600n))}:${two((whole / 60n) % 60n)}:${two(whole % 60n)}`;
}

/** `2027-01-31` → `31 Jan 2027`: no country reads it as another day. */
export function dayText(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return `${date} ${MONTHS[(month ?? 1) - 1]} ${year}`;
}

/** Pictures, what joins and colours them, and what cannot be seen: control, direction and the like. */
const UNPRINTABLE =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Cc}\p{Cf}\p{Cs}\p{Variation_Selector}]/gu;
/** Of the pictures of Unicode those that are letters' neighbours, and in every font. */
const KEPT = new Set(['©', '®', '™', '↔']);

/**
 * A name as it can be printed: a line, without what no font of paper has. A letter that is missing in ours is shown as a box,
 * so that nobody takes the rest for all.
 */
export function printable(text: string, hasGlyph: (codePoint: number) => boolean): string {
  const plain = text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(UNPRINTABLE, (sign) => (KEPT.has(sign) ? sign : ''));
  const shown = Array.from(plain, (sign) => (hasGlyph(sign.codePointAt(0) ?? 0) ? sign : '□')).join('');
  return shown.replace(/ {2,}/g, ' ').trim();
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const LEFT_TO_RIGHT = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/** A line as it is drawn from the left: the library draws letters of a word in their order, and words in ours. */
export const drawn = (line: string): string =>
  RIGHT_TO_LEFT.test(line) && !LEFT_TO_RIGHT.test(line) ? line.split(' ').reverse().join(' ') : line;

/** In lines of no more than `width`; a word that is longer than a line is broken. Always one line at least. */
export function wrap(text: string, width: number, size: number, weight: Weight, measure: Measure): string[] {
  const lines: string[] = [];
  let line = '';
  const fits = (candidate: string) => measure(candidate, size, weight) <= width;
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const sign of word) {
      if (line !== '' && !fits(line + sign)) {
        lines.push(line);
        line = '';
      }
      line += sign;
    }
  }
  return [...lines, line];
}

/** Formats numbers, dates and names for paper. Pure: no I/O, no clock. */
import { CREDITS_PER_MINOR_UNIT } from '../ledger/money.ts';

export type Weight = 'regular' | 'bold';
/** Width of a text in points. */
export type MeasureText = (text: string, size: number, weight: Weight) => number;

/** No hyphen, which is shorter than a digit. */
const MINUS = '−';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `1234567` with two digits after the point → `12,345.67`. */
function decimal(number: bigint, digits: number): string {
  const size = String(number < 0n ? -number : number).padStart(digits + 1, '0');
  // linear-time: an amount has few digits.
  const whole = size.slice(0, size.length - digits).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${number < 0n ? MINUS : ''}${whole}${digits > 0 ? `.${size.slice(-digits)}` : ''}`;
}

export const formatAmount = (minor: string, digits: number): string => decimal(BigInt(minor), digits);
export const formatWhole = (number: string): string => decimal(BigInt(number), 0);

/** Formats the exact worth of credits, which has two digits more than the currency. */
export const formatPrice = (credits: string, digits: number): string =>
  decimal(BigInt(credits), digits + String(CREDITS_PER_MINOR_UNIT).length - 1);

/** `45296.7` → `12:34:56`: hours are not cut into days. */
export function formatHours(seconds: string): string {
  const whole = BigInt(seconds.split('.')[0] ?? '0');
  const two = (part: bigint) => String(part).padStart(2, '0');
  return `${formatWhole(String(whole / 3600n))}:${two((whole / 60n) % 60n)}:${two(whole % 60n)}`;
}

/** `2027-01-31` → `31 Jan 2027`: no country reads it as another day. */
export function formatDay(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return `${date} ${MONTHS[(month ?? 1) - 1]} ${year}`;
}

/** The fonts that a letter may be in: those that come with us, of them the regular alone, or the one that was added. */
export type Face = 'own' | 'regular' | 'added';
/** undefined: in none. */
export type FaceOf = (codePoint: number) => Face | undefined;

/** Invisible characters: control, direction, joiners and emoji colours. Removing them loses nothing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Variation_Selector}]/gu;
const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** In the place of what no font has. */
export const MISSING = '□';

const hasAll = (text: string, findFace: FaceOf): boolean =>
  Array.from(text).every((sign) => findFace(sign.codePointAt(0) ?? 0) !== undefined);

/**
 * Returns the printable form of a name: one line, in which MISSING replaces each sign that no font has. So no reader
 * takes the rest for the whole name. `onMissing` is called for a missing sign.
 */
export function toPrintable(text: string, findFace: FaceOf, onMissing: () => void = () => undefined): string {
  const plain = text.normalize('NFC').replace(/\s+/gu, ' ');
  const shown = Array.from(CLUSTERS.segment(plain), ({ segment }) => {
    const seen = segment.replace(UNSEEN, '');
    if (hasAll(seen, findFace)) return seen;
    onMissing();
    return MISSING;
  });
  return shown.join('').replace(/ {2,}/g, ' ').trim();
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const LEFT_TO_RIGHT = /[\p{L}--[\p{Script=Arabic}\p{Script=Hebrew}]]/v;

/**
 * Words in the order in which they stand on paper from the left. Among words that are read from the left, those that are read
 * from the right keep their places and turn around among themselves; a line without any of the former is turned around.
 */
function inOrder(words: readonly string[]): string[] {
  if (!words.some((word) => LEFT_TO_RIGHT.test(word))) return words.toReversed();
  const ordered: string[] = [];
  let run: string[] = [];
  const close = () => {
    // A neutral word at the end of a line, such as a number, belongs to that line.
    const last = run.findLastIndex((word) => RIGHT_TO_LEFT.test(word)) + 1;
    ordered.push(...run.slice(0, last).reverse(), ...run.slice(last));
    run = [];
  };
  for (const word of words) {
    const begins = run.length > 0 || RIGHT_TO_LEFT.test(word);
    if (begins && !LEFT_TO_RIGHT.test(word)) run.push(word);
    else {
      close();
      ordered.push(word);
    }
  }
  close();
  return ordered;
}

export interface TextPiece {
  text: string;
  face: Face;
}

/** A line as it is drawn from the left: the library draws the letters of a word in their order, and words in ours. */
export function splitByFace(line: string, findFace: FaceOf): TextPiece[] {
  // A space that ends a word of the one direction would be drawn at its beginning: there it is a piece by itself.
  const parts = RIGHT_TO_LEFT.test(line)
    ? inOrder(line.split(' '))
        .flatMap((word) => [' ', word])
        .slice(1)
    : [line];
  return parts.flatMap((part) => {
    const all: TextPiece[] = [];
    for (const sign of part) {
      const last = all.at(-1);
      // Spaces go with what is before them.
      const face = sign === ' ' && last ? last.face : (findFace(sign.codePointAt(0) ?? 0) ?? 'own');
      if (last?.face === face) last.text += sign;
      else all.push({ text: sign, face });
    }
    return all;
  });
}

/** In lines of no more than `width`; a word that is longer than a line is broken. Always one line at least. */
export function wrap(text: string, width: number, size: number, weight: Weight, measure: MeasureText): string[] {
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

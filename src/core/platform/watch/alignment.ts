/**
 * Finds the delay at which a sequence of watched pictures is what we sent, and says when there is none. One picture proves little: shots
 * look alike, and an encoder chooses its own keyframes. So a whole sequence is compared at every delay. Pure: no I/O, no clock.
 */
import {
  type Area,
  difference,
  findContent,
  isBlack,
  isFlat,
  type LumaPicture,
  meanOf,
  PICTURE_HEIGHT,
  PICTURE_WIDTH,
  scaleArea,
  similarity,
  WHOLE,
} from './pictures.ts';

/** A sequence has at least so many pictures that have a shape. */
export const MIN_PICTURES = 5;
/** Two pictures as like as this are of one shot. */
const LIKE = 0.9;
/** The parts of a sequence that must be like ours for the same film, and may be for another one. */
const SAME_SHARE = 0.6;
const OTHER_SHARE = 0.34;
/** Delays are tried in steps of this. */
const DELAY_STEP_MS = 500;
/** The delay of a film that was found before moves by no more than this between two comparisons. */
const KNOWN_DELAY_SLACK_MS = 3_000;
/** Pictures of a still that was encoded again differ by less; those of a film that moves by more, in steps of brightness. */
const STILL_DIFFERENCE = 1.5;
const MOVING_DIFFERENCE = 6;

/** How viewers may get our picture: which part of ours fills which part of theirs. */
interface Fit {
  ours: Area;
  watched: Area;
}

export type Comparison =
  | { kind: 'same'; delayMs: number; share: number }
  /** No delay, and no fit, makes it our film. */
  | { kind: 'other'; share: number }
  | { kind: 'unclear'; why: 'few_pictures' | 'no_own_pictures' | 'in_between'; share: number };

interface Alignment {
  delayMs: number;
  /** Pictures that could be compared at this delay. */
  count: number;
  share: number;
}

/** The middle third, and so on: what is left when a wide picture fills a narrower one. */
const cutTo = (ratio: number): Area => {
  const width = Math.round(PICTURE_HEIGHT * ratio * (PICTURE_WIDTH / PICTURE_HEIGHT / (16 / 9)));
  return { left: Math.floor((PICTURE_WIDTH - width) / 2), top: 0, width, height: PICTURE_HEIGHT };
};
const CUTS = [cutTo(4 / 3), cutTo(1), cutTo(9 / 16)];

function listFits(watched: readonly LumaPicture[], ours: readonly LumaPicture[]): Fit[] {
  const watchedContent = findContent(watched.map(({ luma }) => luma));
  const ourContent = findContent(ours.map(({ luma }) => luma));
  const barred = watchedContent !== WHOLE && !isWhole(watchedContent);
  const fits: Fit[] = [{ ours: WHOLE, watched: WHOLE }];
  if (barred || !isWhole(ourContent)) fits.push({ ours: ourContent, watched: watchedContent });
  for (const cut of CUTS) {
    fits.push({ ours: cut, watched: WHOLE });
    // A picture cut to another shape, and shown with bars again.
    if (barred) fits.push({ ours: cut, watched: watchedContent });
  }
  return fits;
}

const isWhole = ({ width, height }: Area): boolean => width === PICTURE_WIDTH && height === PICTURE_HEIGHT;

/** Compares the pictures of a sequence with ours on demand, each pair once. */
class Pairs {
  readonly #watched: readonly LumaPicture[];
  readonly #ours: readonly LumaPicture[];
  readonly #scaledWatched: ArrayLike<number>[];
  readonly #scaledOurs: (ArrayLike<number> | undefined)[];
  readonly #fit: Fit;
  readonly #known: Float32Array;
  readonly #toleranceMs: number;

  constructor(watched: readonly LumaPicture[], ours: readonly LumaPicture[], fit: Fit) {
    this.#watched = watched;
    this.#ours = ours;
    this.#fit = fit;
    this.#scaledWatched = watched.map(({ luma }) => (isWhole(fit.watched) ? luma : scaleArea(luma, fit.watched)));
    this.#scaledOurs = new Array(ours.length);
    this.#known = new Float32Array(watched.length * ours.length).fill(Number.NaN);
    // An encoder that chooses its own keyframes shows a picture between two of ours.
    this.#toleranceMs = Math.min(4_000, Math.max(DELAY_STEP_MS, 0.75 * medianGapMs(ours)));
  }

  #likeness(row: number, column: number): number {
    const cell = row * this.#ours.length + column;
    const known = this.#known[cell] ?? Number.NaN;
    if (!Number.isNaN(known)) return known;
    const luma = this.#ours[column]?.luma ?? new Uint8Array();
    const ours = this.#scaledOurs[column] ?? (isWhole(this.#fit.ours) ? luma : scaleArea(luma, this.#fit.ours));
    this.#scaledOurs[column] = ours;
    const value = similarity(this.#scaledWatched[row] ?? [], ours);
    this.#known[cell] = value;
    return value;
  }

  align(delayMs: number): Alignment {
    let [count, like] = [0, 0];
    for (const [row, { atMs }] of this.#watched.entries()) {
      const sentAtMs = atMs - delayMs;
      let column = findFirst(this.#ours, sentAtMs - this.#toleranceMs);
      let best = Number.NaN;
      for (; column < this.#ours.length; column += 1) {
        if ((this.#ours[column]?.atMs ?? 0) > sentAtMs + this.#toleranceMs) break;
        const value = this.#likeness(row, column);
        if (!(best >= value)) best = value;
      }
      if (Number.isNaN(best)) continue;
      count += 1;
      if (best >= LIKE) like += 1;
    }
    return { delayMs, count, share: count === 0 ? 0 : like / count };
  }
}

/** The index of the first picture that was taken at `atMs` or later. */
function findFirst(pictures: readonly LumaPicture[], atMs: number): number {
  let [low, high] = [0, pictures.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pictures[middle]?.atMs ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function medianGapMs(pictures: readonly LumaPicture[]): number {
  const gaps = pictures.slice(1).map(({ atMs }, index) => atMs - (pictures[index]?.atMs ?? atMs));
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

function listDelays(watched: readonly LumaPicture[], ours: readonly LumaPicture[]): number[] {
  const delays = new Set<number>();
  for (const { atMs } of watched)
    for (const { atMs: sentAtMs } of ours) delays.add(Math.round((atMs - sentAtMs) / DELAY_STEP_MS) * DELAY_STEP_MS);
  return [...delays];
}

/** Compares a watched sequence with ours, both in order of time. `knownDelayMs` is what the last comparison found. */
export function compareSequences(
  watched: readonly LumaPicture[],
  ours: readonly LumaPicture[],
  knownDelayMs: number | null,
): Comparison {
  const shaped = watched.filter(({ luma }) => !isFlat(luma));
  if (shaped.length < MIN_PICTURES) return { kind: 'unclear', why: 'few_pictures', share: 0 };
  if (ours.length < MIN_PICTURES) return { kind: 'unclear', why: 'no_own_pictures', share: 0 };
  const delays = listDelays(shaped, ours);
  const near = delays.filter(
    (delay) => knownDelayMs !== null && Math.abs(delay - knownDelayMs) <= KNOWN_DELAY_SLACK_MS,
  );
  const all = listFits(shaped, ours).map((fit) => new Pairs(shaped, ours, fit));
  let best: Alignment = { delayMs: 0, count: 0, share: 0 };
  for (const candidates of [near, delays])
    for (const pairs of all) {
      for (const delay of candidates) {
        const alignment = pairs.align(delay);
        if (alignment.count < MIN_PICTURES) continue;
        if (best.count === 0 || alignment.share > best.share) best = alignment;
      }
      if (best.share >= SAME_SHARE) return { kind: 'same', delayMs: best.delayMs, share: best.share };
    }
  if (best.count === 0) return { kind: 'unclear', why: 'no_own_pictures', share: 0 };
  if (best.share > OTHER_SHARE) return { kind: 'unclear', why: 'in_between', share: best.share };
  return { kind: 'other', share: best.share };
}

/** Whether a sequence shows one picture all the time. */
export function isStill(pictures: readonly LumaPicture[]): boolean {
  const [first, ...rest] = pictures;
  return first !== undefined && rest.every(({ luma }) => difference(first.luma, luma) <= STILL_DIFFERENCE);
}

/** Whether a sequence is black all the time. */
export const isAllBlack = (pictures: readonly LumaPicture[]): boolean => pictures.every(({ luma }) => isBlack(luma));

/** Whether every part of `spanMs` of these pictures holds a condition, and there is such a part. */
function everyPart(
  pictures: readonly LumaPicture[],
  spanMs: number,
  holds: (part: readonly LumaPicture[]) => boolean,
): boolean {
  let parts = 0;
  for (const [index, { atMs }] of pictures.entries()) {
    const end = findFirst(pictures, atMs + spanMs + 1);
    if (end === pictures.length && (pictures.at(-1)?.atMs ?? 0) < atMs + spanMs - medianGapMs(pictures)) break;
    parts += 1;
    if (!holds(pictures.slice(index, end))) return false;
  }
  return parts > 0;
}

/** Whether our picture moves plainly in every part of `spanMs`: a frozen picture can then be no still of ours. */
export const movesThroughout = (ours: readonly LumaPicture[], spanMs: number): boolean =>
  everyPart(ours, spanMs, ([first, ...rest]) =>
    rest.some(({ luma }) => first !== undefined && difference(first.luma, luma) >= MOVING_DIFFERENCE),
  );

/** Whether our picture is plainly not black in every part of `spanMs`. */
export const showsThroughout = (ours: readonly LumaPicture[], spanMs: number): boolean =>
  everyPart(ours, spanMs, (part) => part.filter(({ luma }) => !isBlack(luma)).length > part.length / 2);

/** The mean difference of watched pictures from ours at a delay, in steps of brightness; infinite where ours are not known. */
export function pairDifference(watched: readonly LumaPicture[], ours: readonly LumaPicture[], delayMs: number): number {
  const differences = watched.map(({ atMs, luma }) => {
    const index = findFirst(ours, atMs - delayMs);
    const near = [ours[index - 1], ours[index]].filter((picture) => picture !== undefined);
    return Math.min(Number.POSITIVE_INFINITY, ...near.map((picture) => difference(luma, picture.luma)));
  });
  return meanOf(differences);
}

/**
 * Judges the newest watched pictures of one address against ours: the same film, a frozen or black one, another one, or not to be told.
 * Pure: no I/O, no clock.
 */
import type { PlatformDoubt } from '../../lib/codes/platforms.ts';
import {
  compareSequences,
  isAllBlack,
  isStill,
  MIN_PICTURES,
  movesThroughout,
  pairDifference,
  showsThroughout,
} from './alignment.ts';
import type { LumaPicture } from './pictures.ts';

/** The newest pictures that are compared. More would hide a change for longer. */
const COMPARED = 6;
const REMEMBERED = 12;
/** A picture stands still, or is black, for at least this long. */
const MIN_STILL_MS = 6_000;
/** Own pictures that are kept while the delay is known to be shorter. */
const KEPT_OURS_MS = 90_000;
/** And while nothing is known: a server may delay a stream by minutes. */
const KEPT_OURS_UNKNOWN_MS = 330_000;
/** The delay may move by this, as viewers' servers stall and catch up. */
const DELAY_SLACK_MS = 15_000;
/** A film that is found at another delay than before is found twice, or nearly whole. */
const NEW_DELAY_MS = 5_000;
const SURE_SHARE = 0.95;
/** Pictures of a still of ours, as viewers get it. */
const STILL_AGREES = 12;
/** Times in the media that go on by more than this beside the clock begin anew. */
const TIME_JUMP_MS = 30_000;

/** A watched picture, with its time in the media (PTS). */
export interface TimedPicture {
  ptsMs: number;
  luma: Uint8Array;
}

export interface PictureMemory {
  ours: readonly LumaPicture[];
  watched: readonly LumaPicture[];
  /** Clock minus PTS, as long as PTS go on. */
  offsetMs: number | null;
  lastPtsMs: number;
  lastAtMs: number;
  delayMs: number | null;
  /** A delay that has been found once. */
  candidateMs: number | null;
}

export const startPictures = (ours: readonly LumaPicture[] = []): PictureMemory => ({
  ours,
  watched: [],
  offsetMs: null,
  lastPtsMs: 0,
  lastAtMs: 0,
  delayMs: null,
  candidateMs: null,
});

/** Adds pictures that we have sent, and forgets those that viewers can no longer be at. */
export function keepOurs(memory: PictureMemory, ours: readonly LumaPicture[], atMs: number): PictureMemory {
  const keptMs =
    memory.delayMs === null ? KEPT_OURS_UNKNOWN_MS : KEPT_OURS_MS + 2 * Math.max(0, findAgeMs(memory, atMs));
  const newest = memory.ours.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  const all = [...memory.ours, ...ours.filter((picture) => picture.atMs > newest)];
  return { ...memory, ours: all.filter((picture) => atMs - picture.atMs <= keptMs) };
}

/** How long ago we sent what viewers get now. */
const findAgeMs = ({ watched, delayMs }: PictureMemory, atMs: number): number =>
  atMs - ((watched.at(-1)?.atMs ?? atMs) - (delayMs ?? 0));

/** Adds the pictures of a sample that was taken at `atMs`. */
export function watchPictures(memory: PictureMemory, pictures: readonly TimedPicture[], atMs: number): PictureMemory {
  let next = memory;
  for (const { ptsMs, luma } of pictures) {
    const step = ptsMs - next.lastPtsMs;
    if (isKnown(next, ptsMs)) continue;
    const goesOn = next.offsetMs !== null && step > 0 && step <= atMs - next.lastAtMs + TIME_JUMP_MS;
    const base = goesOn ? next : beginAnew(next, atMs - (pictures.at(-1)?.ptsMs ?? ptsMs));
    const watched = [...base.watched, { atMs: ptsMs + (base.offsetMs ?? 0), luma }].slice(-REMEMBERED);
    next = { ...base, watched, lastPtsMs: ptsMs, lastAtMs: atMs };
  }
  return next;
}

/** A segment may be sampled twice. */
const isKnown = ({ watched, offsetMs }: PictureMemory, ptsMs: number): boolean =>
  offsetMs !== null && watched.some(({ atMs }) => atMs === ptsMs + offsetMs);

/** Times begin anew where another program takes the name. The server stays as late as it was before, as far as that is known. */
const beginAnew = (memory: PictureMemory, offsetMs: number): PictureMemory => ({
  ...startPictures(memory.ours),
  offsetMs,
  delayMs: memory.delayMs === null ? null : findAgeMs(memory, memory.lastAtMs),
});

export type PictureJudgement = { memory: PictureMemory } & (
  | { kind: 'good' }
  | { kind: 'bad'; fault: 'frozen' | 'black' | 'other_picture' }
  | { kind: 'doubt'; doubt: PlatformDoubt }
);

/** The newest pictures, as few as are enough for `MIN_STILL_MS`. */
function takeNewest(watched: readonly LumaPicture[]): readonly LumaPicture[] {
  const newest = watched.at(-1)?.atMs ?? 0;
  for (let count = MIN_PICTURES; count <= watched.length; count += 1) {
    const part = watched.slice(-count);
    if (newest - (part[0]?.atMs ?? newest) >= MIN_STILL_MS) return part;
  }
  return [];
}

const findSpanMs = (pictures: readonly LumaPicture[]): number =>
  (pictures.at(-1)?.atMs ?? 0) - (pictures[0]?.atMs ?? 0);

export function judgePictures(memory: PictureMemory): PictureJudgement {
  const { watched, ours, delayMs } = memory;
  const newest = takeNewest(watched);
  if (newest.length === 0) return { kind: 'doubt', doubt: 'starting', memory };
  if (ours.length < MIN_PICTURES) return { kind: 'doubt', doubt: 'no_own_picture', memory };
  const spanMs = findSpanMs(newest);
  const plausible = listPlausible(memory, newest);
  const isBlack = isAllBlack(newest);
  if (isBlack && showsThroughout(plausible, spanMs)) return { kind: 'bad', fault: 'black', memory };
  if (isBlack || isStill(newest)) {
    if (!isBlack && movesThroughout(plausible, spanMs)) return { kind: 'bad', fault: 'frozen', memory };
    const agrees = delayMs !== null && pairDifference(newest, ours, delayMs) <= STILL_AGREES;
    return agrees ? { kind: 'good', memory } : { kind: 'doubt', doubt: 'picture_unclear', memory };
  }
  return judgeMoving(memory, plausible);
}

/** Our pictures that viewers may be at while they get these. */
function listPlausible({ ours, delayMs }: PictureMemory, watched: readonly LumaPicture[]): readonly LumaPicture[] {
  if (delayMs === null) return ours;
  const [first, last] = [watched[0]?.atMs ?? 0, watched.at(-1)?.atMs ?? 0];
  return ours.filter(({ atMs }) => atMs >= first - delayMs - DELAY_SLACK_MS && atMs <= last - delayMs + DELAY_SLACK_MS);
}

function judgeMoving(memory: PictureMemory, plausible: readonly LumaPicture[]): PictureJudgement {
  const { watched, ours, delayMs, candidateMs } = memory;
  const compared = watched.slice(-COMPARED);
  const found = compareSequences(compared, ours, delayMs);
  if (found.kind === 'same') {
    const isNear = (known: number | null) => known !== null && Math.abs(found.delayMs - known) <= NEW_DELAY_MS;
    if (isNear(delayMs) || isNear(candidateMs) || found.share >= SURE_SHARE)
      return { kind: 'good', memory: { ...memory, delayMs: found.delayMs, candidateMs: null } };
    return {
      kind: 'doubt',
      doubt: 'picture_unclear',
      memory: { ...memory, candidateMs: found.delayMs },
    };
  }
  const unclear: PictureJudgement = {
    kind: 'doubt',
    doubt: 'picture_unclear',
    memory: { ...memory, candidateMs: null },
  };
  if (found.kind === 'unclear')
    return found.why === 'no_own_pictures' ? { ...unclear, doubt: 'no_own_picture' } : unclear;
  // A film that has never been found may be ours of minutes ago.
  if (delayMs === null && findSpanMs(ours) < KEPT_OURS_UNKNOWN_MS * 0.9) return unclear;
  return movesThroughout(plausible, findSpanMs(compared))
    ? { ...unclear, kind: 'bad', fault: 'other_picture' }
    : unclear;
}

/**
 * Finds the constant frame rate of pictures whose clock is not exact: a phone's jitter of a millisecond, jumps of ten milliseconds
 * where an export was joined from parts. Each picture has its turn, counted in the order of showing, and its own time lies near
 * the line through the first one. Pure: no I/O, no clock.
 */
import { BrokenPromiseError, fromFrameSeconds } from '../../rendition/frame-times.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';

/** Largest distance of a picture from its turn. With half an AAC frame of sound (11 ms), it stays within ITU-R BT.1359's 45 ms. */
export const MAX_UNSTEADY_SECONDS = 0.02;
/** Pictures of one GOP, in four seconds of 120 a second. */
const MAX_GOP_PICTURES = 480;

/** Returns the turn of each picture of a closed GOP, which is given in decoding order: its place by the time of showing. */
export function rankPictures(times: readonly number[]): number[] {
  const ranks: number[] = new Array(times.length);
  const order = times.map((time, at) => ({ time, at })).sort((a, b) => a.time - b.time || a.at - b.at);
  for (const [rank, { at }] of order.entries()) ranks[at] = rank;
  return ranks;
}

export class SteadyRate {
  readonly #frameSeconds: number;
  readonly #order: PictureOrder;
  /** Times of the GOP so far, in decoding order. */
  #gop: number[] = [];
  #pictures = 0;
  #first = 0;
  #last = Number.NEGATIVE_INFINITY;
  /** Lengths of a frame that bring every picture so far near enough to its turn. */
  #least = 0;
  #most = Number.POSITIVE_INFINITY;
  #isBroken = false;

  /** `framerate`: the preferred one, in frames per second. */
  constructor(framerate: number) {
    this.#frameSeconds = 1 / framerate;
    this.#order = new PictureOrder(framerate);
  }

  /** Takes the time of the next picture, in seconds and in decoding order. */
  add(seconds: number, isKeyframe: boolean): void {
    if (this.#isBroken) return;
    if (isKeyframe) this.#closeGop();
    this.#gop.push(seconds);
    // A GOP that never closes is no reason to keep its times.
    if (this.#gop.length > MAX_GOP_PICTURES) this.#isBroken = true;
  }

  /** Returns frames per second, and the delay of reordering; undefined where no constant rate fits. */
  result(): { framerate: number; reorderedFrames: number } | undefined {
    this.#closeGop();
    if (this.#isBroken || this.#pictures < 2 || !this.#order.isComplete) return undefined;
    const average = (this.#last - this.#first) / (this.#pictures - 1);
    const isNear = (frameSeconds: number) => this.#least <= frameSeconds && frameSeconds <= this.#most;
    const own = Math.min(Math.max(average, this.#least), this.#most);
    if (!isNear(own)) return undefined;
    const framerate = isNear(this.#frameSeconds) ? 1 / this.#frameSeconds : fromFrameSeconds(own);
    return { framerate, reorderedFrames: this.#order.delayFrames };
  }

  #closeGop(): void {
    const times = this.#gop;
    this.#gop = [];
    if (this.#isBroken || times.length === 0) return;
    const ranks = rankPictures(times);
    const before = this.#pictures;
    const lastOfGopBefore = this.#last;
    if (before === 0) this.#first = Math.min(...times);
    try {
      for (const [at, seconds] of times.entries()) {
        const turn = before + (ranks[at] ?? 0);
        this.#order.add(turn, at === 0);
        this.#isBroken ||= seconds <= lastOfGopBefore || Number.isNaN(seconds);
        if (turn > 0) this.#narrow(turn, seconds - this.#first);
        this.#last = Math.max(this.#last, seconds);
        this.#pictures++;
      }
    } catch (error) {
      if (!(error instanceof BrokenPromiseError)) throw error;
      this.#isBroken = true;
    }
  }

  #narrow(turn: number, seconds: number): void {
    this.#least = Math.max(this.#least, (seconds - MAX_UNSTEADY_SECONDS) / turn);
    this.#most = Math.min(this.#most, (seconds + MAX_UNSTEADY_SECONDS) / turn);
  }
}

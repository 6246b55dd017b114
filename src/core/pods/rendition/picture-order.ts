/**
 * Puts pictures in decoding order on the slots of a constant frame rate in which they are shown, and proves that each slot
 * is filled once, that every GOP is closed, and that keyframes are close enough for a receiver. Pure: no I/O, no clock.
 */
import { MAX_GOP_SECONDS } from './format.ts';
import { BrokenPromiseError } from './frame-times.ts';

/** ITU-T H.264 A.3.1: a decoder holds at most 16 pictures, so no picture is shown further from its decoding. */
const MAX_REORDERED_FRAMES = 16;

/** Fewer pictures than this are missing where a file with B-frames was cut in decoding order. */
const MAX_MISSING_AT_END = 8;

export class PictureOrder {
  readonly #maxGopFrames: number;
  /** Pictures so far: the next one's place in decoding order. */
  #frames = 0;
  #gopStart = 0;
  /** Slots of the pictures since every slot before `#firstOpen` was filled. */
  #open: number[] = [];
  #firstOpen = 0;
  #lastSlot = -1;
  #delayFrames = 0;

  constructor(framerate: number) {
    this.#maxGopFrames = Math.floor(MAX_GOP_SECONDS * framerate);
  }

  /** Number of pictures so far. */
  get frames(): number {
    return this.#frames;
  }

  /** Frames between decoding and showing the first picture, so that no picture so far is shown before it is decoded. */
  get delayFrames(): number {
    return this.#delayFrames;
  }

  /** True when no slot before a shown picture is empty. */
  get isComplete(): boolean {
    return this.#open.length === 0;
  }

  /**
   * Adds the next picture. Returns the slots of the pictures that are complete with it, in decoding order; pictures wait
   * while a slot before them is empty. Throws BrokenPromiseError.
   */
  add(slot: number, isKeyframe: boolean): readonly number[] {
    const frame = this.#frames++;
    if (isKeyframe) {
      if (this.#open.length > 0 || slot !== frame)
        throw new BrokenPromiseError(`video frame ${frame} begins a GOP that is not closed`);
      this.#gopStart = frame;
    }
    if (frame === 0 && !isKeyframe) throw new BrokenPromiseError('video frame 0 begins no GOP');
    if (frame - this.#gopStart >= this.#maxGopFrames)
      throw new BrokenPromiseError(`video frame ${frame} is more than ${MAX_GOP_SECONDS} s behind a keyframe`);
    if (slot < this.#firstOpen || this.#open.includes(slot))
      throw new BrokenPromiseError(`video frame ${frame} is shown together with another one`);
    if (Math.abs(slot - frame) > MAX_REORDERED_FRAMES)
      throw new BrokenPromiseError(`a video frame is missing before video frame ${frame}, or it is reordered too far`);
    this.#open.push(slot);
    this.#lastSlot = Math.max(this.#lastSlot, slot);
    // Pictures in decoding order fill slots without a hole when there are as many of them as slots.
    return this.#lastSlot === frame ? this.#close() : [];
  }

  /**
   * Ends the pictures. A file that was cut in decoding order lacks some pictures before its last ones; these move forward
   * to the empty slots. Returns the slots of the waiting pictures. Throws BrokenPromiseError where more than a cut leaves a
   * hole.
   */
  end(): readonly number[] {
    const missing = this.#lastSlot + 1 - this.#frames;
    if (missing > 0 && (this.#delayFrames === 0 || missing > MAX_MISSING_AT_END))
      throw new BrokenPromiseError(`${missing} video frames are missing before video frame ${this.#frames - 1}`);
    const order = this.#open.toSorted((a, b) => a - b);
    this.#open = this.#open.map((slot) => this.#firstOpen + order.indexOf(slot));
    return this.#close();
  }

  #close(): readonly number[] {
    const closed = this.#open;
    for (const [at, slot] of closed.entries())
      this.#delayFrames = Math.max(this.#delayFrames, this.#firstOpen + at - slot);
    this.#firstOpen += closed.length;
    this.#open = [];
    return closed;
  }
}

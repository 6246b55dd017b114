/**
 * Repeats a few pictures from memory, for a picture that stands as long as a song plays. It ends between two rounds, where a decoder expects a
 * keyframe. It has no sound. Pure: no I/O, no clock.
 */
import { type FlvTag, TAG_VIDEO } from '../../rendition/flv.ts';
import type { TimelineItem } from './splicer.ts';

/** Pictures from a keyframe to the end of its GOP, in the order in which they are shown. */
export interface Gop {
  header: Buffer;
  /** Bodies of their FLV tags. */
  pictures: readonly Buffer[];
  frameTicks: number;
}

export class LoopingItem implements TimelineItem {
  readonly id = '';
  readonly name = '';
  readonly audioHeader = undefined;
  readonly delayFrames = 0;
  /** Nobody knows how many there will be. */
  readonly videoFrames = Number.MAX_SAFE_INTEGER;
  readonly #gop: Gop;
  readonly #goesOn: () => boolean;
  #next = 0;

  /** `goesOn` is called before each further round. */
  constructor(gop: Gop, goesOn: () => boolean) {
    this.#gop = gop;
    this.#goesOn = goesOn;
  }

  get videoHeader(): Buffer {
    return this.#gop.header;
  }

  get frameTicks(): number {
    return this.#gop.frameTicks;
  }

  takeVideo(): FlvTag | 'end' {
    const { pictures } = this.#gop;
    if (this.#next === pictures.length) {
      if (!this.#goesOn()) return 'end';
      this.#next = 0;
    }
    const body = pictures[this.#next++];
    return body ? { type: TAG_VIDEO, timestampMs: 0, body, offset: 0 } : 'end';
  }

  takeAudio(): 'end' {
    return 'end';
  }

  mute(): void {}

  close(): void {}
}

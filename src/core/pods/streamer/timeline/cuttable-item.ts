/**
 * Ends an item early, for a skip or a rule, at a place where a decoder notices nothing. Pictures end where every sent picture has
 * been shown in its turn: a missing B-frame would leave a hole before the next item's keyframe.
 * Pure: no I/O, no clock.
 */

import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import { compositionTimeMs, type FlvTag } from '../../rendition/flv.ts';
import type { TimelineItem } from './splicer.ts';

export class CuttableItem implements TimelineItem {
  readonly #item: TimelineItem;
  readonly #isOver: () => boolean;
  readonly #leading: 'video' | 'audio';
  readonly #limitTicks: () => number;
  #ended = false;
  /** Number of pictures taken, and the last slot that shows one of them. */
  #taken = 0;
  #lastShown = -1;
  /** Number of AAC frames taken. */
  #soundTaken = 0;

  /**
   * `isOver` is called before each frame of the `leading` track; true ends the item at the next good place. `limitTicks` returns the ticks
   * that it plays at most; pictures are expected to have a keyframe there.
   */
  constructor(
    item: TimelineItem,
    leading: 'video' | 'audio',
    isOver: () => boolean,
    limitTicks: () => number = () => Number.POSITIVE_INFINITY,
  ) {
    this.#limitTicks = limitTicks;
    this.#item = item;
    this.#leading = leading;
    this.#isOver = isOver;
  }

  get id(): string {
    return this.#item.id;
  }
  get name(): string {
    return this.#item.name;
  }
  get videoHeader(): Buffer | undefined {
    return this.#item.videoHeader;
  }
  get audioHeader(): Buffer | undefined {
    return this.#item.audioHeader;
  }
  get frameTicks(): number {
    return this.#item.frameTicks;
  }
  get videoFrames(): number {
    return Math.min(this.#item.videoFrames, Math.max(1, Math.round(this.#limitTicks() / this.#item.frameTicks)));
  }
  get delayFrames(): number {
    return this.#item.delayFrames;
  }

  takeVideo(): FlvTag | 'wait' | 'end' {
    if (this.#ended) return 'end';
    if (this.#leading === 'video' && this.#lastShown < this.#taken && this.#isOver()) return this.#end();
    const tag = this.#item.takeVideo();
    if (typeof tag === 'string') return tag;
    const frames = Math.round((compositionTimeMs(tag) * TICKS_PER_SECOND) / 1000 / this.#item.frameTicks);
    this.#lastShown = Math.max(this.#lastShown, this.#taken + frames - this.#item.delayFrames);
    this.#taken++;
    return tag;
  }

  takeAudio(): FlvTag | 'wait' | 'end' {
    if (this.#ended) return 'end';
    if (this.#leading === 'audio' && (this.#isOver() || this.#isAtLimit)) return this.#end();
    const tag = this.#item.takeAudio();
    if (typeof tag !== 'string') this.#soundTaken++;
    return tag;
  }

  get #isAtLimit(): boolean {
    return this.#soundTaken > 0 && this.#soundTaken * AUDIO_FRAME_TICKS >= this.#limitTicks();
  }

  mute(): void {
    this.#item.mute();
  }

  close(): void {
    this.#item.close();
  }

  #end(): 'end' {
    this.#ended = true;
    return 'end';
  }
}

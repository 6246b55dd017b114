/**
 * Plays while no item of the program can: the stream stays on air, and the destination does not end its broadcast. It lasts a second, so
 * that an item which can be played again follows soon. It has no sound of its own, which is silence.
 */

import { TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import { DIMENSIONS, parseProfile } from '../../../resources/stream/profile.ts';
import { type FlvTag, TAG_VIDEO } from '../../rendition/flv.ts';
import { encodeSlate, type SlatePictures } from './slate-pictures.ts';
import type { TimelineItem } from './splicer.ts';

/** Returns a function that makes the item; undefined for what is no profile. Its pictures are encoded once, when they are first needed. */
export function createSlate(profile: string): (() => TimelineItem) | undefined {
  const { quality, framerate } = parseProfile(profile) ?? {};
  if (quality === undefined || framerate === undefined) return undefined;
  let pictures: SlatePictures | undefined;
  return () => {
    pictures ??= encodeSlate({ ...DIMENSIONS[quality], framerate }, framerate);
    return new Slate(pictures, TICKS_PER_SECOND / framerate);
  };
}

class Slate implements TimelineItem {
  readonly id = '';
  readonly name = '';
  readonly audioHeader = undefined;
  readonly delayFrames = 0;
  readonly videoHeader: Buffer;
  readonly videoFrames: number;
  readonly frameTicks: number;
  readonly #bodies: readonly Buffer[];
  #taken = 0;

  constructor({ header, keyframe, following }: SlatePictures, frameTicks: number) {
    this.videoHeader = header;
    this.frameTicks = frameTicks;
    this.#bodies = [keyframe, ...following];
    this.videoFrames = this.#bodies.length;
  }

  takeVideo(): FlvTag | 'end' {
    const body = this.#bodies[this.#taken++];
    return body ? { type: TAG_VIDEO, timestampMs: 0, body, offset: 0 } : 'end';
  }

  takeAudio(): 'end' {
    return 'end';
  }

  mute(): void {}

  close(): void {}
}

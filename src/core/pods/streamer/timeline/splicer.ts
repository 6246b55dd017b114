/**
 * Joins items into one endless stream of FLV tags: each tag gets a new timestamp, counted in frames and samples.
 * Pictures and sound are two tracks. Without an audio track of its own, the sound follows the pictures' items; an audio
 * track loops by itself. An audio track can come and go on air, between two items of the pictures.
 * Pure: no I/O, no clock. Items return media that they have read; when they have none yet, the splicer waits.
 */

import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND, ticksToMs } from '../../../programme/ticks.ts';
import {
  compositionTimeMs,
  type FlvTag,
  isKeyframe,
  SILENT_FRAME,
  TAG_AUDIO,
  TAG_VIDEO,
  type TagType,
} from '../../rendition/flv.ts';
import { readParameterSets, withParameterSets } from './parameter-sets.ts';
import { countTicks } from './ticks.ts';

/** An item that plays, from a keyframe on. */
export interface TimelineItem {
  readonly id: string;
  readonly name: string;
  /**
   * Bodies of the sequence header tags; undefined where the item has no such track. They belong to the tag that was taken last, at first
   * to the next one.
   */
  readonly videoHeader: Buffer | undefined;
  readonly audioHeader: Buffer | undefined;
  /**
   * Ticks of a picture, which may be a fraction, and the number of pictures from the joined one on. While a rendition is being prepared, the number is
   * larger than that of the pictures that can be taken, and it may change.
   */
  readonly frameTicks: number;
  readonly videoFrames: number;
  /** Frames between decoding and showing a picture (its B-frame delay), of the picture that was taken last, as the headers. */
  readonly delayFrames: number;
  /**
   * Returns the next picture or AAC frame; `wait` when it has not been read yet, `end` after the last one. Its body is valid until
   * the next one of its kind is taken, or the item is closed or muted.
   */
  takeVideo(): FlvTag | 'wait' | 'end';
  takeAudio(): FlvTag | 'wait' | 'end';
  /** Drops the item's sound, which is not played. */
  mute(): void;
  close(): void;
}

/** Returns the next item; `none` when nothing can be played now. */
export type NextItem = () => TimelineItem | 'wait' | 'none';

export interface OutTag {
  type: TagType;
  /** Milliseconds on the stream's timeline; not wrapped. */
  timestampMs: number;
  /** A frame's is valid until the next step, a header's for ever. */
  body: Buffer;
  /** Composition time to write into the body, where it differs from the body's own. */
  compositionMs: number | undefined;
  kind: 'header' | 'frame';
  keyframe: boolean;
}

export interface SpliceStats {
  videoFrames: number;
  audioFrames: number;
  seams: number;
  maxVideoStepMs: number;
  maxAudioStepMs: number;
  /** Start of an item's sound minus start of its pictures, at the last seam; 0 with an audio track. */
  avSkewMs: number;
  /** AAC frames of silence that filled up sound shorter than its pictures. */
  silentFrames: number;
}

const HALF_AUDIO_FRAME = AUDIO_FRAME_TICKS / 2;
/** AudioSpecificConfig of AAC-LC, 48 kHz, stereo (ISO/IEC 14496-3, 1.6.2.1) behind FLV's two bytes. */
export const DEFAULT_AUDIO_HEADER = Buffer.from([0xaf, 0x00, 0x11, 0x90]);

export class Splicer {
  readonly #nextVideo: NextItem;
  #nextAudio: NextItem | undefined;
  /** The change of #nextAudio at the next item of the pictures. */
  #turn: { to: NextItem | undefined; taken: (() => void) | undefined } | undefined;
  #video: TimelineItem | undefined;
  #audio: TimelineItem | undefined;
  /** The item behind #video once the sound has moved on to it, up to half an AAC frame before the pictures. */
  #ahead: TimelineItem | undefined;
  /** Ticks of the next picture (decoding) and of the next AAC frame. */
  #videoAt: number;
  /** Ticks of the first picture of #video: the others are counted from it. */
  #videoFrom: number;
  #audioAt: number;
  /** Ticks at which the first picture of #video is shown. */
  #soundFrom = 0;
  /** Ticks between decoding and showing: the largest B-frame delay seen. */
  #delay: number;
  /** Pictures of #video taken so far; Infinity when its file has ended before its index says. */
  #framesTaken = 0;
  /** Ticks of silence that the sound of the pictures' items is still to be late by. */
  #pause = 0;
  #videoHeader: Buffer | undefined;
  /** Parameter sets of the header; undefined as long as all items have the same. */
  #parameterSets: Buffer | undefined;
  #audioHeader: Buffer | undefined;
  #pending: OutTag[] = [];
  #lastVideoMs: number | undefined;
  #lastAudioMs: number | undefined;
  readonly stats: SpliceStats = {
    videoFrames: 0,
    audioFrames: 0,
    seams: 0,
    maxVideoStepMs: 0,
    maxAudioStepMs: 0,
    avSkewMs: 0,
    silentFrames: 0,
  };

  /** `delayTicks`: the largest expected B-frame delay. `startTicks`: the start of the timeline. */
  constructor(options: { video: NextItem; audio?: NextItem | undefined; delayTicks?: number; startTicks?: number }) {
    this.#nextVideo = options.video;
    this.#nextAudio = options.audio;
    this.#delay = options.delayTicks ?? 0;
    this.#videoAt = options.startTicks ?? 0;
    this.#videoFrom = this.#videoAt;
    this.#audioAt = this.#videoAt + this.#delay;
  }

  /** Ticks of the pictures returned so far. */
  get position(): number {
    return this.#videoAt;
  }

  get playing(): { video: TimelineItem | undefined; audio: TimelineItem | undefined } {
    return { video: this.#video, audio: this.#nextAudio ? this.#audio : this.#video };
  }

  /**
   * Changes the source of the sound at the next item of the pictures: `audio`, or the items themselves when undefined.
   * `taken` is called after the change, when the old source is no longer in use; a newer call of setAudio replaces it.
   */
  setAudio(audio: NextItem | undefined, taken?: () => void): void {
    this.#turn = { to: audio, taken };
  }

  /** Returns the next tag; undefined when an item has not been read far enough, or none can be played now. */
  step(): OutTag | undefined {
    const pending = this.#pending.shift();
    if (pending) return pending;
    if (!this.#video && !this.#turnVideo()) return undefined;
    // Sound comes before the picture whose decoding time passes it, in a muxer's order.
    return this.#audioAt < this.#videoAt + this.#delay ? this.#stepAudio() : this.#stepVideo();
  }

  close(): void {
    for (const item of new Set([this.#video, this.#audio, this.#ahead])) item?.close();
    this.#video = this.#audio = this.#ahead = undefined;
  }

  #stepVideo(): OutTag | undefined {
    for (;;) {
      const item = this.#video;
      if (!item) return undefined;
      const tag = this.#framesLeft(item) > 0 ? item.takeVideo() : 'end';
      if (tag === 'wait') return undefined;
      if (tag !== 'end') return this.#emitVideo(item, tag);
      // The file ends before its index says. The next item begins here, and the sound moves on with it.
      this.#framesTaken = Number.POSITIVE_INFINITY;
      if (!this.#turnVideo()) return undefined;
    }
  }

  #framesLeft(item: TimelineItem): number {
    return Math.max(0, item.videoFrames - this.#framesTaken);
  }

  /** Returns the ticks at which the pictures of an item end (decoding). */
  #endOf(item: TimelineItem): number {
    return this.#framesLeft(item) > 0 ? this.#videoFrom + countTicks(item.videoFrames, item.frameTicks) : this.#videoAt;
  }

  /** Moves on to the next item of the pictures; false when there is none yet. */
  #turnVideo(): boolean {
    const next = this.#peekNext();
    if (!next) return false;
    const old = this.#video;
    this.#ahead = undefined;
    this.#video = next;
    this.#framesTaken = 0;
    this.#videoFrom = this.#videoAt;
    this.#pause = 0;
    this.#turnAudio(next);
    if (!old && this.#lastAudioMs === undefined) this.#audioAt = this.#videoAt + this.#delay;
    if (old) {
      old.close();
      this.stats.seams++;
    }
    return true;
  }

  /** Changes the source of the sound, if that is due, with a new item of the pictures. */
  #turnAudio(next: TimelineItem): void {
    const had = this.#nextAudio;
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn) this.#nextAudio = turn.to;
    if (had && !this.#nextAudio) this.#audio?.close();
    // A song begins at its beginning, and the sound of the pictures' items ends.
    if (!had && this.#nextAudio) this.#audio = undefined;
    this.#soundFrom = this.#videoAt + this.#delay;
    if (this.#nextAudio) {
      next.mute();
      this.stats.avSkewMs = 0;
    } else if (had || this.#audio !== next) {
      this.#audio = undefined;
      this.#joinSound();
    }
    turn?.taken?.();
  }

  /** Returns the item behind the one on the video track, without moving on to it. */
  #peekNext(): TimelineItem | undefined {
    if (!this.#ahead) {
      const next = this.#nextVideo();
      if (next === 'wait' || next === 'none') return undefined;
      this.#ahead = next;
      // Only a program that was published later can bring a larger delay than expected. Its pictures are shown later by
      // the difference, once; the sound before it waits as long.
      this.#delay = Math.max(this.#delay, countTicks(next.delayFrames, next.frameTicks));
    }
    return this.#ahead;
  }

  #emitVideo(item: TimelineItem, tag: FlvTag): OutTag {
    const timestampMs = ticksToMs(this.#videoAt);
    this.#allowDelay(countTicks(item.delayFrames, item.frameTicks));
    const compositionFrames = Math.round((compositionTimeMs(tag) * TICKS_PER_SECOND) / 1000 / item.frameTicks);
    const slot = this.#framesTaken + Math.max(0, compositionFrames) - item.delayFrames;
    const shown = this.#videoFrom + this.#delay + countTicks(slot, item.frameTicks);
    const compositionMs = ticksToMs(shown) - timestampMs;
    if (this.#lastVideoMs !== undefined)
      this.stats.maxVideoStepMs = Math.max(this.stats.maxVideoStepMs, timestampMs - this.#lastVideoMs);
    this.#lastVideoMs = timestampMs;
    this.#framesTaken++;
    this.#videoAt = this.#videoFrom + countTicks(this.#framesTaken, item.frameTicks);
    this.stats.videoFrames++;
    const keyframe = isKeyframe(tag);
    const isNew = item.videoHeader !== undefined && !same(item.videoHeader, this.#videoHeader);
    if (isNew && this.#videoHeader) this.#parameterSets = readParameterSets(item.videoHeader);
    const body = keyframe && this.#parameterSets ? withParameterSets(tag.body, this.#parameterSets) : tag.body;
    const out: OutTag = { type: TAG_VIDEO, timestampMs, body, compositionMs, kind: 'frame', keyframe };
    if (isNew) {
      this.#videoHeader = item.videoHeader;
      return this.#after(header(TAG_VIDEO, timestampMs, item.videoHeader), out);
    }
    return out;
  }

  /**
   * Shows all further pictures later when a chunk of an item has a larger delay than expected. Its sound waits as long, so that it
   * stays with its pictures.
   */
  #allowDelay(ticks: number): void {
    if (ticks <= this.#delay) return;
    this.#pause += ticks - this.#delay;
    this.#delay = ticks;
  }

  #stepAudio(): OutTag | undefined {
    const tag = this.#nextAudio ? this.#ownAudio(this.#nextAudio) : this.#followingAudio();
    if (tag === 'wait') return undefined;
    const timestampMs = ticksToMs(this.#audioAt);
    if (this.#lastAudioMs !== undefined)
      this.stats.maxAudioStepMs = Math.max(this.stats.maxAudioStepMs, timestampMs - this.#lastAudioMs);
    this.#lastAudioMs = timestampMs;
    this.#audioAt += AUDIO_FRAME_TICKS;
    this.stats.audioFrames++;
    if (tag === 'end') this.stats.silentFrames++;
    const out: OutTag = {
      type: TAG_AUDIO,
      timestampMs,
      body: tag === 'end' ? SILENT_FRAME : tag.body,
      compositionMs: undefined,
      kind: 'frame',
      keyframe: false,
    };
    const wanted =
      tag === 'end'
        ? (this.#audioHeader ?? DEFAULT_AUDIO_HEADER)
        : (this.#audio?.audioHeader ?? this.#audioHeader ?? DEFAULT_AUDIO_HEADER);
    if (same(wanted, this.#audioHeader)) return out;
    this.#audioHeader = wanted;
    return this.#after(header(TAG_AUDIO, timestampMs, wanted), out);
  }

  /**
   * Returns sound of the pictures' items. It changes items at the AAC frame nearest to the end of the pictures, so the
   * two are never more than half an AAC frame apart after any number of seams. Surplus sound, at most one frame of a
   * well-made rendition, is dropped; missing sound is silence.
   */
  #followingAudio(): FlvTag | 'wait' | 'end' {
    if (!this.#audio) this.#joinSound();
    if (this.#audio === this.#video && this.#video) {
      let end = this.#endOf(this.#video) + this.#delay;
      if (this.#audioAt + HALF_AUDIO_FRAME >= end) {
        const next = this.#peekNext();
        if (!next) return 'wait';
        end = this.#endOf(this.#video) + this.#delay;
        if (this.#audioAt + HALF_AUDIO_FRAME >= end) this.#begin(next, end);
      }
    }
    if (this.#audio === this.#video && this.#pause >= HALF_AUDIO_FRAME) {
      this.#pause -= AUDIO_FRAME_TICKS;
      return 'end';
    }
    return this.#audio?.takeAudio() ?? 'end';
  }

  /**
   * Begins the sound of the item on the video track when its first picture is shown. An item with a larger delay shows
   * it after the end of the sound before.
   */
  #joinSound(): void {
    if (this.#video && this.#audioAt + HALF_AUDIO_FRAME >= this.#soundFrom) this.#begin(this.#video, this.#soundFrom);
  }

  #begin(item: TimelineItem, shownAt: number): void {
    this.#audio = item;
    this.stats.avSkewMs = (this.#audioAt - shownAt) / (TICKS_PER_SECOND / 1000);
  }

  /** Returns sound of the audio track: item after item, none cut. Silence while none can be played. */
  #ownAudio(next: NextItem): FlvTag | 'wait' | 'end' {
    for (;;) {
      const tag = this.#audio?.takeAudio() ?? 'end';
      if (tag !== 'end') return tag;
      const item = next();
      if (item === 'wait') return 'wait';
      this.#audio?.close();
      this.#audio = item === 'none' ? undefined : item;
      if (item === 'none') return 'end';
    }
  }

  #after(first: OutTag, then: OutTag): OutTag {
    this.#pending.push(then);
    return first;
  }
}

const same = (a: Buffer, b: Buffer | undefined): boolean => a === b || (b !== undefined && a.equals(b));

const header = (type: TagType, timestampMs: number, body: Buffer): OutTag => ({
  type,
  timestampMs,
  body,
  compositionMs: undefined,
  kind: 'header',
  keyframe: false,
});

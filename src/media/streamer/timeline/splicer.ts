/**
 * The splicer: joins items into one endless stream of FLV tags by giving every tag a new timestamp, counted in frames and
 * samples. Pictures and sound are two tracks. Without an audio track of its own, the sound follows the pictures' items;
 * with one, it loops by itself. One can come and go while the stream is on air, between two items of the pictures.
 * Pure: no I/O, no clock. Items hand over what they have read; when they have nothing yet, the splicer waits.
 */
import { compositionTimeMs, type FlvTag, isKeyframe, TAG_AUDIO, TAG_VIDEO, type TagType } from '../../rendition/flv.ts';
import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND, ticksToMs } from './ticks.ts';

/** An item that is being played, from a keyframe on. */
export interface TimelineItem {
  readonly id: string;
  readonly name: string;
  /** Bodies of the sequence header tags; undefined where the item has no such track. */
  readonly videoHeader: Buffer | undefined;
  readonly audioHeader: Buffer | undefined;
  /** Ticks of a picture, and how many pictures are to come from where it is joined. */
  readonly frameTicks: number;
  readonly videoFrames: number;
  /** Frames between decoding and showing the first picture (its B-frame delay). */
  readonly delayFrames: number;
  /** The next picture or AAC frame; `wait` when it has not been read yet, `end` when there is none any more. */
  takeVideo(): FlvTag | 'wait' | 'end';
  takeAudio(): FlvTag | 'wait' | 'end';
  /** Nobody will take its sound: it need not be kept. */
  mute(): void;
  close(): void;
}

/** Gives the item after the last one it gave. `none`: nothing can be played now. */
export type NextItem = () => TimelineItem | 'wait' | 'none';

export interface OutTag {
  type: TagType;
  /** Milliseconds on the stream's timeline; not wrapped. */
  timestampMs: number;
  body: Buffer;
  /** The composition time to write into the body, where it is not what the body has. */
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
  /** Where an item's sound began minus where its picture did, at the last seam; 0 with sound of its own. */
  avSkewMs: number;
  /** AAC frames of silence put in where an item's sound was shorter than its pictures. */
  silentFrames: number;
}

const HALF_AUDIO_FRAME = AUDIO_FRAME_TICKS / 2;
/** AudioSpecificConfig of AAC-LC, 48 kHz, stereo (ISO/IEC 14496-3, 1.6.2.1) behind FLV's two bytes. */
export const DEFAULT_AUDIO_HEADER = Buffer.from([0xaf, 0x00, 0x11, 0x90]);
/**
 * A stereo AAC-LC frame of silence behind FLV's two bytes: one channel pair element with a common window, no scale factor
 * band, no gain and no tools, then the end element (ISO/IEC 14496-3, table 4.4.1).
 */
export const SILENT_FRAME = Buffer.from([0xaf, 0x01, 0x21, 0x00, 0x00, 0x00, 0x00, 0x1c]);

export class Splicer {
  readonly #nextVideo: NextItem;
  #nextAudio: NextItem | undefined;
  /** What #nextAudio becomes with the next item of the pictures. */
  #turn: { to: NextItem | undefined; taken: (() => void) | undefined } | undefined;
  #video: TimelineItem | undefined;
  #audio: TimelineItem | undefined;
  /** The item behind #video when the sound has gone over to it first, up to half an AAC frame before the pictures. */
  #ahead: TimelineItem | undefined;
  /** Ticks of the next picture (decoding) and of the next AAC frame. */
  #videoAt: number;
  #audioAt: number;
  /** Ticks at which the first picture of #video is shown. */
  #soundFrom = 0;
  /** Ticks by which everything is shown later than pictures are decoded: the largest B-frame delay seen. */
  #delay: number;
  #framesLeft = 0;
  #videoHeader: Buffer | undefined;
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

  /** `delayTicks`: the largest B-frame delay to be expected. `startTicks`: where the timeline begins. */
  constructor(options: { video: NextItem; audio?: NextItem | undefined; delayTicks?: number; startTicks?: number }) {
    this.#nextVideo = options.video;
    this.#nextAudio = options.audio;
    this.#delay = options.delayTicks ?? 0;
    this.#videoAt = options.startTicks ?? 0;
    this.#audioAt = this.#videoAt + this.#delay;
  }

  /** Ticks up to which pictures have been given out. */
  get position(): number {
    return this.#videoAt;
  }

  get playing(): { video: TimelineItem | undefined; audio: TimelineItem | undefined } {
    return { video: this.#video, audio: this.#nextAudio ? this.#audio : this.#video };
  }

  /**
   * From the next item of the pictures on, sound comes from `audio`; from the items themselves when there is none. `taken`
   * is called when that has happened and what gave the sound before is asked no more; not when another call comes first.
   */
  setAudio(audio: NextItem | undefined, taken?: () => void): void {
    this.#turn = { to: audio, taken };
  }

  /** The next tag, or undefined when an item has not been read far enough (or none can be played now). */
  step(): OutTag | undefined {
    const pending = this.#pending.shift();
    if (pending) return pending;
    if (!this.#video && !this.#turnVideo()) return undefined;
    // The sound of a moment is sent before its picture's decoding time passes it, as a muxer would order them.
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
      const tag = this.#framesLeft > 0 ? item.takeVideo() : 'end';
      if (tag === 'wait') return undefined;
      if (tag !== 'end') return this.#emitVideo(item, tag);
      // A file that ends before its index says: what is next begins here, and the sound goes over with it.
      this.#framesLeft = 0;
      if (!this.#turnVideo()) return undefined;
    }
  }

  /** Goes to the next item on the video track; false when there is none yet. */
  #turnVideo(): boolean {
    const next = this.#peekNext();
    if (!next) return false;
    const old = this.#video;
    this.#ahead = undefined;
    this.#video = next;
    this.#framesLeft = next.videoFrames;
    this.#turnAudio(next);
    if (!old && this.#lastAudioMs === undefined) this.#audioAt = this.#videoAt + this.#delay;
    if (old) {
      old.close();
      this.stats.seams++;
    }
    return true;
  }

  /** With an item of the pictures, what gives the sound may change. */
  #turnAudio(next: TimelineItem): void {
    const had = this.#nextAudio;
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn) this.#nextAudio = turn.to;
    if (had && !this.#nextAudio) this.#audio?.close();
    // A song begins at its beginning, and what the pictures' items would have given is not heard any more.
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

  /** The item behind the one on the video track; it stays where it is until #turnVideo takes it. */
  #peekNext(): TimelineItem | undefined {
    if (!this.#ahead) {
      const next = this.#nextVideo();
      if (next === 'wait' || next === 'none') return undefined;
      this.#ahead = next;
      // Only a program that was published later can bring a larger delay than was expected. Its pictures are shown that
      // much later, once; the sound before it is held for as long.
      this.#delay = Math.max(this.#delay, next.delayFrames * next.frameTicks);
    }
    return this.#ahead;
  }

  #emitVideo(item: TimelineItem, tag: FlvTag): OutTag {
    const timestampMs = ticksToMs(this.#videoAt);
    const compositionFrames = Math.round((compositionTimeMs(tag) * TICKS_PER_SECOND) / 1000 / item.frameTicks);
    const shown =
      this.#videoAt + this.#delay + Math.max(-item.delayFrames, compositionFrames - item.delayFrames) * item.frameTicks;
    const compositionMs = ticksToMs(shown) - timestampMs;
    if (this.#lastVideoMs !== undefined)
      this.stats.maxVideoStepMs = Math.max(this.stats.maxVideoStepMs, timestampMs - this.#lastVideoMs);
    this.#lastVideoMs = timestampMs;
    this.#videoAt += item.frameTicks;
    this.#framesLeft--;
    this.stats.videoFrames++;
    const out: OutTag = {
      type: TAG_VIDEO,
      timestampMs,
      body: tag.body,
      compositionMs,
      kind: 'frame',
      keyframe: isKeyframe(tag),
    };
    if (item.videoHeader && !same(item.videoHeader, this.#videoHeader)) {
      this.#videoHeader = item.videoHeader;
      return this.#after(header(TAG_VIDEO, timestampMs, item.videoHeader), out);
    }
    return out;
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
   * Sound that belongs to the pictures: it changes items at the AAC frame nearest to the pictures' end, so the two are
   * never more than half an AAC frame apart however many seams there were. What is left over then, at most one frame of a
   * well-made rendition, is dropped; what is missing is silence.
   */
  #followingAudio(): FlvTag | 'wait' | 'end' {
    if (!this.#audio) this.#joinSound();
    if (this.#audio === this.#video && this.#video) {
      let end = this.#videoAt + this.#framesLeft * this.#video.frameTicks + this.#delay;
      if (this.#audioAt + HALF_AUDIO_FRAME >= end) {
        const next = this.#peekNext();
        if (!next) return 'wait';
        end = this.#videoAt + this.#framesLeft * this.#video.frameTicks + this.#delay;
        if (this.#audioAt + HALF_AUDIO_FRAME >= end) this.#begin(next, end);
      }
    }
    return this.#audio?.takeAudio() ?? 'end';
  }

  /**
   * The sound of the item on the video track, from when its first picture is shown: that is later than the sound before it
   * ends when the item brings a larger delay.
   */
  #joinSound(): void {
    if (this.#video && this.#audioAt + HALF_AUDIO_FRAME >= this.#soundFrom) this.#begin(this.#video, this.#soundFrom);
  }

  #begin(item: TimelineItem, shownAt: number): void {
    this.#audio = item;
    this.stats.avSkewMs = (this.#audioAt - shownAt) / (TICKS_PER_SECOND / 1000);
  }

  /** Sound of its own: item after item, none cut. Silence while none of them can be played. */
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

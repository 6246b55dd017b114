/**
 * Makes the exact FLV of a rendition from ffmpeg's output: timestamps by counting, sound cut or filled to the length of
 * the pictures, tags in the order of their times. Pure: no I/O, no clock.
 */
import {
  compositionTimeMs,
  encodedTagBytes,
  encodeHeader,
  encodeMetaData,
  type FlvTag,
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  SILENT_FRAME,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
  type TagType,
  writeCompositionTime,
  writeTag,
} from '../../rendition/flv.ts';
import {
  AUDIO_FRAME_MS,
  audioFramesFor,
  audioSlotMs,
  BrokenPromiseError,
  FormatChangeError,
  videoSlotMs,
} from '../../rendition/frame-times.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';
import { PADDING_SECONDS } from '../inspect/padding.ts';
import { MAX_UNSTEADY_SECONDS, rankPictures } from '../inspect/steady-rate.ts';
import { ORIGIN_MS, type Part } from './plan.ts';

/** FLV's rounding and the container's before it. */
const TOLERANCE_MS = 3;
/** ffmpeg interleaves within a few seconds; a longer queue means that a track has ended early. */
const MAX_WAITING_FRAMES = 20_000;

/** Sound without pictures plays as it comes; a shorter gap in it is no pause. */
export const PAUSE_MS = 100;
/** The limits of media (protocol/media-limits.ts) refuse far shorter pauses. */
const MAX_PAUSE_MS = 2 ** 27;

/** Sound that begins this little after the pictures begins with silence. */
const MAX_LATE_START_MS = 1000 * PADDING_SECONDS;

/** A tag to write; the body is still the input's, except for the composition time of a picture. */
export interface NewTag extends Pick<FlvTag, 'type' | 'timestampMs' | 'body'> {
  compositionMs?: number;
}

/** Encodes the beginning of the file, before its first tag. */
export const fileHeader = (framerate: number | undefined): Buffer =>
  encodeHeader({ audio: true, video: framerate !== undefined });

/** Returns the bytes that these tags take in a file. */
export const encodedBytes = (tags: readonly NewTag[]): number =>
  tags.reduce((sum, { body }) => sum + encodedTagBytes(body), 0);

/** Writes tags into `target` one behind the other. Returns the number of bytes. */
export function encodeTags(tags: readonly NewTag[], target: Buffer): number {
  let at = 0;
  for (const { type, timestampMs, body, compositionMs } of tags) {
    const end = writeTag(target, at, type, timestampMs, body);
    if (compositionMs !== undefined) writeCompositionTime(target, at, compositionMs);
    at = end;
  }
  return at;
}

export interface Mending {
  /** True where missing sound is filled with silence, and surplus sound is left out. */
  sound: boolean;
  /** True where the times of sound without pictures show its pauses; otherwise its frames follow each other. */
  pauses?: boolean;
  /** Number of pictures after which further ones are left out. */
  videoFrames: number | undefined;
  /** Number of AAC frames of sound that is played with pictures of another rendition, to which it is cut or filled. */
  audioFrames?: number | undefined;
  /** True where pictures have their turns by counting: their own times are only near them (steady-rate.ts). */
  isCounted?: boolean;
  /** Frames between decoding and showing the first picture. */
  delayFrames?: number;
  /** The part of a longer rendition that ffmpeg writes, with some sound before and behind it. */
  part?: Part;
}

/** Bodies of the tags that describe the tracks. */
export interface TrackHeaders {
  video: Buffer | undefined;
  audio: Buffer | undefined;
}

export class Rewriter {
  readonly #framerate: number | undefined;
  readonly #mending: Mending;
  readonly #delayFrames: number;
  readonly #part: Part | undefined;
  /** True where sound lies at the times of pictures, whether they are here or not. */
  readonly #hasPictures: boolean;
  readonly #headers: TrackHeaders = { video: undefined, audio: undefined };
  #begun = false;
  readonly #order: PictureOrder;
  /** Pictures that wait until the slots before them are filled. */
  #unordered: Buffer[] = [];
  /** Pictures of the GOP so far, and when each is shown, where turns are counted. */
  #gop: { body: Buffer; shownMs: number }[] = [];
  /** Pictures with the slots that show them. */
  #video: { body: Buffer; slot: number }[] = [];
  #audio: Buffer[] = [];
  /** Numbers of the next frames, in the whole: to be taken, and to be written. */
  #audioFrames: number;
  #videoWritten: number;
  #audioWritten: number;
  /** AAC frames of silence added at the end. */
  silentFrames = 0;

  /** `framerate` of the profile; undefined for a rendition of sound alone. */
  constructor(framerate: number | undefined, mending: Mending = { sound: false, videoFrames: undefined }) {
    this.#framerate = framerate;
    this.#mending = mending;
    this.#order = new PictureOrder(framerate ?? 1);
    this.#delayFrames = mending.delayFrames ?? 0;
    this.#part = mending.part;
    this.#hasPictures = framerate !== undefined || mending.audioFrames !== undefined;
    this.#audioFrames = this.#part?.firstSound ?? 0;
    this.#audioWritten = this.#audioFrames;
    this.#videoWritten = this.#part?.firstFrame ?? 0;
  }

  /** Describes the tracks, as soon as ffmpeg has. */
  get headers(): Readonly<TrackHeaders> {
    return this.#headers;
  }

  /** Seconds of input so far. */
  get seconds(): number {
    return this.#framerate ? this.#order.frames / this.#framerate : (this.#audioFrames * AUDIO_FRAME_MS) / 1000;
  }

  /** Takes ffmpeg's next tag and returns the tags to write. Throws BrokenPromiseError. */
  push(tag: FlvTag): NewTag[] {
    if (isAvcSequenceHeader(tag)) this.#headers.video = sameHeader(this.#headers.video, tag.body);
    else if (isAacSequenceHeader(tag)) this.#headers.audio = sameHeader(this.#headers.audio, tag.body);
    else if (isVideoFrame(tag)) this.#pushVideo(tag);
    else if (isAudioFrame(tag)) this.#pushAudio(tag);
    else return [];
    // The frames of silence are one and the same buffer.
    const waiting = this.#video.length + this.#unordered.length + this.#gop.length + this.#audio.length;
    if (waiting - this.silentFrames > MAX_WAITING_FRAMES) {
      throw new BrokenPromiseError('audio and video are too far apart');
    }
    return this.#drain(false);
  }

  /** Ends the input and returns the rest. Throws BrokenPromiseError when a track is missing. */
  end(): NewTag[] {
    if (this.#framerate) {
      this.#closeGop(this.#framerate);
      this.#place(this.#order.end());
    }
    const wanted = this.#countWantedSound();
    if (wanted !== undefined) {
      this.#audio.length = Math.min(this.#audio.length, Math.max(0, wanted - this.#audioWritten));
      this.#fill(wanted - this.#audioWritten - this.#audio.length);
    }
    const rest = this.#drain(true);
    if (this.#framerate && this.#order.frames === 0) throw new BrokenPromiseError('the rendition has no video');
    if (!this.#headers.audio || this.#audioWritten === 0) throw new BrokenPromiseError('the rendition has no audio');
    return rest;
  }

  /** AAC frames of the whole, or the end of its part; undefined where sound is as long as it comes. */
  #countWantedSound(): number | undefined {
    if (!this.#framerate) return this.#mending.audioFrames;
    return this.#part?.endSound ?? audioFramesFor(this.#order.frames, this.#framerate);
  }

  /** The times at which pictures are decoded follow from their order, so the source's own do not count. */
  #pushVideo(tag: FlvTag): void {
    if (!this.#framerate || this.#order.frames === this.#mending.videoFrames) return;
    const shownMs = tag.timestampMs + compositionTimeMs(tag) - ORIGIN_MS;
    if (this.#mending.isCounted) {
      if (isKeyframe(tag)) this.#closeGop(this.#framerate);
      this.#gop.push({ body: tag.body, shownMs });
      return;
    }
    const slot = Math.round((shownMs * this.#framerate) / 1000);
    const first = this.#part?.firstFrame ?? 0;
    if (Math.abs(shownMs - videoSlotMs(slot, this.#framerate)) > TOLERANCE_MS)
      throw new BrokenPromiseError(`video frame ${this.#order.frames} is shown at ${shownMs} ms, between two frames`);
    this.#unordered.push(tag.body);
    this.#place(this.#order.add(slot - first, isKeyframe(tag)));
  }

  /** Gives the pictures of a GOP, which begins with a keyframe, their turns in the order of showing. */
  #closeGop(framerate: number): void {
    const gop = this.#gop;
    this.#gop = [];
    const ranks = rankPictures(gop.map(({ shownMs }) => shownMs));
    const first = this.#order.frames;
    for (const [at, { body, shownMs }] of gop.entries()) {
      const slot = first + (ranks[at] ?? 0);
      if (Math.abs(shownMs - videoSlotMs(slot, framerate)) > 1000 * MAX_UNSTEADY_SECONDS + TOLERANCE_MS)
        throw new BrokenPromiseError(`video frame ${first + at} is shown at ${shownMs} ms, too far from its turn`);
      this.#unordered.push(body);
      this.#place(this.#order.add(slot, at === 0));
    }
  }

  #place(slots: readonly number[]): void {
    if (slots.length === 0) return;
    if (this.#order.delayFrames > this.#delayFrames)
      throw new BrokenPromiseError(`video frame ${this.#order.frames - 1} is reordered further than its header says`);
    const first = this.#part?.firstFrame ?? 0;
    for (const [at, body] of this.#unordered.entries()) this.#video.push({ body, slot: first + (slots[at] ?? 0) });
    this.#unordered = [];
  }

  #pushAudio(tag: FlvTag): void {
    const { firstSound: first = 0, endSound = this.#mending.audioFrames ?? Number.POSITIVE_INFINITY } =
      this.#part ?? {};
    if (this.#audioFrames >= endSound) return;
    const expected = ORIGIN_MS + audioSlotMs(this.#audioFrames);
    // A frame mostly before the first one is the encoder's run-up: the next frame overlaps with its sound.
    if (this.#audioFrames === first && tag.timestampMs < expected - AUDIO_FRAME_MS / 2) return;
    const late = tag.timestampMs - expected;
    if (Math.abs(late) > AUDIO_FRAME_MS / 2 + TOLERANCE_MS) {
      const begins = this.#audioFrames === first && this.#hasPictures && late <= MAX_LATE_START_MS;
      if (!(this.#mending.sound || begins) || late > MAX_PAUSE_MS)
        throw new BrokenPromiseError(`AAC frame ${this.#audioFrames} is at ${tag.timestampMs} ms, not ${expected} ms`);
      if (this.#hasPictures && late < 0) return;
      if (this.#hasPictures || (this.#mending.pauses && late > PAUSE_MS)) this.#fill(Math.round(late / AUDIO_FRAME_MS));
    }
    this.#audioFrames++;
    this.#audio.push(tag.body);
  }

  #fill(frames: number): void {
    for (let added = 0; added < frames; added++) this.#audio.push(SILENT_FRAME);
    this.#audioFrames += frames;
    this.silentFrames += frames;
  }

  /** Writes the earlier of the two next frames, as long as both are known. */
  #drain(last: boolean): NewTag[] {
    const out: NewTag[] = [];
    if (!this.#begun) {
      const { video, audio } = this.#headers;
      if (!audio || (this.#framerate && !video)) return out;
      // The whole has its headers once, at its beginning.
      if (!this.#part?.firstFrame) out.push(...this.#preamble(audio));
      this.#begun = true;
    }
    let video = 0;
    let audio = 0;
    // Sound lies in the file at the time of the pictures that are shown with it, which is later than their decoding.
    const framerate = this.#framerate ?? 1;
    const delayMs = videoSlotMs(this.#delayFrames, framerate);
    for (;;) {
      const picture = this.#video[video];
      const sound = this.#audio[audio];
      if (!last && this.#framerate && !(picture && sound)) break;
      if (!picture && !sound) break;
      const pictureMs = picture ? videoSlotMs(this.#videoWritten, framerate) : Number.POSITIVE_INFINITY;
      const soundMs = sound ? delayMs + audioSlotMs(this.#audioWritten) : Number.POSITIVE_INFINITY;
      if (picture && pictureMs <= soundMs) {
        const compositionMs = videoSlotMs(picture.slot + this.#delayFrames, framerate) - pictureMs;
        out.push({ type: TAG_VIDEO, timestampMs: pictureMs, body: picture.body, compositionMs });
        this.#videoWritten++;
        video++;
      } else if (sound) {
        out.push({ type: TAG_AUDIO, timestampMs: soundMs, body: sound });
        this.#audioWritten++;
        audio++;
      }
    }
    this.#video.splice(0, video);
    this.#audio.splice(0, audio);
    return out;
  }

  #preamble(audioHeader: Buffer): NewTag[] {
    const video = this.#framerate !== undefined;
    const meta = { ...(this.#framerate && { framerate: this.#framerate, videocodecid: 7 }), audiocodecid: 10 };
    const first = (type: TagType, body: Buffer): NewTag => ({ type, timestampMs: 0, body });
    return [
      first(TAG_SCRIPT, encodeMetaData(meta)),
      ...(video && this.#headers.video ? [first(TAG_VIDEO, this.#headers.video)] : []),
      first(TAG_AUDIO, audioHeader),
    ];
  }
}

function sameHeader(known: Buffer | undefined, header: Buffer): Buffer {
  // The parser's chunk may be large; a kept header must not hold it.
  if (known === undefined) return Buffer.from(header);
  if (known.equals(header)) return known;
  throw new FormatChangeError('the codec’s configuration changes');
}

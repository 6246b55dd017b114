/**
 * Reads a rendition from its first byte to its last, proves every promise of the format and makes its index. It reads
 * the bytes as they stand in the file, and takes no word of their writer.
 */
import { createHash } from 'node:crypto';
import {
  compositionTimeMs,
  FlvParser,
  type FlvTag,
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  TAG_SCRIPT,
} from '../../rendition/flv.ts';
import {
  audioFramesFor,
  audioSlotMs,
  BrokenPromiseError,
  toFraction,
  videoSlotMs,
} from '../../rendition/frame-times.ts';
import { AUDIO_SAMPLE_RATE, INDEX_VERSION, type RenditionIndex, SAMPLES_PER_FRAME } from '../../rendition/index.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';

/** ISO/IEC 14496-15 5.3.3: AVCProfileIndication of Baseline, Main and High. */
const PROFILES = new Set([66, 77, 100]);
/** ITU-T H.264 table 7-1: a slice of an IDR picture. */
const NAL_IDR = 5;
/** All pictures of some sources are keyframes; a table of each would be longer than a ten-hour film's. */
const KEYFRAME_STEP_SECONDS = 0.5;
/** ISO/IEC 14496-3 1.6.2.1: AAC-LC, 48 kHz, two channels, in the first 13 bits of AudioSpecificConfig. */
const AAC_LC_48K_STEREO = 0x1190;

function promise(kept: boolean, broken: string): asserts kept {
  if (!kept) throw new BrokenPromiseError(broken);
}

/** Takes the bytes of a rendition in pieces of any size. Throws BrokenPromiseError or FlvError at the first fault. */
export class Indexer {
  readonly #hash = createHash('sha256');
  readonly #parser = new FlvParser();
  readonly #check: Checker;
  readonly #profile: string;
  #sizeBytes = 0;

  /** `framerate` is undefined for a rendition of sound alone. */
  constructor(profile: string, framerate: number | undefined) {
    this.#profile = profile;
    this.#check = new Checker(framerate);
  }

  /** Pictures so far. */
  get videoFrames(): number {
    return this.#check.videoFrames;
  }

  push(bytes: Buffer): void {
    this.#count(bytes);
    for (const tag of this.#parser.push(bytes)) this.#check.add(tag);
  }

  /**
   * Indexes bytes for a caller that reuses one buffer: `data` is the rest of the last call with `fresh` new bytes
   * behind it. Returns the number of bytes done with.
   */
  parse(data: Buffer, fresh: number): number {
    this.#count(data.subarray(data.length - fresh));
    return this.#parser.parse(data, (tag) => this.#check.add(tag));
  }

  #count(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
  }

  end(): RenditionIndex {
    this.#parser.end();
    const sizeBytes = this.#sizeBytes;
    const { durationSeconds, video, audio } = this.#check.result();
    return {
      version: INDEX_VERSION,
      profile: this.#profile,
      sizeBytes,
      sha256: this.#hash.digest('hex'),
      durationSeconds,
      bitrateKbps: Math.round((sizeBytes * 8) / durationSeconds / 1000),
      ...(video && { video }),
      audio,
    };
  }
}

class Checker {
  readonly #framerate: number | undefined;
  #videoHeader: string | undefined;
  #audioHeader: string | undefined;
  #audioFrames = 0;
  #lastMs = 0;
  readonly #order: PictureOrder;
  /** Frames between decoding and showing the first picture. */
  #delayFrames = 0;
  readonly #keyframes: { frame: number; offset: number }[] = [];

  constructor(framerate: number | undefined) {
    this.#framerate = framerate;
    this.#order = new PictureOrder(framerate ?? 1);
  }

  add(tag: FlvTag): void {
    if (tag.type === TAG_SCRIPT) return;
    promise(tag.timestampMs >= this.#lastMs, `the tag at byte ${tag.offset} goes back in time`);
    this.#lastMs = tag.timestampMs;
    if (isAvcSequenceHeader(tag)) this.#addVideoHeader(tag);
    else if (isAacSequenceHeader(tag)) this.#addAudioHeader(tag);
    else if (isVideoFrame(tag)) this.#addVideo(tag);
    else if (isAudioFrame(tag)) this.#addAudio(tag);
    else throw new BrokenPromiseError(`the tag at byte ${tag.offset} is not allowed in a rendition`);
  }

  get videoFrames(): number {
    return this.#order.frames;
  }

  #addVideoHeader({ body }: FlvTag): void {
    promise(this.#videoHeader === undefined, 'the video has two headers');
    promise(PROFILES.has(body[6] ?? 0), `the H.264 profile ${body[6]} is not one that destinations accept`);
    promise(((body[9] ?? 0) & 3) === 3, 'NAL units have no four-byte lengths');
    this.#videoHeader = body.toString('base64');
  }

  #addAudioHeader({ body }: FlvTag): void {
    promise(this.#audioHeader === undefined, 'the audio has two headers');
    const config = body.length >= 4 ? body.readUInt16BE(2) & 0xfff8 : 0;
    promise(config === AAC_LC_48K_STEREO, 'the audio is not AAC-LC 48 kHz stereo');
    this.#audioHeader = body.toString('base64');
  }

  #addVideo(tag: FlvTag): void {
    const frame = this.#order.frames;
    const framerate = this.#framerate;
    promise(framerate !== undefined && this.#videoHeader !== undefined, 'the video has no header');
    promise(tag.timestampMs === videoSlotMs(frame, framerate), `video frame ${frame} is at ${tag.timestampMs} ms`);
    const isKey = isKeyframe(tag);
    promise(!isKey || holdsIdr(tag.body), `keyframe ${frame} does not close the GOP before it`);
    const shownMs = tag.timestampMs + compositionTimeMs(tag);
    const shown = Math.round((shownMs * framerate) / 1000);
    promise(shownMs === videoSlotMs(shown, framerate), `video frame ${frame} is shown at ${shownMs} ms`);
    promise(shown >= frame, `video frame ${frame} is shown before it is decoded`);
    if (frame === 0) this.#delayFrames = shown;
    this.#order.add(shown - this.#delayFrames, isKey);
    const last = this.#keyframes.at(-1)?.frame ?? Number.NEGATIVE_INFINITY;
    if (isKey && frame - last >= KEYFRAME_STEP_SECONDS * framerate) this.#keyframes.push({ frame, offset: tag.offset });
  }

  #addAudio(tag: FlvTag): void {
    const frame = this.#audioFrames++;
    promise(this.#audioHeader !== undefined, 'the audio has no header');
    const expectedMs = videoSlotMs(this.#delayFrames, this.#framerate ?? 1) + audioSlotMs(frame);
    promise(tag.timestampMs === expectedMs, `AAC frame ${frame} is at ${tag.timestampMs} ms`);
  }

  result() {
    const framerate = this.#framerate;
    promise(this.#audioHeader !== undefined && this.#audioFrames > 0, 'the rendition has no audio');
    const audio = { frames: this.#audioFrames, header: this.#audioHeader };
    const audioSeconds = (audio.frames * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE;
    if (framerate === undefined) return { durationSeconds: audioSeconds, video: undefined, audio };
    promise(this.#videoHeader !== undefined && this.videoFrames > 0, 'the rendition has no video');
    promise(this.#order.isComplete, 'a video frame is missing at the end');
    promise(
      audio.frames === audioFramesFor(this.videoFrames, framerate),
      `${audio.frames} AAC frames are not as long as ${this.videoFrames} video frames`,
    );
    const [frameRateNum, frameRateDen] = toFraction(framerate);
    const video = {
      frameRateNum,
      frameRateDen,
      frames: this.videoFrames,
      header: this.#videoHeader,
      keyframes: this.#keyframes,
    };
    return { durationSeconds: this.videoFrames / framerate, video, audio };
  }
}

/** Yields the NAL units behind their four-byte lengths, after FLV's five bytes (ISO/IEC 14496-15 5.3.4). */
function holdsIdr(body: Buffer): boolean {
  for (let at = 5; at + 5 <= body.length; at += 4 + body.readUInt32BE(at)) {
    if ((body.readUInt8(at + 4) & 0x1f) === NAL_IDR) return true;
  }
  return false;
}

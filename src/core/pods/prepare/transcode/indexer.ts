/**
 * Reads a rendition from its first byte to its last, proves every promise of the format and cuts it into chunks. It reads
 * the bytes as they stand in the file, and takes no word of their writer.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  compositionTimeMs,
  FLV_HEADER_BYTES,
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
  FormatChangeError,
  toFraction,
  videoSlotMs,
} from '../../rendition/frame-times.ts';
import {
  AUDIO_SAMPLE_RATE,
  CHUNK_SECONDS,
  type Chunk,
  type RenditionIndex,
  SAMPLES_PER_FRAME,
} from '../../rendition/index.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';
import { allowsFields } from './parameter-sets.ts';
import type { Part } from './plan.ts';

/** ISO/IEC 14496-15 5.3.3: AVCProfileIndication of Baseline, Main and High. */
const PROFILES = new Set([66, 77, 100]);
/** ITU-T H.264 table 7-1: a slice of an IDR picture, and the parameter sets of sequences and pictures. */
const NAL_IDR = 5;
const NAL_PARAMETER_SETS = new Set([7, 8]);
/** All pictures of some sources are keyframes; a table of each would be longer than a ten-hour film's. */
const KEYFRAME_STEP_SECONDS = 0.5;
/** ISO/IEC 14496-3 1.6.2.1: AAC-LC, 48 kHz, two channels, in the first 13 bits of AudioSpecificConfig. */
const AAC_LC_48K_STEREO = 0x1190;

function promise(kept: boolean, broken: string): asserts kept {
  if (!kept) throw new BrokenPromiseError(broken);
}

/** The end of a chunk: `offset` bytes into the data that the indexer was given, the next chunk begins. */
export interface Cut {
  offset: number;
  chunk: Chunk;
}

export interface Totals {
  durationSeconds: number;
  video: RenditionIndex['video'];
  audio: RenditionIndex['audio'];
}

/** A place in the middle of a rendition, in front of a keyframe. */
export interface Middle {
  /** Numbers of the next frames. */
  firstFrame: number;
  firstSound: number;
  /** Bodies of the tags at the beginning of the rendition that describe its tracks. */
  headers: { video: Buffer; audio: Buffer };
}

/**
 * Takes the bytes of a rendition in pieces of any size, from its beginning or from the middle on. Throws BrokenPromiseError or FlvError at
 * the first fault.
 */
export class Indexer {
  readonly #parser: FlvParser;
  readonly #check: Checker;
  readonly #chunkFrames: number;
  #chunk: OpenChunk;
  #offset: number;

  /** `framerate` is undefined for a rendition of sound alone. `chunkSeconds`: a chunk ends in front of the next keyframe. */
  constructor(framerate: number | undefined, chunkSeconds = CHUNK_SECONDS, middle?: Middle) {
    this.#check = new Checker(framerate, middle);
    this.#chunkFrames = chunkSeconds * (framerate ?? AUDIO_SAMPLE_RATE / SAMPLES_PER_FRAME);
    // The bytes before are not known: only the header of the file is sure to be there.
    this.#offset = middle ? FLV_HEADER_BYTES : 0;
    this.#parser = new FlvParser(this.#offset);
    this.#chunk = openChunk(middle?.firstFrame ?? 0, this.#offset);
  }

  /** Frames so far: pictures, or AAC frames of sound alone. */
  get frames(): number {
    return this.#check.frames;
  }

  /**
   * Takes `data`, which begins with the bytes that the last call has left. Returns the bytes of whole tags, which are done with,
   * and the chunks that end in them.
   */
  take(data: Buffer): { used: number; cuts: Cut[] } {
    const cuts: Cut[] = [];
    // A tag's offset counts from the beginning of the rendition.
    const base = this.#offset;
    let hashed = 0;
    const used = this.#parser.parse(data, (tag) => {
      const isStart = this.#check.add(tag);
      if (isStart && this.#check.frame - this.#chunk.firstFrame >= this.#chunkFrames) {
        const offset = tag.offset - base;
        this.#hash(data.subarray(hashed, offset));
        hashed = offset;
        cuts.push({ offset, chunk: this.#close(this.#check.frame) });
      }
      if (isStart) this.#addKeyframe(tag);
    });
    this.#hash(data.subarray(hashed, used));
    this.#offset += used;
    return { used, cuts };
  }

  #hash(bytes: Buffer): void {
    this.#chunk.hash.update(bytes);
    this.#chunk.sizeBytes += bytes.length;
  }

  #addKeyframe(tag: FlvTag): void {
    const { framerate, frame } = this.#check;
    if (framerate === undefined) return;
    const { keyframes, begin } = this.#chunk;
    const last = keyframes.at(-1)?.frame ?? Number.NEGATIVE_INFINITY;
    if (frame - last >= KEYFRAME_STEP_SECONDS * framerate) keyframes.push({ frame, offset: tag.offset - begin });
  }

  #close(endFrame: number): Chunk {
    const { hash, keyframes, begin, ...chunk } = this.#chunk;
    this.#chunk = openChunk(endFrame, begin + chunk.sizeBytes);
    const { video, audio } = this.#check.headers;
    return {
      ...chunk,
      frames: endFrame - chunk.firstFrame,
      sha256: hash.digest('hex'),
      ...(video && { video: { ...video, keyframes } }),
      audio,
    };
  }

  /** Ends the rendition. Returns its last chunk, and what it is as a whole. */
  end(): { last: Chunk; totals: Totals } {
    this.#parser.end();
    const totals = this.#check.result();
    return { last: this.#close(this.frames), totals };
  }

  /** Ends a part, which is one chunk. Throws BrokenPromiseError where frames are missing. */
  endPart(part: Part): Chunk {
    this.#parser.end();
    this.#check.end(part);
    return this.#close(this.frames);
  }
}

interface OpenChunk {
  firstFrame: number;
  /** Offset of the chunk in the rendition. */
  begin: number;
  sizeBytes: number;
  hash: Hash;
  keyframes: { frame: number; offset: number }[];
}

const openChunk = (firstFrame: number, begin = 0): OpenChunk => ({
  firstFrame,
  begin,
  sizeBytes: 0,
  hash: createHash('sha256'),
  keyframes: [],
});

class Checker {
  readonly framerate: number | undefined;
  #videoHeader: string | undefined;
  #parameterSets: Buffer[] = [];
  #audioHeader: string | undefined;
  #audioFrames: number;
  #lastMs = 0;
  readonly #order: PictureOrder;
  readonly #firstFrame: number;
  /** Frames between decoding and showing the first picture. */
  #delayFrames = 0;
  /** Number of the last frame added, of the kind that `frames` counts. */
  frame = -1;

  constructor(framerate: number | undefined, middle?: Middle) {
    this.framerate = framerate;
    this.#order = new PictureOrder(framerate ?? 1);
    this.#firstFrame = middle?.firstFrame ?? 0;
    this.#audioFrames = middle?.firstSound ?? 0;
    this.#videoHeader = middle?.headers.video.toString('base64');
    this.#audioHeader = middle?.headers.audio.toString('base64');
  }

  /** Returns true for a frame in front of which a chunk may begin: a keyframe, or any frame of sound alone. */
  add(tag: FlvTag): boolean {
    if (tag.type === TAG_SCRIPT) return false;
    promise(tag.timestampMs >= this.#lastMs, `the tag at byte ${tag.offset} goes back in time`);
    this.#lastMs = tag.timestampMs;
    if (isAvcSequenceHeader(tag)) this.#addVideoHeader(tag);
    else if (isAacSequenceHeader(tag)) this.#addAudioHeader(tag);
    else if (isVideoFrame(tag)) return this.#addVideo(tag);
    else if (isAudioFrame(tag)) return this.#addAudio(tag);
    else throw new BrokenPromiseError(`the tag at byte ${tag.offset} is not allowed in a rendition`);
    return false;
  }

  get frames(): number {
    return this.framerate === undefined ? this.#audioFrames : this.#firstFrame + this.#order.frames;
  }

  /** How the tracks are read. */
  get headers() {
    const [video, audio] = [this.#videoHeader, this.#audioHeader];
    promise(audio !== undefined, 'the rendition has no audio');
    return {
      video: video === undefined ? undefined : { header: video, delayFrames: this.#delayFrames },
      audio: { header: audio },
    };
  }

  #addVideoHeader({ body }: FlvTag): void {
    promise(this.#videoHeader === undefined, 'the video has two headers');
    promise(!allowsFields(body.subarray(5)), 'its pictures may be interlaced');
    promise(PROFILES.has(body[6] ?? 0), `the H.264 profile ${body[6]} is not one that destinations accept`);
    promise(((body[9] ?? 0) & 3) === 3, 'NAL units have no four-byte lengths');
    this.#videoHeader = body.toString('base64');
    this.#parameterSets = listParameterSets(body);
  }

  #addAudioHeader({ body }: FlvTag): void {
    promise(this.#audioHeader === undefined, 'the audio has two headers');
    const config = body.length >= 4 ? body.readUInt16BE(2) & 0xfff8 : 0;
    promise(config === AAC_LC_48K_STEREO, 'the audio is not AAC-LC 48 kHz stereo');
    this.#audioHeader = body.toString('base64');
  }

  #addVideo(tag: FlvTag): boolean {
    const frame = this.#firstFrame + this.#order.frames;
    const { framerate } = this;
    promise(framerate !== undefined && this.#videoHeader !== undefined, 'the video has no header');
    promise(tag.timestampMs === videoSlotMs(frame, framerate), `video frame ${frame} is at ${tag.timestampMs} ms`);
    const isKey = isKeyframe(tag);
    promise(this.#readUnits(tag.body, frame) || !isKey, `keyframe ${frame} does not close the GOP before it`);
    const shownMs = tag.timestampMs + compositionTimeMs(tag);
    const shown = Math.round((shownMs * framerate) / 1000);
    promise(shownMs === videoSlotMs(shown, framerate), `video frame ${frame} is shown at ${shownMs} ms`);
    promise(shown >= frame, `video frame ${frame} is shown before it is decoded`);
    if (frame === this.#firstFrame) this.#delayFrames = shown - frame;
    this.#order.add(shown - this.#delayFrames - this.#firstFrame, isKey);
    this.frame = frame;
    return isKey;
  }

  /** Returns true for an IDR picture. A stream may repeat its header between pictures, but not change it. */
  #readUnits(body: Buffer, frame: number): boolean {
    let isIdr = false;
    // NAL units stand behind their four-byte lengths, after FLV's five bytes (ISO/IEC 14496-15 5.3.4).
    for (let at = 5; at + 5 <= body.length; ) {
      const end = at + 4 + body.readUInt32BE(at);
      const type = body.readUInt8(at + 4) & 0x1f;
      isIdr ||= type === NAL_IDR;
      promise(type !== 0, `video frame ${frame} has no picture in it`);
      if (NAL_PARAMETER_SETS.has(type)) this.#expectKnown(body.subarray(at + 4, Math.max(at + 5, end)), frame);
      at = end;
    }
    return isIdr;
  }

  #expectKnown(parameterSet: Buffer, frame: number): void {
    const trimmed = trimZeros(parameterSet);
    if (this.#parameterSets.some((set) => set.equals(trimmed))) return;
    throw new FormatChangeError(`the format of the pictures changes at video frame ${frame}`);
  }

  #addAudio(tag: FlvTag): boolean {
    const frame = this.#audioFrames++;
    promise(this.#audioHeader !== undefined, 'the audio has no header');
    const expectedMs = videoSlotMs(this.#delayFrames, this.framerate ?? 1) + audioSlotMs(frame);
    promise(tag.timestampMs === expectedMs, `AAC frame ${frame} is at ${tag.timestampMs} ms`);
    if (this.framerate !== undefined) return false;
    this.frame = frame;
    return true;
  }

  end({ endFrame, endSound }: Part): void {
    promise(this.#order.isComplete, 'a video frame is missing at the end');
    promise(this.frames === endFrame, `the part ends with video frame ${this.frames}, not ${endFrame}`);
    promise(this.#audioFrames === endSound, `the part ends with AAC frame ${this.#audioFrames}, not ${endSound}`);
  }

  result(): Totals {
    const { framerate } = this;
    promise(this.#audioHeader !== undefined && this.#audioFrames > 0, 'the rendition has no audio');
    const audio = { frames: this.#audioFrames };
    const audioSeconds = (audio.frames * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE;
    if (framerate === undefined) return { durationSeconds: audioSeconds, video: undefined, audio };
    promise(this.#videoHeader !== undefined && this.frames > 0, 'the rendition has no video');
    promise(this.#order.isComplete, 'a video frame is missing at the end');
    promise(
      audio.frames === audioFramesFor(this.frames, framerate),
      `${audio.frames} AAC frames are not as long as ${this.frames} video frames`,
    );
    const [frameRateNum, frameRateDen] = toFraction(framerate);
    return {
      durationSeconds: this.frames / framerate,
      video: { frameRateNum, frameRateDen, frames: this.frames },
      audio,
    };
  }
}

/** Lists the parameter sets of a header, behind FLV's five bytes (ISO/IEC 14496-15 5.3.3.1). */
function listParameterSets(body: Buffer): Buffer[] {
  const sets: Buffer[] = [];
  let at = 10;
  for (const mask of [0x1f, 0xff]) {
    const count = (body[at++] ?? 0) & mask;
    for (let set = 0; set < count && at + 2 <= body.length; set++) {
      const end = at + 2 + body.readUInt16BE(at);
      // The memory of the body is used again.
      sets.push(trimZeros(Buffer.from(body.subarray(at + 2, end))));
      at = end;
    }
  }
  return sets;
}

/** A NAL unit ends with a bit that is set; zeros behind it are padding. */
function trimZeros(unit: Buffer): Buffer {
  let end = unit.length;
  while (unit[end - 1] === 0) end--;
  return unit.subarray(0, end);
}

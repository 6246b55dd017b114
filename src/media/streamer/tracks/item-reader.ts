/**
 * Reads one item, range after range of its rendition, a bounded piece ahead of the playhead. The splicer takes tags
 * synchronously; when they have run out, `onData` announces new ones.
 */
import { sleep } from '../../../lib/clock.ts';
import type { ProgramItem } from '../../../resources/stream/program.ts';
import {
  compositionTimeMs,
  FlvParser,
  type FlvTag,
  findTag,
  isAudioFrame,
  isKeyframe,
  isVideoFrame,
} from '../../rendition/flv.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TimelineItem } from '../timeline/splicer.ts';
import { AUDIO_FRAME_TICKS, frameTicks, itemTicks, TICKS_PER_SECOND, ticksToMs } from '../timeline/ticks.ts';
import { ItemError, itemError, loadRendition, type TrackKind } from './rendition-index.ts';

/** One read: 1.6 s at 2.5 Mbit/s. At most two are held. */
const CHUNK_BYTES = 512 * 1024;
/** Sound and picture of a rendition lie side by side. A file with a larger distance is damaged. */
const MAX_QUEUED_BYTES = 32 * 2 ** 20;
/** A storage that returns nothing for this long has failed. */
export const READ_TIMEOUT_MS = 10_000;
const READ_ATTEMPTS = 3;
const RETRY_MS = 200;

export interface OpenOptions {
  storage: Storage;
  item: ProgramItem;
  kind: TrackKind;
  /** Position in the item to begin at; a video track begins at the keyframe at or before it. */
  offsetTicks: number;
  /** Called when tags have been read, and when reading has ended. */
  onData: () => void;
}

/** A first-in-first-out list that does not move its entries on removal. */
class Queue {
  #tags: FlvTag[] = [];
  #at = 0;
  bytes = 0;
  push(tag: FlvTag): void {
    this.#tags.push(tag);
    this.bytes += tag.body.length;
  }
  take(): FlvTag | undefined {
    const tag = this.#tags[this.#at];
    if (!tag) return undefined;
    this.bytes -= tag.body.length;
    if (++this.#at === this.#tags.length) {
      this.#tags = [];
      this.#at = 0;
    }
    return tag;
  }
  get first(): FlvTag | undefined {
    return this.#tags[this.#at];
  }
  clear(): void {
    this.#tags = [];
    this.#at = 0;
    this.bytes = 0;
  }
}

const decode = (base64: string | undefined) => (base64 === undefined ? undefined : Buffer.from(base64, 'base64'));

export class ItemReader implements TimelineItem {
  readonly id: string;
  readonly name: string;
  readonly videoHeader: Buffer | undefined;
  readonly audioHeader: Buffer | undefined;
  readonly frameTicks: number;
  readonly videoFrames: number;
  /** Ticks that the whole item plays on this track. */
  readonly ticks: number;
  /** The error that ended the item while it played. */
  error: ItemError | undefined;
  readonly #options: OpenOptions;
  readonly #version: string;
  readonly #sizeBytes: number;
  readonly #abort = new AbortController();
  readonly #video = new Queue();
  readonly #audio = new Queue();
  #parser: FlvParser | undefined;
  /** Byte offset of the next read. */
  #offset: number;
  #reading: Promise<void> | undefined;
  #ended = false;
  /** Sound before this time is before the joined picture. */
  #soundFromMs = 0;
  readonly #joined: boolean;
  #delayFrames: number | undefined;
  #muted = false;

  private constructor(options: OpenOptions, index: RenditionIndex, version: string) {
    const { item, kind, offsetTicks } = options;
    this.id = item.id;
    this.name = item.name;
    this.#options = options;
    this.#version = version;
    this.#sizeBytes = index.sizeBytes;
    this.videoHeader = kind === 'video' ? decode(index.video?.header) : undefined;
    this.audioHeader = decode(index.audio?.header);
    this.frameTicks = index.video ? (frameTicks(index.video.frameRateNum, index.video.frameRateDen) ?? 0) : 0;
    const keyframe = index.video?.keyframes.findLast((k) => k.frame * this.frameTicks <= offsetTicks);
    this.ticks = itemTicks(index, kind);
    this.videoFrames = (index.video?.frames ?? 0) - (keyframe?.frame ?? 0);
    this.#joined = keyframe !== undefined && keyframe.frame > 0;
    if (keyframe && this.#joined) {
      this.#offset = keyframe.offset;
    } else if (kind === 'audio' && !index.video && offsetTicks >= AUDIO_FRAME_TICKS) {
      // Sound alone has no table of keyframes. Its bit rate is even, so the offset is proportional.
      this.#offset = Math.floor((offsetTicks / itemTicks(index, 'audio')) * index.sizeBytes);
    } else {
      this.#offset = 0;
    }
    this.#parser = this.#offset === 0 || keyframe ? new FlvParser(this.#offset) : undefined;
  }

  /** Resolves when the item can play at once; rejects with ItemError when it cannot. */
  static async open(options: OpenOptions): Promise<ItemReader> {
    const { storage, item, kind } = options;
    const { index, version } = await loadRendition(storage, item, kind, AbortSignal.timeout(READ_TIMEOUT_MS));
    const reader = new ItemReader(options, index, version);
    const first = () => (kind === 'video' ? reader.#video.first : reader.#audio.first);
    while (!reader.#ended && !first()) await reader.#readChunk();
    const tag = first();
    if (!tag || reader.error || (kind === 'video' && !isKeyframe(tag))) {
      reader.close();
      throw reader.error ?? new ItemError('item_invalid', 'The rendition does not begin with a keyframe.');
    }
    return reader;
  }

  get delayFrames(): number {
    return this.#delayFrames ?? 0;
  }

  takeVideo(): FlvTag | 'wait' | 'end' {
    return this.#take(this.#video);
  }

  takeAudio(): FlvTag | 'wait' | 'end' {
    return this.#take(this.#audio);
  }

  mute(): void {
    this.#muted = true;
    this.#audio.clear();
  }

  close(): void {
    this.#ended = true;
    this.#abort.abort();
    this.#video.clear();
    this.#audio.clear();
  }

  #take(queue: Queue): FlvTag | 'wait' | 'end' {
    const tag = queue.take();
    if (!this.#ended && !this.#reading && (queue.bytes === 0 || this.#video.bytes + this.#audio.bytes < CHUNK_BYTES)) {
      this.#reading = this.#readChunk().finally(() => {
        this.#reading = undefined;
        this.#options.onData();
      });
    }
    return tag ?? (this.#ended ? 'end' : 'wait');
  }

  /** Reads the next range into the queues; sets `error` and ends when that fails. Never rejects. */
  async #readChunk(): Promise<void> {
    const { storage, item } = this.#options;
    for (let attempt = 1; !this.#ended; attempt++) {
      const end = Math.min(this.#offset + CHUNK_BYTES, this.#sizeBytes);
      try {
        if (this.#offset >= end) return this.#finish();
        const range = { start: this.#offset, end, version: this.#version };
        const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
        for await (const chunk of await storage.read(item.rendition, range, signal)) {
          this.#offset += (chunk as Buffer).length;
          this.#accept(chunk as Buffer);
        }
        if (this.#offset < end) throw new ItemError('item_invalid', 'The rendition is shorter than its index says.');
        if (this.#offset >= this.#sizeBytes) this.#finish();
        return;
      } catch (error) {
        if (this.#ended) return;
        const failure = damage(error) ?? itemError(error);
        if (failure.code !== 'storage_unavailable' || attempt >= READ_ATTEMPTS) {
          this.error = failure;
          this.#ended = true;
        } else {
          await sleep(RETRY_MS, this.#abort.signal).catch(() => undefined);
        }
      }
    }
  }

  #finish(): void {
    this.#parser?.end();
    this.#ended = true;
  }

  #accept(chunk: Buffer): void {
    let data = chunk;
    if (!this.#parser) {
      const at = findTag(chunk);
      if (at < 0) return;
      this.#parser = new FlvParser(this.#offset - chunk.length + at);
      data = chunk.subarray(at);
    }
    for (const tag of this.#parser.push(data)) {
      if (isVideoFrame(tag)) this.#acceptPicture(tag);
      else if (!this.#muted && isAudioFrame(tag) && tag.timestampMs >= this.#soundFromMs) this.#audio.push(tag);
    }
    if (this.#video.bytes + this.#audio.bytes > MAX_QUEUED_BYTES)
      throw new ItemError('item_invalid', 'The audio and the video are too far apart in the rendition.');
  }

  #acceptPicture(tag: FlvTag): void {
    if (this.#options.kind === 'audio') return;
    if (this.#delayFrames === undefined) {
      const delayMs = Math.max(0, compositionTimeMs(tag));
      this.#delayFrames = Math.round((delayMs * TICKS_PER_SECOND) / 1000 / this.frameTicks);
      // In a joined item, the sound begins with the AAC frame nearest to the first picture.
      if (this.#joined) this.#soundFromMs = tag.timestampMs + delayMs - ticksToMs(AUDIO_FRAME_TICKS / 2);
    }
    this.#video.push(tag);
  }
}

/** Turns a fault in the bytes into an ItemError. */
function damage(error: unknown): ItemError | undefined {
  return error instanceof Error && error.name === 'FlvError'
    ? new ItemError('item_invalid', 'The rendition is damaged.', error)
    : undefined;
}

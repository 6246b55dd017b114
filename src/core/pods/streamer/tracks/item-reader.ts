/**
 * Reads one item, range after range of its chunks, a bounded piece ahead of the playhead. The splicer takes tags
 * synchronously; when they have run out, `onData` announces new ones.
 *
 * A rendition that is still being prepared is read on into the chunks that appear meanwhile. Where the next one is not there when
 * the playhead comes near, the item ends early: it ran out.
 */
import { createHash, type Hash } from 'node:crypto';
import { type Block, BlockPools } from '../../../lib/block-pool.ts';
import { sleep } from '../../../lib/clock.ts';
import { settlesWithin } from '../../../lib/settle-within.ts';
import { AUDIO_FRAME_TICKS, ticksToMs } from '../../../programme/ticks.ts';
import type { ProgramItem } from '../../../resources/stream/playing.ts';
import { FLV_HEADER_BYTES, type FlvTag, isAudioFrame, isKeyframe, isVideoFrame } from '../../rendition/flv.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { TimelineItem } from '../timeline/splicer.ts';
import { countTicks, frameAt } from '../timeline/ticks.ts';
import { ChunkList, type PlayedChunk } from './chunk-list.ts';
import { ItemError, itemError } from './item-error.ts';
import { chooseRangeBytes } from './range-bytes.ts';
import { chunkFrameTicks, holdsFrame, itemTicks, type Rendition, type TrackKind } from './rendition.ts';
import { loadRendition } from './rendition-index.ts';
import { TagBlocks } from './tag-blocks.ts';
import { TagQueue } from './tag-queue.ts';
import { VerifiedChunks } from './verified-chunks.ts';

/** Sound and picture of a rendition lie side by side. A file with a larger distance is damaged. */
const MAX_QUEUED_BYTES = 32 * 2 ** 20;
/** A storage that returns nothing for this long has failed. */
export const READ_TIMEOUT_MS = 10_000;
const READ_ATTEMPTS = 3;
const RETRY_MS = 200;
/** The number of next chunks that a cache may prefetch: four minutes at least. */
const CHUNKS_AHEAD = 16;
/** The next chunk is looked for once in this much media while its predecessor is played to its end, */
const LOOK_EVERY_MS = 1000;
/** and for the last time when this much is left. All attempts of the last look fit into it. */
const LAST_LOOK_MS = 3000;
const LOOK_TIMEOUT_MS = 800;

const UNANSWERED = 'The storage did not respond in time.';

export interface OpenOptions {
  storage: Storage;
  item: ProgramItem;
  kind: TrackKind;
  /** Position in the item to begin at; a video track begins at the keyframe at or before it. */
  offsetTicks: number;
  /** Called when tags have been read, and when reading has ended. */
  onData: () => void;
  /** Memory for ranges, shared by the items of a track; its own by default. A range has the size of a block. */
  pools?: Pick<BlockPools, 'of'>;
  /** Chunks that need not be verified again; none by default. */
  verified?: VerifiedChunks;
}

/** How tags are decoded. It may change from chunk to chunk. */
interface Decoding {
  videoHeader: Buffer | undefined;
  audioHeader: Buffer | undefined;
  delayFrames: number;
}

/** Decodes a header; chunks with the same one share its bytes. */
function decodeHeader(base64: string | undefined, before: Buffer | undefined): Buffer | undefined {
  const header = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  return header && before?.equals(header) ? before : header;
}

const decodeHeaders = (chunk: PlayedChunk, kind: TrackKind, before?: Decoding): Decoding => ({
  videoHeader: kind === 'video' ? decodeHeader(chunk.videoHeader, before?.videoHeader) : undefined,
  audioHeader: decodeHeader(chunk.audioHeader, before?.audioHeader),
  delayFrames: chunk.delayFrames,
});

interface Place {
  /** Index of the chunk. */
  chunk: number;
  /** Byte offset of a tag in it. */
  offset: number;
  /** First frame of the rendition that plays. */
  frame: number;
}

/** Finds where to begin: at the keyframe at or before a position, or at the beginning while that part is not prepared. */
function findPlace(rendition: Rendition, offsetTicks: number): Place {
  const { chunks, frames, complete } = rendition;
  const wanted = frameAt(offsetTicks, chunkFrameTicks(rendition));
  const frame = complete ? Math.min(wanted, frames - 1) : wanted;
  const at = chunks.findIndex((known) => holdsFrame(known, frame));
  const chunk = chunks[at];
  if (!chunk) return { chunk: 0, offset: 0, frame: 0 };
  // Sound alone has no table of keyframes. Its chunk of half a minute is read from the beginning, and the frames are counted.
  if (!chunk.video) return { chunk: at, offset: 0, frame };
  const keyframe = chunk.video.keyframes.findLast((k) => k.frame <= frame);
  const isFirst = keyframe === undefined || keyframe.frame === chunk.firstFrame;
  return {
    chunk: at,
    offset: isFirst ? 0 : keyframe.offset,
    frame: isFirst ? chunk.firstFrame : keyframe.frame,
  };
}

export class ItemReader implements TimelineItem {
  readonly id: string;
  readonly name: string;
  /** Key of the rendition. */
  readonly rendition: string;
  readonly frameTicks: number;
  /** Ticks from the beginning of the item to the position at which it was joined. */
  readonly startTicks: number;
  /** The error that ended the item while it played. */
  error: ItemError | undefined;
  readonly #options: OpenOptions;
  readonly #abort = new AbortController();
  readonly #video = new TagQueue<Decoding>();
  readonly #audio = new TagQueue<Decoding>();
  readonly #chunks: ChunkList;
  readonly #startFrame: number;
  readonly #media: TagBlocks;
  readonly #verified: VerifiedChunks;
  readonly #rangeBytes: number;
  /** Index of the chunk that is being read. */
  #at = 0;
  /** Byte offset of the next read in it. */
  #offset: number;
  /** Version of its object, once known. */
  #version: string | undefined;
  /** True when it is read from its beginning. */
  #isWhole: boolean;
  /** Hash of its bytes so far, when it is to be verified. */
  #hash: Hash | undefined;
  /** Frames in its bytes so far. */
  #framesRead = 0;
  /** Of the chunk that is being read, and of the last picture and the last sound that were taken. */
  #decoding: Decoding;
  #videoDecoding: Decoding;
  #audioDecoding: Decoding;
  #reading: Promise<void> | undefined;
  #ended = false;
  #ranOut = false;
  /** AAC frames of sound alone that are still to be dropped, in front of the joined one. */
  #earlySounds: number;
  /** Sound before this time is before the joined picture. */
  #soundFromMs: number;
  /** Time of the tag at which the next chunk is looked for again. */
  #lookAtMs = 0;
  #muted = false;

  private constructor(options: OpenOptions, rendition: Rendition) {
    const { storage, item, kind, offsetTicks } = options;
    const { pools = new BlockPools(), verified = new VerifiedChunks() } = options;
    this.#verified = verified;
    const pool = pools.of(chooseRangeBytes(rendition));
    this.#rangeBytes = pool.blockBytes;
    this.id = item.id;
    this.name = item.name;
    this.rendition = item.rendition;
    this.#options = options;
    this.frameTicks = rendition.frameTicks ?? 0;
    const place = findPlace(rendition, offsetTicks);
    const { signal } = this.#abort;
    this.#chunks = new ChunkList(rendition, place.chunk, { storage, renditionKey: item.rendition, signal });
    this.#startFrame = place.frame;
    this.startTicks = countTicks(place.frame, chunkFrameTicks(rendition));
    this.#offset = place.offset;
    const first = this.#chunks.get(0) as PlayedChunk;
    this.#decoding = this.#videoDecoding = this.#audioDecoding = decodeHeaders(first, kind);
    // Only the first chunk begins with a file header, which a parser expects at offset 0.
    const fileOffset = place.offset + (first.firstFrame > 0 ? FLV_HEADER_BYTES : 0);
    this.#media = new TagBlocks(pool, fileOffset);
    this.#isWhole = place.offset === 0;
    this.#earlySounds = first.videoHeader === undefined ? place.frame - first.firstFrame : 0;
    this.#soundFromMs = kind === 'video' && place.frame > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /** Resolves when the item can play at once; rejects with ItemError when it cannot. */
  static async open(options: OpenOptions): Promise<ItemReader> {
    const { storage, item, kind, offsetTicks } = options;
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const reader = new ItemReader(options, await loadRendition(storage, item, kind, { offsetTicks, signal }));
    while (!reader.#ended && !reader.#leading.first) await reader.#readOn(true);
    const tag = reader.#leading.first;
    if (!tag || reader.error || (kind === 'video' && !isKeyframe(tag))) {
      reader.close();
      throw reader.error ?? new ItemError('item_invalid', 'The rendition does not begin with a keyframe.');
    }
    return reader;
  }

  get videoHeader(): Buffer | undefined {
    return this.#videoDecoding.videoHeader;
  }

  get audioHeader(): Buffer | undefined {
    return this.#audioDecoding.audioHeader;
  }

  get delayFrames(): number {
    return this.#videoDecoding.delayFrames;
  }

  /** While the rendition is not complete, its end is not known: one more picture than known is expected then. */
  get videoFrames(): number {
    const { frames, complete } = this.#chunks.rendition;
    const known = this.#chunks.end;
    const end = complete ? frames : this.#ranOut ? known : Math.max(frames, known + 1);
    return end - this.#startFrame;
  }

  /** Ticks that the whole item plays on this track. */
  get ticks(): number {
    return itemTicks(this.#chunks.rendition, this.#options.kind);
  }

  /** True when the item ended because its next chunk was not prepared. */
  get ranOut(): boolean {
    return this.#ranOut;
  }

  /** The frame behind the last chunk that is known to be prepared. */
  get preparedFrames(): number {
    return this.#chunks.end;
  }

  /** First frame of the last chunk of which something has been read. */
  get readingFrom(): number {
    const chunk = this.#chunks.get(this.#at) ?? this.#chunks.get(this.#at - 1);
    return chunk?.firstFrame ?? this.#startFrame;
  }

  takeVideo(): FlvTag | 'wait' | 'end' {
    const taken = this.#video.take();
    if (taken) this.#videoDecoding = taken.about;
    return this.#giveOut(this.#video, taken?.tag);
  }

  takeAudio(): FlvTag | 'wait' | 'end' {
    const taken = this.#audio.take();
    if (taken) this.#audioDecoding = taken.about;
    return this.#giveOut(this.#audio, taken?.tag);
  }

  mute(): void {
    this.#muted = true;
    this.#audio.clear();
  }

  /** Lets the sound be heard again, from the tags on that have not been read yet. */
  unmute(): void {
    this.#muted = false;
  }

  close(): void {
    this.#ended = true;
    this.#abort.abort();
    this.#video.clear();
    this.#audio.clear();
    this.#media.close();
  }

  /** The track whose end is the item's. */
  get #leading(): TagQueue<Decoding> {
    return this.#options.kind === 'video' ? this.#video : this.#audio;
  }

  /** Reads on where that is due, and returns the tag that was taken. */
  #giveOut(queue: TagQueue<Decoding>, tag: FlvTag | undefined): FlvTag | 'wait' | 'end' {
    if (!this.#ended && !this.#reading && this.#wantsMore(queue)) {
      const isLast = queue.bytes === 0 || this.#leading.spanMs < LAST_LOOK_MS;
      this.#reading = this.#readOn(isLast).finally(() => {
        this.#reading = undefined;
        this.#options.onData();
      });
    }
    return tag ?? (this.#ended ? 'end' : 'wait');
  }

  #wantsMore(queue: TagQueue<Decoding>): boolean {
    if (queue.bytes === 0) return true;
    if (this.#chunks.get(this.#at)) return this.#video.bytes + this.#audio.bytes < this.#rangeBytes;
    const { firstMs, spanMs } = this.#leading;
    return spanMs < LAST_LOOK_MS || firstMs >= this.#lookAtMs;
  }

  /**
   * Reads the next range into the queues, or looks for the next chunk; it ends the item when that fails, or when the last look finds
   * nothing. Never rejects.
   */
  async #readOn(isLastLook: boolean): Promise<void> {
    for (let attempt = 1; !this.#ended; attempt++) {
      const chunk = this.#chunks.get(this.#at);
      try {
        return await (chunk ? this.#readRange(chunk) : this.#look(isLastLook));
      } catch (error) {
        if (this.#ended) return;
        const failure = itemError(error);
        const isAway = failure.code === 'storage_unavailable';
        if (isAway && !chunk && !isLastLook) return this.#lookLater();
        // A storage that has described an object may still be late to find it.
        if ((isAway || (chunk && failure.code === 'item_missing')) && attempt < READ_ATTEMPTS) {
          await sleep(RETRY_MS, this.#abort.signal).catch(() => undefined);
        } else {
          this.error = failure;
          this.#ended = true;
        }
      }
    }
  }

  async #readRange(chunk: PlayedChunk): Promise<void> {
    const { storage } = this.#options;
    this.#chunks.lookAhead(this.#at);
    this.#version ??= await this.#beginChunk(chunk);
    this.#abort.signal.throwIfAborted();
    const { block, room } = this.#media.begin();
    const end = Math.min(this.#offset + room.length, chunk.sizeBytes);
    const followedBy = this.#chunks.keysBehind(this.#at, CHUNKS_AHEAD);
    const range = { start: this.#offset, end, version: this.#version, followedBy, into: room };
    // AbortSignal.timeout would wake the process and keep what the read refers to until its time, long after the read.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new StorageError('unavailable', UNANSWERED)), READ_TIMEOUT_MS);
    const signal = AbortSignal.any([this.#abort.signal, late.signal]);
    try {
      for await (const bytes of await storage.read(chunk.key, range, signal)) this.#add(bytes as Buffer);
    } finally {
      clearTimeout(timer);
      // Until here the storage may write into it, also after close().
      block.release();
    }
    if (this.#offset < end) throw await this.#damaged(chunk, 'The rendition is shorter than its index says.');
    if (this.#offset === chunk.sizeBytes) await this.#endChunk(chunk);
  }

  /** Returns the version of the chunk's object, to which all its reads keep. */
  async #beginChunk(chunk: PlayedChunk): Promise<string> {
    const { storage, kind } = this.#options;
    const object = await storage.head(chunk.key);
    if (!object) throw new ItemError('item_missing', 'The rendition is not in the storage.');
    if (object.sizeBytes !== chunk.sizeBytes)
      throw await this.#damaged(chunk, 'The size of the rendition differs from its index.');
    this.#decoding = decodeHeaders(chunk, kind, this.#decoding);
    const isDue = this.#isWhole && !this.#verified.has(chunk.key, object.version, performance.now());
    this.#hash = isDue ? createHash('sha256') : undefined;
    return object.version;
  }

  async #endChunk(chunk: PlayedChunk): Promise<void> {
    this.#media.end();
    if (this.#hash && this.#hash.digest('hex') !== chunk.sha256)
      throw await this.#damaged(chunk, 'The content of the rendition differs from its index.');
    if (this.#isWhole && this.#framesRead !== chunk.frames)
      throw new ItemError('item_invalid', 'A chunk has another number of frames than its index says.');
    if (this.#hash && this.#version !== undefined) this.#verified.add(chunk.key, this.#version, performance.now());
    this.#at++;
    this.#offset = 0;
    this.#version = undefined;
    this.#isWhole = true;
    this.#framesRead = 0;
    if (this.#chunks.rendition.complete && !this.#chunks.get(this.#at)) this.#ended = true;
  }

  /** Makes the error of a chunk that is wrong, which no cache should return again. */
  async #damaged(chunk: PlayedChunk, message: string): Promise<ItemError> {
    await this.#options.storage.discard?.(chunk.key);
    return new ItemError('item_invalid', message);
  }

  /** Looks for the chunk behind the known ones. */
  async #look(isLastLook: boolean): Promise<void> {
    const found = this.#chunks.find();
    if (!(await settlesWithin(found, LOOK_TIMEOUT_MS, this.#abort.signal)))
      throw new StorageError('unavailable', UNANSWERED);
    if (await found) {
      if (!this.#chunks.get(this.#at)) this.#ended = true;
    } else if (isLastLook) {
      this.#ranOut = true;
      this.#ended = true;
    } else {
      this.#lookLater();
    }
  }

  #lookLater(): void {
    this.#lookAtMs = this.#leading.firstMs + LOOK_EVERY_MS;
  }

  #add(bytes: Buffer): void {
    this.#abort.signal.throwIfAborted();
    const added = this.#media.add(bytes, this.#accept);
    this.#offset += added.length;
    this.#hash?.update(added);
    if (this.#video.bytes + this.#audio.bytes > MAX_QUEUED_BYTES)
      throw new ItemError('item_invalid', 'The audio and the video are too far apart in the rendition.');
  }

  readonly #accept = (tag: FlvTag, block: Block): void => {
    const isCounted = this.#chunks.rendition.frameTicks === undefined ? isAudioFrame : isVideoFrame;
    if (isCounted(tag)) this.#framesRead++;
    if (isVideoFrame(tag)) this.#acceptPicture(tag, block);
    else if (isAudioFrame(tag) && this.#earlySounds > 0) this.#earlySounds--;
    else if (!this.#muted && isAudioFrame(tag) && tag.timestampMs >= this.#soundFromMs)
      this.#audio.push(tag, block, this.#decoding);
  };

  #acceptPicture(tag: FlvTag, block: Block): void {
    if (this.#options.kind === 'audio') return;
    // In a joined item, the sound begins with the AAC frame nearest to the first picture.
    if (this.#soundFromMs === Number.POSITIVE_INFINITY) {
      const delayTicks = countTicks(this.#decoding.delayFrames, this.frameTicks);
      this.#soundFromMs = tag.timestampMs + ticksToMs(delayTicks) - ticksToMs(AUDIO_FRAME_TICKS / 2);
    }
    this.#video.push(tag, block, this.#decoding);
  }
}

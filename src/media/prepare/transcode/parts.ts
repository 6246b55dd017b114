/**
 * Encodes a rendition in parts, each of them one chunk. The state of an encoder ends with its part, so a Job that is interrupted loses only
 * the parts that were being encoded, and the next one goes on with the first that is missing.
 */
import { audioFramesFor, toFraction } from '../../rendition/frame-times.ts';
import { type Chunk, chunkKey, type RenditionIndex } from '../../rendition/index.ts';
import { GrowingObject } from '../../storage/growing-object.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AboutRendition, deleteEntries, fitsEntry, hasChunk, readEntry, writeEntry } from './chunk-writer.ts';
import { Indexer } from './indexer.ts';
import { cutParts, planPart } from './part-plan.ts';
import { maxBytes, type Part, type PlanInput } from './plan.ts';
import { buildIndex } from './rendition-output.ts';
import type { TrackHeaders } from './rewriter.ts';
import { type Output, type TranscodeOptions, transcode } from './transcode.ts';

/** Parts that are encoded at a time: each of them keeps a processor busy, and a stream begins with two. */
const PARALLEL_PARTS = 2;

export interface PartsOptions extends Pick<TranscodeOptions, 'ffmpeg' | 'signal' | 'log' | 'onProgress'> {
  storage: Storage;
  renditionKey: string;
  profile: string;
  input: PlanInput;
  /** Pictures of the whole. */
  videoFrames: number;
  /** True where an earlier Job may have had another content: what it has left is kept only where the bytes are the same. */
  keepsSameOnly: boolean;
  /** Called with the frames from the beginning on that can be played, and their bytes. */
  onPrepared: (frames: number, bytes: number) => void;
}

/**
 * Resolves with the index, which is not written yet. Rejects as transcode() does; the parts that are complete stay, and no ffmpeg of
 * another part is running.
 */
export async function makeParts(options: PartsOptions): Promise<RenditionIndex> {
  const { input, videoFrames, profile, onPrepared } = options;
  const { framerate } = input;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const maker = new PartMaker({ ...options, signal });
  const chunks: Chunk[] = [];
  let preparedBytes = 0;
  let done: Promise<void> = Promise.resolve();
  const running: Promise<void>[] = [];
  try {
    for (const part of cutParts(videoFrames, framerate)) {
      if (running.length === PARALLEL_PARTS) await running.shift();
      const made = maker.make(part);
      done = Promise.all([made, done]).then(([chunk]) => {
        chunks.push(chunk);
        preparedBytes += chunk.sizeBytes;
        onPrepared(part.endFrame, preparedBytes);
      });
      // It is awaited in its turn; until then nothing handles its failure.
      done.catch(() => undefined);
      running.push(done);
    }
    await done;
  } catch (error) {
    over.abort(error);
    await maker.settle();
    throw error;
  }
  const [frameRateNum, frameRateDen] = toFraction(framerate);
  return buildIndex(profile, chunks, {
    durationSeconds: videoFrames / framerate,
    video: { frameRateNum, frameRateDen, frames: videoFrames },
    audio: { frames: audioFramesFor(videoFrames, framerate) },
  });
}

class PartMaker {
  readonly #options: PartsOptions;
  readonly #about: AboutRendition;
  readonly #running = new Set<Promise<Chunk>>();
  /** Frames of each part that are there or encoded. */
  readonly #frames = new Map<Part, number>();

  constructor(options: PartsOptions) {
    this.#options = options;
    const { profile, videoFrames, input } = options;
    const [frameRateNum, frameRateDen] = toFraction(input.framerate);
    this.#about = { profile, expectedFrames: videoFrames, video: { frameRateNum, frameRateDen } };
  }

  /** Makes a part, unless it is there. Rejects as transcode() does. */
  make(part: Part): Promise<Chunk> {
    const made = this.#make(part);
    const settle = () => this.#running.delete(made);
    this.#running.add(made);
    made.then(settle, settle);
    return made;
  }

  /** Waits until nothing is being made. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #make(part: Part): Promise<Chunk> {
    const { keepsSameOnly } = this.#options;
    const left = keepsSameOnly ? undefined : await this.#findLeft(part);
    if (left) this.#frames.set(part, left.frames);
    return left ?? (await this.#encode(part));
  }

  /** Returns the chunk that a Job has left, where it fits. The entry of another one is replaced, and others may be of use. */
  async #findLeft({ firstFrame, endFrame }: Part): Promise<Chunk | undefined> {
    const { storage, renditionKey } = this.#options;
    const left = await readEntry(storage, renditionKey, firstFrame);
    if (left === undefined || left === 'unreadable') return undefined;
    const fits = fitsEntry(left, this.#about, { firstFrame, frames: endFrame - firstFrame, delayFrames: 0 });
    return fits && (await hasChunk(storage, renditionKey, left.chunk)) ? left.chunk : undefined;
  }

  async #encode(part: Part): Promise<Chunk> {
    const { storage, renditionKey, ffmpeg, input, videoFrames, signal, log, onProgress } = this.#options;
    const { framerate } = input;
    const seconds = (part.endFrame - part.firstFrame) / framerate;
    const object = await GrowingObject.begin(storage, renditionKey);
    let chunk: Chunk;
    try {
      chunk = await transcode(planPart(input, part), new PartOutput(object, part, framerate), {
        ...{ ffmpeg, framerate, seconds, signal, log },
        most: { seconds, bytes: maxBytes(input, seconds) },
        mending: { sound: true, pauses: true, videoFrames: undefined, part },
        onProgress: (fraction) => {
          this.#frames.set(part, fraction * (part.endFrame - part.firstFrame));
          onProgress?.([...this.#frames.values()].reduce((sum, frames) => sum + frames, 0) / videoFrames);
        },
      });
    } catch (error) {
      await object.discard();
      throw error;
    }
    return this.#publish(object, part, chunk);
  }

  async #publish(object: GrowingObject, part: Part, chunk: Chunk): Promise<Chunk> {
    const { storage, renditionKey, keepsSameOnly } = this.#options;
    try {
      const left = await this.#findLeft(part);
      if (left && (!keepsSameOnly || left.sha256 === chunk.sha256)) {
        await object.discard();
        return left;
      }
      // The chunks behind a chunk of another content are of another content too.
      if (left) await deleteEntries(storage, renditionKey, part.firstFrame);
      // The same bytes under the same key need not be written again, under the hands of a reader.
      if (await hasChunk(storage, renditionKey, chunk)) await object.discard();
      else await object.commit(chunkKey(renditionKey, chunk));
    } catch (error) {
      await object.discard();
      throw error;
    }
    await writeEntry(storage, renditionKey, this.#about, chunk);
    return chunk;
  }
}

/** Proves the bytes of a part, and writes them. */
class PartOutput implements Output<Chunk> {
  readonly #object: GrowingObject;
  readonly #part: Part;
  readonly #framerate: number;
  #indexer: Indexer | undefined;
  #appending: Promise<void> = Promise.resolve();
  bytes = 0;

  constructor(object: GrowingObject, part: Part, framerate: number) {
    this.#object = object;
    this.#part = part;
    this.#framerate = framerate;
  }

  async write(data: Buffer, headers: Readonly<TrackHeaders>): Promise<void> {
    if (data.length === 0) return;
    this.#indexer ??= this.#begin(headers);
    this.#indexer.take(data);
    this.bytes += data.length;
    await this.#appending;
    this.#appending = this.#object.append(data);
    // It is awaited by the next call; until then nothing handles its failure.
    this.#appending.catch(() => undefined);
  }

  #begin({ video, audio }: Readonly<TrackHeaders>): Indexer {
    const { firstFrame, firstSound } = this.#part;
    const middle = firstFrame > 0 && video && audio ? { firstFrame, firstSound, headers: { video, audio } } : undefined;
    return new Indexer(this.#framerate, Number.POSITIVE_INFINITY, middle);
  }

  async end(): Promise<Chunk> {
    await this.#appending;
    return (this.#indexer ?? this.#begin({ video: undefined, audio: undefined })).endPart(this.#part);
  }
}

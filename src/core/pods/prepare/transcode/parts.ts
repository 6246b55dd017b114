/**
 * Encodes a rendition in parts, each of them one chunk. The state of an encoder ends with its part, so a Job that is interrupted loses only
 * the parts that were being encoded, and the next one goes on with the first that is missing.
 */
import { type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import { audioFramesFor, toFraction } from '../../rendition/frame-times.ts';
import { type Chunk, chunkKey, type RenditionIndex } from '../../rendition/index.ts';
import { GrowingObject } from '../../storage/growing-object.ts';
import type { Storage } from '../../storage/storage.ts';
import {
  type AboutRendition,
  deleteChunks,
  fitsEntry,
  hasChunk,
  listChunks,
  readEntry,
  writeEntry,
} from './chunk-writer.ts';
import { Indexer } from './indexer.ts';
import { cutParts, listPartTries, planStandIn } from './part-plan.ts';
import { describeParts, isSamePlan, readPartsPlan, writePartsPlan } from './part-plan-object.ts';
import { PartSchedule } from './part-schedule.ts';
import { maxBytes, type Part, type PlanInput } from './plan.ts';
import { buildIndex } from './rendition-output.ts';
import type { TrackHeaders } from './rewriter.ts';
import { isBroken, type Output, type TranscodeOptions, transcode } from './transcode.ts';

/** Parts that are encoded at a time: each of them keeps a processor busy, and a stream begins with two. A Job that is killed loses them. */
const PARALLEL_PARTS = 2;

/** How often the chunks of other Jobs are counted. A listing of ten hours takes five requests. */
const LOOK_MS = 60_000;

/** A film may lack one part, or so much of its parts: with less than the rest it is another film. */
const MOST_STAND_INS = 0.1;
/** Times that the warning about them names. */
const NAMED_TIMES = 5;

/** Describes the rendition whose parts are made: all, or a range. */
export interface PartMakerOptions extends Pick<TranscodeOptions, 'ffmpeg' | 'signal' | 'log'> {
  storage: Storage;
  renditionKey: string;
  profile: string;
  input: PlanInput;
  /** Pictures of the whole. */
  videoFrames: number;
}

export interface PartsOptions extends PartMakerOptions, Pick<TranscodeOptions, 'onProgress'> {
  /** True where an earlier Job may have had another content: what it has left is kept only where its plan was the same. */
  keepsSameOnly: boolean;
  /** Called with the frames from the beginning on that can be played, and their bytes as far as the chunks of this Job tell. */
  onPrepared: (frames: number, bytes: number | undefined) => void;
  /** Called with the same frames and those that are being encoded; first with what was there before. */
  onMade?: (frames: number) => void;
  /** Called with the number of ranges that other Jobs may make; undefined when there is nothing to share any more. */
  onRanges?: ((ranges: number | undefined) => void) | undefined;
}

/**
 * Makes all parts that are missing, together with other Jobs. Resolves with the index, which is not written yet. Rejects as transcode()
 * does; the parts that are complete stay, and no ffmpeg of another part is running.
 */
export async function makeParts(options: PartsOptions): Promise<RenditionIndex> {
  const { storage, renditionKey, input, videoFrames, profile, log, onPrepared, onMade, onProgress, onRanges } = options;
  const { framerate } = input;
  const kept = await agreeOnPlan(options);
  const keptFrames = countFrames(kept);
  const parts = cutParts(videoFrames, framerate, keptFrames);
  const schedule = new PartSchedule(parts);
  let lookedMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    lookedMs = performance.now();
    for await (const { firstFrame, isEntry } of listChunks(storage, renditionKey))
      if (isEntry) schedule.note(firstFrame);
  };
  await look();
  const isShared = schedule.ranges !== undefined;
  onMade?.(schedule.preparedFrames);
  const chunks = new Map<number, Chunk>();
  const report = () => {
    const frames = schedule.preparedFrames;
    if (frames > 0) onPrepared(frames, estimateBytes(chunks.values(), frames));
    onRanges?.(schedule.ranges);
  };
  report();
  const maker = new PartMaker(options, (encoding) => {
    onProgress?.((keptFrames + schedule.framesThere + encoding) / videoFrames);
    onMade?.(schedule.preparedFrames + encoding);
  });
  const most = Math.max(1, MOST_STAND_INS * parts.length);
  let standIns = 0;
  const makeOrStandIn = async (part: Part): Promise<Chunk> => {
    try {
      return await maker.make(part);
    } catch (error) {
      // A film that cannot begin is refused.
      if (!isBroken(error) || part.firstFrame === 0 || ++standIns > most) throw error;
      log.warn({ err: error, seconds: part.firstFrame / framerate }, 'a part cannot be encoded; black stands in');
      return maker.standIn(part);
    }
  };
  await inParallel(maker, async () => {
    if (isShared && (schedule.leavesRange || performance.now() - lookedMs > LOOK_MS)) await look();
    const part = schedule.take();
    if (!part) return false;
    chunks.set(part.firstFrame, await makeOrStandIn(part));
    schedule.note(part.firstFrame);
    report();
    return true;
  });
  const made = [...kept];
  // Other Jobs have made the missing parts; a part that does not fit is made again.
  for (const part of parts) made.push(chunks.get(part.firstFrame) ?? (await makeOrStandIn(part)));
  const warnings = listWarnings(made, framerate);
  return {
    ...buildIndex(profile, made, {
      durationSeconds: videoFrames / framerate,
      video: { ...readFrameRate(input), frames: videoFrames },
      audio: { frames: audioFramesFor(videoFrames, framerate) },
    }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Returns the warning about chunks that stand in for parts of the source, or lack some of their pictures or sound. */
function listWarnings(chunks: readonly Chunk[], framerate: number): UploadWarning[] {
  const times = chunks
    .filter(({ standsIn, isDamaged }) => standsIn || isDamaged)
    .map(({ firstFrame }) => formatClock(firstFrame / framerate));
  if (times.length === 0) return [];
  const more = times.length > NAMED_TIMES ? ` and ${times.length - NAMED_TIMES} more` : '';
  return [warn('part_replaced', `It begins at ${times.slice(0, NAMED_TIMES).join(', ')}${more}.`)];
}

/** Formats a time as hours, minutes and seconds. */
function formatClock(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Returns the bytes of so many frames, if all are as large as these; undefined without any. */
function estimateBytes(chunks: Iterable<Chunk>, frames: number): number | undefined {
  const sum = { frames: 0, bytes: 0 };
  for (const chunk of chunks) {
    sum.frames += chunk.frames;
    sum.bytes += chunk.sizeBytes;
  }
  return sum.frames === 0 ? undefined : Math.round((sum.bytes * frames) / sum.frames);
}

const countFrames = (chunks: readonly Chunk[]): number => chunks.reduce((sum, { frames }) => sum + frames, 0);

/**
 * Stores how parts are made, for other Jobs. Resolves with the first chunks that an earlier plan made and that stay,
 * since streams may play them. None stay where their content may differ.
 */
async function agreeOnPlan(options: PartsOptions): Promise<Chunk[]> {
  const { storage, renditionKey, input, videoFrames, keepsSameOnly } = options;
  const earlier = await readPartsPlan(storage, renditionKey);
  if (earlier && isSamePlan(earlier, describeParts(input, videoFrames, earlier.keptFrames))) {
    const kept = await listLeft(options, earlier.keptFrames);
    if (countFrames(kept) === earlier.keptFrames) return kept;
  }
  if (keepsSameOnly) await deleteChunks(storage, renditionKey);
  const kept = keepsSameOnly ? [] : await listLeft(options, videoFrames);
  await writePartsPlan(storage, renditionKey, describeParts(input, videoFrames, countFrames(kept)));
  return kept;
}

/** Returns the chunks from the beginning on that are there and fit, up to this frame. */
async function listLeft(options: PartMakerOptions, endFrame: number): Promise<Chunk[]> {
  const { storage, renditionKey } = options;
  const about = describeRendition(options);
  const left: Chunk[] = [];
  for (let firstFrame = 0; firstFrame < endFrame; ) {
    const entry = await readEntry(storage, renditionKey, firstFrame);
    if (entry === undefined || entry === 'unreadable') break;
    const { chunk } = entry;
    const fits = fitsEntry(entry, about, { firstFrame, frames: chunk.frames, delayFrames: 0 });
    if (!fits || firstFrame + chunk.frames > endFrame || !(await hasChunk(storage, renditionKey, chunk))) break;
    left.push(chunk);
    firstFrame += chunk.frames;
  }
  return left;
}

function describeRendition({ profile, videoFrames, input }: PartMakerOptions): AboutRendition {
  return { profile, expectedFrames: videoFrames, video: readFrameRate(input) };
}

function readFrameRate({ framerate }: PlanInput): { frameRateNum: number; frameRateDen: number } {
  const [frameRateNum, frameRateDen] = toFraction(framerate);
  return { frameRateNum, frameRateDen };
}

/** Makes those of these parts that are missing. Resolves with the number that it has made. Rejects as transcode() does. */
export async function makeRangeParts(options: PartMakerOptions, parts: readonly Part[]): Promise<number> {
  const maker = new PartMaker(options);
  const queue = [...parts];
  await inParallel(maker, async () => {
    const part = queue.shift();
    if (part) await maker.make(part);
    return part !== undefined;
  });
  return maker.encoded;
}

/** Repeats `step` until it resolves with false, PARALLEL_PARTS at a time. The first failure ends all, and is thrown. */
async function inParallel(maker: PartMaker, step: () => Promise<boolean>): Promise<void> {
  const repeat = async () => {
    while (await step());
  };
  const all = Array.from({ length: PARALLEL_PARTS }, () => repeat());
  try {
    await Promise.all(all);
  } catch (error) {
    maker.stop(error);
    await Promise.allSettled(all);
    throw error;
  }
}

class PartMaker {
  readonly #options: PartMakerOptions;
  readonly #about: AboutRendition;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #onEncoding: (frames: number) => void;
  /** Frames so far of each part that is being encoded. */
  readonly #encoding = new Map<Part, number>();
  /** Number of parts that it has added. */
  encoded = 0;

  /** `onEncoding`: called with the frames so far of the parts that are not complete. */
  constructor(options: PartMakerOptions, onEncoding: (frames: number) => void = () => undefined) {
    this.#options = options;
    this.#onEncoding = onEncoding;
    this.#signal = AbortSignal.any([options.signal, this.#over.signal]);
    this.#about = describeRendition(options);
  }

  /** Ends what it is encoding. */
  stop(reason: unknown): void {
    this.#over.abort(reason);
  }

  /** Makes a part, unless it is there; one that cannot be encoded is tried again. Rejects as transcode() does. */
  async make(part: Part): Promise<Chunk> {
    this.#signal.throwIfAborted();
    const left = await this.#findLeft(part);
    if (left) return left;
    const tries = listPartTries(this.#options.input, part);
    for (;;) {
      try {
        return await this.#encode(part, tries.shift() ?? []);
      } catch (error) {
        if (!isBroken(error) || tries.length === 0) throw error;
      }
    }
  }

  /** Makes black and silence in the place of a part. Rejects as transcode() does. */
  standIn(part: Part): Promise<Chunk> {
    return this.#encode(part, planStandIn(this.#options.input, part), { standsIn: true });
  }

  /** Returns the chunk that a Job has left, where it fits. The entry of another one is replaced, and others may be of use. */
  async #findLeft({ firstFrame, endFrame }: Part): Promise<Chunk | undefined> {
    const { storage, renditionKey } = this.#options;
    const left = await readEntry(storage, renditionKey, firstFrame);
    // A part that could not be encoded is tried again.
    if (left === undefined || left === 'unreadable' || left.chunk.standsIn) return undefined;
    const fits = fitsEntry(left, this.#about, { firstFrame, frames: endFrame - firstFrame, delayFrames: 0 });
    return fits && (await hasChunk(storage, renditionKey, left.chunk)) ? left.chunk : undefined;
  }

  async #encode(part: Part, args: string[], about: Pick<Chunk, 'standsIn'> = {}): Promise<Chunk> {
    const { storage, renditionKey, ffmpeg, input, log } = this.#options;
    const { framerate } = input;
    const frames = part.endFrame - part.firstFrame;
    const seconds = frames / framerate;
    const damage: Pick<Chunk, 'isDamaged'> = {};
    const object = await GrowingObject.begin(storage, renditionKey);
    try {
      const chunk = await transcode(args, new PartOutput(object, part, framerate), {
        ...{ ffmpeg, framerate, seconds, signal: this.#signal, log },
        most: { seconds, bytes: maxBytes(input, seconds) },
        mending: { sound: true, pauses: true, videoFrames: undefined, part },
        onDamage: () => {
          damage.isDamaged = true;
        },
        onProgress: (fraction) => {
          this.#encoding.set(part, fraction * frames);
          this.#onEncoding([...this.#encoding.values()].reduce((sum, some) => sum + some, 0));
        },
      });
      const left = await this.#findLeft(part);
      if (!left) return await this.#publish(object, { ...chunk, ...about, ...damage });
      // Another Job has been sooner.
      await object.discard();
      return left;
    } catch (error) {
      await object.discard();
      throw error;
    } finally {
      this.#encoding.delete(part);
    }
  }

  async #publish(object: GrowingObject, chunk: Chunk): Promise<Chunk> {
    const { storage, renditionKey } = this.#options;
    // The same bytes under the same key need not be written again, under the hands of a reader.
    if (await hasChunk(storage, renditionKey, chunk)) await object.discard();
    else await object.commit(chunkKey(renditionKey, chunk));
    await writeEntry(storage, renditionKey, this.#about, chunk);
    this.encoded++;
    return chunk;
  }
}

/** Proves the bytes of a part, and writes them. */
export class PartOutput implements Output<Chunk> {
  readonly #object: Pick<GrowingObject, 'append'>;
  readonly #part: Part;
  readonly #framerate: number;
  #indexer: Indexer | undefined;
  #appending: Promise<void> = Promise.resolve();
  bytes = 0;

  constructor(object: Pick<GrowingObject, 'append'>, part: Part, framerate: number) {
    this.#object = object;
    this.#part = part;
    this.#framerate = framerate;
  }

  async write(data: Buffer, headers: Readonly<TrackHeaders>): Promise<void> {
    if (data.length > 0) {
      this.#indexer ??= this.#begin(headers);
      this.#indexer.take(data);
      this.bytes += data.length;
    }
    // The caller uses the memory of the bytes before again, whether it has new ones or none.
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

/** Runs ffmpeg, and writes its FLV, made exact on the way, into a file. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Logger } from '../../../lib/log.ts';
import type { UploadWarning } from '../../../resources/upload/warnings.ts';
import { FlvParser } from '../../rendition/flv.ts';
import { BrokenPromiseError } from '../../rendition/frame-times.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import { PrepareError } from '../failure.ts';
import { type MediaTool, startTool, ToolError } from '../tools/tool.ts';
import { EarlySync } from './early-sync.ts';
import { Indexer } from './indexer.ts';
import { encodedBytes, encodeTags, fileHeader, type Mending, type NewTag, Rewriter } from './rewriter.ts';

/** ffmpeg hangs when it writes nothing for this long: even 2160p on a slow machine takes a tenth of it for a frame. */
export const STALL_MS = 180_000;
/** One write per tag took 26 s for a copy of 730 MB, batches took 6 s (single runs on a busy machine). */
const BATCH_BYTES = 2 ** 20;

export interface Made {
  index: RenditionIndex;
  /** AAC frames of silence added at the end. */
  silentFrames: number;
  /** Warnings found during the work; the index keeps them for all users of the rendition. */
  warnings?: UploadWarning[];
}

export interface Most {
  seconds: number;
  bytes: number;
}

/** Throws BrokenPromiseError when more has come out than the source promised. */
export function checkMost(seconds: number, bytes: number, most: Most): void {
  if (seconds > most.seconds) throw new BrokenPromiseError(`it lasts more than ${Math.round(most.seconds)} s`);
  if (bytes > most.bytes) throw new BrokenPromiseError(`it has more than ${most.bytes} bytes`);
}

export interface TranscodeOptions {
  ffmpeg: MediaTool;
  profile: string;
  /** Frames per second of the output; undefined for a rendition of sound alone. */
  framerate: number | undefined;
  /** Expected length, for progress. */
  seconds: number;
  /** Limits of the output. */
  most: Most;
  mending?: Mending;
  signal: AbortSignal;
  log: Logger;
  /** Called with 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Time without a byte from ffmpeg after which it is given up. */
  stallMs?: number;
}

/**
 * Writes the rendition to `path` and resolves with its index. Rejects with BrokenPromiseError or FlvError when the
 * output is no rendition, PrepareError (prepare_failed, prepare_timeout), a file system error, or the signal's reason.
 * ffmpeg has ended in every case.
 */
export async function transcode(args: string[], path: string, options: TranscodeOptions): Promise<Made> {
  const { framerate, profile, seconds, log, onProgress, stallMs = STALL_MS } = options;
  const file = await open(path, 'w');
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const stalled = () =>
    stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress. Import the file again.'));
  const timer = setTimeout(stalled, stallMs);
  let ended: Promise<unknown> | undefined;
  try {
    const ffmpeg = startTool(options.ffmpeg, args, signal);
    ended = ffmpeg.done.catch(() => undefined);
    const rewriter = new Rewriter(framerate, options.mending);
    const writer = new Writer(file, new Indexer(profile, framerate));
    const parser = new FlvParser();
    const rewrite = (bytes: Buffer) => parser.push(bytes).flatMap((tag) => rewriter.push(tag));
    await writer.write([fileHeader(framerate)]);
    for await (const bytes of inBatches(ffmpeg.stdout, () => timer.refresh())) {
      await writer.write(rewrite(bytes));
      checkMost(rewriter.seconds, writer.bytes, options.most);
      onProgress?.(Math.min(1, rewriter.seconds / seconds));
    }
    // The output is complete only when ffmpeg says so.
    await ffmpeg.done;
    parser.end();
    await writer.write(rewriter.end());
    const { silentFrames } = rewriter;
    if (silentFrames > 0) log.info({ silentFrames }, 'audio filled with silence');
    return { index: await writer.end(), silentFrames };
  } catch (error) {
    options.signal.throwIfAborted();
    stop.signal.throwIfAborted();
    throw failure(error);
  } finally {
    clearTimeout(timer);
    stop.abort(new Error('the transcode is over'));
    await ended;
    await file.close();
  }
}

/** Joins small pieces; calls `onPiece` for each. */
async function* inBatches(stream: AsyncIterable<Buffer>, onPiece: () => void): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    onPiece();
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < BATCH_BYTES) continue;
    yield Buffer.concat(pieces, bytes);
    pieces = [];
    bytes = 0;
  }
  yield Buffer.concat(pieces, bytes);
}

/** Appends tags to a file and passes the bytes to the indexer. While one batch is being written, the next is made. */
class Writer {
  readonly #file: FileHandle;
  readonly #indexer: Indexer;
  /** Two buffers take turns: allocating one for each batch kept the garbage collector busy for a third of the time. */
  #buffers = [Buffer.alloc(0), Buffer.alloc(0)];
  #writing: Promise<void> = Promise.resolve();
  readonly #sync: EarlySync;

  constructor(file: FileHandle, indexer: Indexer) {
    this.#file = file;
    this.#sync = new EarlySync(file);
    this.#indexer = indexer;
  }

  /** Number of bytes handed over. */
  bytes = 0;

  async write(what: readonly NewTag[] | readonly [Buffer]): Promise<void> {
    const bytes = this.#encode(what);
    this.#indexer.push(bytes);
    this.bytes += bytes.length;
    await this.#writing;
    this.#writing = this.#append(bytes);
    // The write is awaited before the next one; until then nothing handles its failure.
    this.#writing.catch(() => undefined);
  }

  #encode(what: readonly NewTag[] | readonly [Buffer]): Buffer {
    if (Buffer.isBuffer(what[0])) return what[0];
    const tags = what as readonly NewTag[];
    const [buffer = Buffer.alloc(0), other = buffer] = this.#buffers;
    const size = encodedBytes(tags);
    const target = buffer.length < size ? Buffer.allocUnsafeSlow(2 * size) : buffer;
    this.#buffers = [other, target];
    return target.subarray(0, encodeTags(tags, target));
  }

  async #append(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    this.#sync.wrote(bytes.length);
  }

  async end(): Promise<RenditionIndex> {
    await this.#writing;
    return this.#indexer.end();
  }
}

export function failure(error: unknown): unknown {
  if (error instanceof BrokenPromiseError) return error;
  if (!(error instanceof ToolError)) return error;
  return new PrepareError('prepare_failed', 'Import the file again.', { cause: error, again: error.killed });
}

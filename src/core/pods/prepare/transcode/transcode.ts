/** Runs ffmpeg, and writes its FLV, made exact on the way, into storage. */
import type { Logger } from '../../../lib/log.ts';
import { settlesWithin } from '../../../lib/settle-within.ts';
import { FlvError, FlvParser } from '../../rendition/flv.ts';
import { BrokenPromiseError } from '../../rendition/frame-times.ts';
import { PrepareError } from '../failure/failure.ts';
import { type MediaTool, startTool, ToolError, type ToolInput } from '../tools/tool.ts';
import {
  encodedBytes,
  encodeTags,
  fileHeader,
  type Mending,
  type NewTag,
  Rewriter,
  type TrackHeaders,
} from './rewriter.ts';

/** ffmpeg hangs when it writes nothing for this long: even 2160p on a slow machine takes a tenth of it for a frame. */
const STALL_MS = 180_000;
/** One write per tag took 26 s for a copy of 730 MB, batches took 6 s (single runs on a busy machine). */
const BATCH_BYTES = 2 ** 20;
const BATCH_MS = 250;

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
  /** Called where some of the source could not be decoded. */
  onDamage?: () => void;
  /** Opens the bytes for ffmpeg's stdin. It may wait for them as long as they take. */
  openInput?: ((signal: AbortSignal) => ToolInput) | undefined;
}

/** Takes a rendition, or a part of one. */
export interface Output<Made> {
  /** Bytes of whole tags so far. */
  readonly bytes: number;
  /** Takes whole tags, which stay as they are until the next call has resolved. `headers` describe the tracks from the first frame on. */
  write(data: Buffer, headers: Readonly<TrackHeaders>): Promise<unknown>;
  end(): Promise<Made>;
}

/**
 * Writes the rendition to `output` and resolves with what that makes of it. Rejects with BrokenPromiseError or FlvError when what ffmpeg
 * writes is no rendition, PrepareError (prepare_failed, prepare_timeout), StorageError, or the signal's reason. ffmpeg has ended
 * in every case.
 */
export async function transcode<Made>(args: string[], output: Output<Made>, options: TranscodeOptions): Promise<Made> {
  const { framerate, seconds, log, onProgress, onDamage, mending } = options;
  const rewriter = new Rewriter(framerate, mending);
  const { headers } = rewriter;
  const parser = new FlvParser();
  const buffers = new TagBuffers();
  const stderr = await runFfmpeg(args, options, async (stdout) => {
    if (!mending?.part?.firstFrame) await output.write(fileHeader(framerate), headers);
    for await (const bytes of inBatches(stdout)) {
      await output.write(buffers.encode(parser.push(bytes).flatMap((tag) => rewriter.push(tag))), headers);
      checkMost(rewriter.seconds, output.bytes, options.most);
      onProgress?.(Math.min(1, rewriter.seconds / seconds));
    }
    parser.end();
  });
  await output.write(buffers.encode(rewriter.end()), headers);
  const { silentFrames } = rewriter;
  if (silentFrames > 0) log.info({ silentFrames }, 'audio filled with silence');
  if (countUndecoded(stderr) >= NOTICED_PACKETS) {
    log.warn({ stderr }, 'some of the source cannot be decoded');
    onDamage?.();
  }
  return output.end();
}

/** So many packets are a quarter of a second. The tail of stderr has room for twice as many. */
const NOTICED_PACKETS = 7;
/** Messages of ffmpeg 5 and of later ones: a packet gave no frame. */
const UNDECODED = /^(?:Error while decoding stream|.*Error submitting packet to decoder)/gm;

/** Counts the packets that could not be decoded, as far as the tail of ffmpeg's stderr names them. */
const countUndecoded = (stderr: string): number => stderr.match(UNDECODED)?.length ?? 0;

/**
 * Starts ffmpeg and lets `read` read its stdout. Resolves with the tail of stderr when both have ended well: the output
 * is complete only if ffmpeg succeeds. Rejects with what `read` throws, PrepareError, or the signal's reason, after
 * ffmpeg has ended.
 */
export async function runFfmpeg(
  args: string[],
  options: Pick<TranscodeOptions, 'ffmpeg' | 'signal' | 'stallMs' | 'openInput'>,
  read: (stdout: AsyncIterable<Buffer>) => Promise<void>,
): Promise<string> {
  const { ffmpeg, stallMs = STALL_MS } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let waitsForInput = false;
  const stalled = () => {
    if (waitsForInput) timer.refresh();
    else stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress.'));
  };
  const timer = setTimeout(stalled, stallMs);
  const onWait = (waits: boolean) => {
    waitsForInput = waits;
    timer.refresh();
  };
  const opened = options.openInput?.(signal);
  const input = opened && watchInput(opened, { onWait, onFailure: (error) => stop.abort(error) });
  let ended: Promise<unknown> | undefined;
  const watched = async function* (stdout: AsyncIterable<Buffer>) {
    for await (const piece of stdout) {
      timer.refresh();
      yield piece;
    }
  };
  try {
    const tool = startTool(ffmpeg, args, signal, { input });
    ended = tool.done.catch(() => undefined);
    await read(watched(tool.stdout));
    return await tool.done;
  } catch (error) {
    options.signal.throwIfAborted();
    stop.signal.throwIfAborted();
    throw toPrepareError(error);
  } finally {
    clearTimeout(timer);
    stop.abort(new Error('ffmpeg is no longer needed'));
    await ended;
  }
}

/** Passes input on. Calls `onWait` when it begins and ends to wait for more, and `onFailure` with an error of the input. */
async function* watchInput(
  input: ToolInput,
  { onWait, onFailure }: { onWait: (waits: boolean) => void; onFailure: (error: unknown) => void },
): AsyncGenerator<Buffer> {
  onWait(true);
  try {
    for await (const bytes of input) {
      onWait(false);
      yield bytes;
      onWait(true);
    }
  } catch (error) {
    onFailure(error);
    throw error;
  } finally {
    onWait(false);
  }
}

/** Joins small pieces. All output is passed on in time, also while the encoder writes nothing more: its input may be paused. */
async function* inBatches(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let dueMs = 0;
  const take = (): Buffer => {
    const batch = Buffer.concat(pieces, bytes);
    pieces = [];
    bytes = 0;
    return batch;
  };
  const source = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = source.next();
      if (bytes > 0 && !(await settlesWithin(next, Math.max(0, dueMs - performance.now())))) yield take();
      const { done, value } = await next;
      if (done) break;
      if (bytes === 0) dueMs = performance.now() + BATCH_MS;
      pieces.push(value);
      bytes += value.length;
      if (bytes >= BATCH_BYTES || performance.now() >= dueMs) yield take();
    }
    yield take();
  } finally {
    // A reader that has failed waits for no more bytes.
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
}

/** Two buffers take turns: allocating one for each batch kept the garbage collector busy for a third of the time. */
class TagBuffers {
  #buffers = [Buffer.alloc(0), Buffer.alloc(0)];

  /** The result is valid until the next call but one. */
  encode(tags: readonly NewTag[]): Buffer {
    const [buffer = Buffer.alloc(0), other = buffer] = this.#buffers;
    const size = encodedBytes(tags);
    const target = buffer.length < size ? Buffer.allocUnsafeSlow(2 * size) : buffer;
    this.#buffers = [other, target];
    return target.subarray(0, encodeTags(tags, target));
  }
}

/** A tool that failed is a preparation that failed. */
export function toPrepareError(error: unknown): unknown {
  if (!(error instanceof ToolError)) return error;
  return new PrepareError('prepare_failed', undefined, { cause: error, again: error.killed });
}

/** True for an error that another attempt does not change, but perhaps another way of making the rendition. */
export function isBroken(error: unknown): error is Error {
  if (error instanceof PrepareError) return error.code === 'prepare_failed' && !error.again;
  return error instanceof BrokenPromiseError || error instanceof FlvError;
}

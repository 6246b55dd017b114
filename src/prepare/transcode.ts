/** Runs a plan: ffmpeg's FLV, made exact on the way, into a file. */
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '../log.ts';
import { FlvParser } from '../rendition/flv.ts';
import { PrepareError } from './failure.ts';
import type { Plan } from './plan.ts';
import { Rewriter } from './rewrite.ts';
import { BrokenPromiseError } from './slots.ts';
import { startTool, ToolError } from './tool.ts';

/** ffmpeg that gives nothing for so long hangs: even 2160p on a slow machine makes a frame in a tenth of it. */
const STALL_MS = 180_000;
/** One write per tag took 26 s for a copy of 730 MB, batches took 6 s (single runs on a busy machine). */
const BATCH_BYTES = 2 ** 20;

export interface TranscodeOptions {
  ffmpeg: string;
  framerate: number | undefined;
  signal: AbortSignal;
  log: Logger;
  /** 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/**
 * Writes the rendition to `path`. Rejects with BrokenPromiseError when what comes out is no rendition, PrepareError
 * (prepare_failed, prepare_timeout), a file system error, or the signal's reason. ffmpeg has ended in every case.
 */
export async function transcode(plan: Plan, path: string, options: TranscodeOptions): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const ffmpeg = startTool(options.ffmpeg, plan.args, signal);
  const rewriter = new Rewriter(options.framerate);
  const stalled = () => stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress.'));
  const timer = setTimeout(stalled, STALL_MS);
  const rewritten = async function* (chunks: Readable) {
    const parser = new FlvParser();
    const batch: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      timer.refresh();
      for (const tag of parser.push(chunk)) batch.push(...rewriter.push(tag));
      bytes += chunk.length;
      if (bytes >= BATCH_BYTES) {
        yield Buffer.concat(batch);
        batch.length = bytes = 0;
      }
      options.onProgress?.(Math.min(1, rewriter.seconds / plan.durationSeconds));
    }
    // What came out is only whole when ffmpeg says so.
    await ffmpeg.done;
    parser.end();
    yield Buffer.concat([...batch, ...rewriter.end()]);
  };
  try {
    await pipeline(ffmpeg.stdout, rewritten, createWriteStream(path), { signal });
    if (rewriter.silentFrames > 0)
      options.log.info({ silentFrames: rewriter.silentFrames }, 'sound filled with silence');
  } catch (error) {
    signal.throwIfAborted();
    throw failure(error);
  } finally {
    clearTimeout(timer);
    stop.abort(new Error('the transcode is over'));
    await ffmpeg.done.catch(() => undefined);
  }
}

function failure(error: unknown): unknown {
  if (error instanceof BrokenPromiseError) return error;
  if (!(error instanceof ToolError)) return error;
  return new PrepareError('prepare_failed', '', { cause: error, again: error.killed });
}

/** Runs a plan: ffmpeg's FLV, made exact on the way, into a file. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Logger } from '../log.ts';
import { FlvParser } from '../rendition/flv.ts';
import type { RenditionIndex } from '../rendition/index.ts';
import type { Framerate } from '../streams/profile.ts';
import { PrepareError } from './failure.ts';
import { Indexer } from './index-file.ts';
import type { Plan } from './plan.ts';
import { encodeTags, fileHeader, type NewTag, Rewriter } from './rewrite.ts';
import { BrokenPromiseError } from './slots.ts';
import { startTool, ToolError } from './tool.ts';

/** ffmpeg that gives nothing for so long hangs: even 2160p on a slow machine makes a frame in a tenth of it. */
const STALL_MS = 180_000;
/** One write per tag took 26 s for a copy of 730 MB, batches took 6 s (single runs on a busy machine). */
const BATCH_BYTES = 2 ** 20;

/** What is written is sent on to the disk in steps of this size, so that little is left to wait for at the end. */
const SYNC_BYTES = 64 * 2 ** 20;

export interface Made {
  index: RenditionIndex;
  /** AAC frames of silence that had to be added at the end. */
  silentFrames: number;
}

export interface TranscodeOptions {
  ffmpeg: string;
  profile: string;
  framerate: Framerate | undefined;
  signal: AbortSignal;
  log: Logger;
  /** 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Without a byte from ffmpeg for so long it is given up. */
  stallMs?: number;
}

/**
 * Writes the rendition to `path` and answers its index. Rejects with BrokenPromiseError or FlvError when what comes out is
 * no rendition, PrepareError (prepare_failed, prepare_timeout), a file system error, or the signal's reason. ffmpeg has
 * ended in every case.
 */
export async function transcode(plan: Plan, path: string, options: TranscodeOptions): Promise<Made> {
  const { framerate, profile, log, onProgress, stallMs = STALL_MS } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const ffmpeg = startTool(options.ffmpeg, plan.args, signal);
  const rewriter = new Rewriter(framerate);
  const indexer = new Indexer(profile, framerate);
  const stalled = () => stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress.'));
  const timer = setTimeout(stalled, stallMs);
  const file = await open(path, 'w');
  try {
    const write = writer(file, indexer);
    await write(fileHeader(framerate));
    const parser = new FlvParser();
    let batch: NewTag[] = [];
    let bytes = 0;
    for await (const chunk of ffmpeg.stdout as AsyncIterable<Buffer>) {
      timer.refresh();
      for (const tag of parser.push(chunk)) for (const ready of rewriter.push(tag)) batch.push(ready);
      bytes += chunk.length;
      if (bytes < BATCH_BYTES) continue;
      await write(encodeTags(batch));
      onProgress?.(Math.min(1, rewriter.seconds / plan.durationSeconds));
      batch = [];
      bytes = 0;
    }
    // What came out is only whole when ffmpeg says so.
    await ffmpeg.done;
    parser.end();
    await write(encodeTags([...batch, ...rewriter.end()]));
    const { silentFrames } = rewriter;
    if (silentFrames > 0) log.info({ silentFrames }, 'sound filled with silence');
    return { index: indexer.end(), silentFrames };
  } catch (error) {
    signal.throwIfAborted();
    throw failure(error);
  } finally {
    clearTimeout(timer);
    stop.abort(new Error('the transcode is over'));
    await ffmpeg.done.catch(() => undefined);
    await file.close();
  }
}

/** Appends to a file what the indexer has seen. */
function writer(file: FileHandle, indexer: Indexer): (bytes: Buffer) => Promise<void> {
  let unsynced = 0;
  let syncing: Promise<void> | undefined;
  return async (bytes) => {
    indexer.push(bytes);
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    unsynced += bytes.length;
    if (unsynced < SYNC_BYTES || syncing) return;
    unsynced = 0;
    // Whoever publishes the file syncs it in the end and hears of what fails then.
    syncing = file
      .datasync()
      .catch(() => undefined)
      .finally(() => {
        syncing = undefined;
      });
  };
}

function failure(error: unknown): unknown {
  if (error instanceof BrokenPromiseError) return error;
  if (!(error instanceof ToolError)) return error;
  return new PrepareError('prepare_failed', '', { cause: error, again: error.killed });
}

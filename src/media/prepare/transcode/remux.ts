/**
 * Remuxes a source that only needs another container: ffmpeg's output is the rendition, and is proven, promise by
 * promise, on its way into the file. Nothing is repaired here: an inexact result takes the long way.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { MAX_TAG_BYTES } from '../../rendition/flv.ts';
import { PrepareError } from '../failure.ts';
import { startTool } from '../tools/tool.ts';
import { EarlySync } from './early-sync.ts';
import { Indexer } from './indexer.ts';
import { checkMost, failure, type Made, STALL_MS, type TranscodeOptions } from './transcode.ts';

const BATCH_BYTES = 2 ** 20;

/** `args` make ffmpeg write the rendition to its stdout. Resolves and rejects as transcode() does. */
export async function remux(args: string[], path: string, options: TranscodeOptions): Promise<Made> {
  const { ffmpeg, profile, framerate, seconds, onProgress, stallMs = STALL_MS } = options;
  const file = await open(path, 'w');
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const stalled = () =>
    stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress. Import the file again.'));
  const timer = setTimeout(stalled, stallMs);
  let ended: Promise<unknown> | undefined;
  try {
    const tool = startTool(ffmpeg, args, signal);
    ended = tool.done.catch(() => undefined);
    const indexer = new Indexer(profile, framerate);
    const onBatch = (bytes: number) => {
      timer.refresh();
      const done = framerate ? indexer.videoFrames / framerate : 0;
      checkMost(done, bytes, options.most);
      if (framerate && seconds > 0) onProgress?.(Math.min(1, done / seconds));
    };
    await copyProven(tool.stdout, file, indexer, onBatch);
    await tool.done;
    return { index: indexer.end(), silentFrames: 0 };
  } catch (error) {
    options.signal.throwIfAborted();
    stop.signal.throwIfAborted();
    throw failure(error);
  } finally {
    clearTimeout(timer);
    stop.abort(new Error('the remux is over'));
    await ended;
    await file.close();
  }
}

/** Calls `onBatch` after each batch with the bytes so far. */
async function copyProven(
  from: Readable,
  file: FileHandle,
  indexer: Indexer,
  onBatch: (bytes: number) => void,
): Promise<void> {
  const sync = new EarlySync(file);
  // One buffer serves all batches: at this speed, new ones would cost as much as the work on them. It begins with the
  // rest of an incomplete tag.
  const buffer = Buffer.allocUnsafeSlow(MAX_TAG_BYTES + BATCH_BYTES);
  let kept = 0;
  let fresh = 0;
  let bytes = 0;
  const flush = async () => {
    const end = kept + fresh;
    const written = writeAll(file, buffer.subarray(kept, end));
    // The write is awaited below; a broken promise comes first.
    written.catch(() => undefined);
    const used = indexer.parse(buffer.subarray(0, end), fresh);
    await written;
    sync.wrote(fresh);
    bytes += fresh;
    kept = buffer.copy(buffer, 0, used, end);
    fresh = 0;
    onBatch(bytes);
  };
  for await (const piece of from as AsyncIterable<Buffer>) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.copy(buffer, kept + fresh, at, at + BATCH_BYTES - fresh);
      at += taken;
      fresh += taken;
      if (fresh === BATCH_BYTES) await flush();
    }
  }
  if (fresh > 0) await flush();
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

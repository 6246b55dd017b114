/**
 * The short way for a source that needs no change but of its container: ffmpeg writes the file itself, and what it writes is
 * proven, promise by promise, while it grows. Nothing is mended here: whatever is not exact goes the long way.
 */
import { open } from 'node:fs/promises';
import { sleep } from '../clock.ts';
import { MAX_TAG_BYTES } from '../rendition/flv.ts';
import { EarlySync } from './disk.ts';
import { PrepareError } from './failure.ts';
import { Indexer } from './index-file.ts';
import { startTool } from './tool.ts';
import { checkMost, failure, type Made, STALL_MS, type TranscodeOptions } from './transcode.ts';

const READ_BYTES = 4 * 2 ** 20;
/** ffmpeg writes megabytes in this time; to look more often would only keep it from its work. */
const LOOK_MS = 10;

/** `args` make ffmpeg write the rendition to `path`, where a file is. Resolves and rejects as transcode() does. */
export async function remux(args: string[], path: string, options: TranscodeOptions): Promise<Made> {
  const { ffmpeg, profile, framerate, seconds, onProgress, stallMs = STALL_MS } = options;
  const file = await open(path, 'r');
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const stalled = () => stop.abort(new PrepareError('prepare_timeout', 'ffmpeg made no progress.'));
  const timer = setTimeout(stalled, stallMs);
  let ended: Promise<unknown> | undefined;
  try {
    const tool = startTool(ffmpeg, args, signal);
    let running = true;
    ended = tool.done.then(
      () => (running = false),
      () => (running = false),
    );
    tool.stdout.resume();
    const sync = new EarlySync(file);
    const indexer = new Indexer(profile, framerate);
    // One buffer for all: at this pace, new ones would cost as much as what is done with them.
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES + MAX_TAG_BYTES);
    for (let at = 0, kept = 0; ; ) {
      // Asked before the look: what is there after the end is all there is.
      const last = !running;
      const { bytesRead } = await file.read(buffer, kept, READ_BYTES, at);
      if (bytesRead > 0) {
        timer.refresh();
        at += bytesRead;
        sync.wrote(bytesRead);
        const end = kept + bytesRead;
        const used = indexer.parse(buffer.subarray(0, end), bytesRead);
        kept = buffer.copy(buffer, 0, used, end);
        checkMost(framerate ? indexer.videoFrames / framerate : 0, at, options.most);
        if (framerate && seconds > 0) onProgress?.(Math.min(1, indexer.videoFrames / framerate / seconds));
      } else if (last) break;
      if (bytesRead < READ_BYTES && !last) await sleep(LOOK_MS, signal);
    }
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

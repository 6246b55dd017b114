/**
 * Remuxes a source that only needs another container: ffmpeg's output is the rendition, and is proven, promise by
 * promise, on its way into storage. Nothing is repaired here: an inexact result takes the long way.
 */
import { MAX_TAG_BYTES } from '../../rendition/flv.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import type { RenditionOutput } from './rendition-output.ts';
import { checkMost, runFfmpeg, type TranscodeOptions } from './transcode.ts';

const BATCH_BYTES = 2 ** 20;

/** `args` make ffmpeg write the rendition to its stdout. Resolves and rejects as transcode() does. */
export async function remux(
  args: string[],
  output: RenditionOutput,
  options: TranscodeOptions,
): Promise<RenditionIndex> {
  const { framerate, seconds, onProgress } = options;
  const onBatch = () => {
    const done = framerate ? output.frames / framerate : 0;
    checkMost(done, output.bytes, options.most);
    if (framerate && seconds > 0) onProgress?.(Math.min(1, done / seconds));
  };
  await runFfmpeg(args, options, (stdout) => copyProven(stdout, output, onBatch));
  return output.end();
}

async function copyProven(from: AsyncIterable<Buffer>, output: RenditionOutput, onBatch: () => void): Promise<void> {
  // Two buffers serve all batches, in turns: at this speed, new ones would cost as much as the work on them. Each begins with
  // the rest of an incomplete tag.
  const allocate = () => Buffer.allocUnsafeSlow(MAX_TAG_BYTES + BATCH_BYTES);
  let [buffer, other] = [allocate(), allocate()];
  let kept = 0;
  let fresh = 0;
  const flush = async () => {
    const end = kept + fresh;
    const used = await output.write(buffer.subarray(0, end));
    kept = buffer.copy(other, 0, used, end);
    fresh = 0;
    [buffer, other] = [other, buffer];
    onBatch();
  };
  for await (const piece of from) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.copy(buffer, kept + fresh, at, at + BATCH_BYTES - fresh);
      at += taken;
      fresh += taken;
      if (fresh === BATCH_BYTES) await flush();
    }
  }
  if (fresh > 0) await flush();
}

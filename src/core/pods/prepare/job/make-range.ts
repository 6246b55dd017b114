/** Makes one range of a rendition, by the plan of the Job that makes the whole. */
import type { PrepareTask } from '../../../protocol/task.ts';
import { RANGE_CHUNKS } from '../../rendition/index.ts';
import type { JobContext } from '../steps/context.ts';
import { findRendition } from '../steps/store.ts';
import { cutParts } from '../transcode/part-plan.ts';
import { readPartsPlan } from '../transcode/part-plan-object.ts';
import { makeRangeParts } from '../transcode/parts.ts';
import { isBroken } from '../transcode/transcode.ts';
import { withSource } from './with-source.ts';

type RangeTask = Extract<PrepareTask, { action: 'range' }>;

/**
 * Makes the parts of a range that are missing; the Job that makes the whole writes the index. Resolves with the number of parts that it has
 * made: 0 where there is no plan, or no plan any more. Rejects with StorageError or the signal's reason.
 */
export async function makeRange(task: RangeTask, range: number, context: JobContext): Promise<number> {
  const { storage, tools, signal, log } = context;
  const { renditionKey, profile } = task;
  const plan = (await findRendition(task, storage)) ? undefined : await readPartsPlan(storage, renditionKey);
  if (!plan) return 0;
  const { input, videoFrames, keptFrames } = plan;
  const parts = cutParts(videoFrames, input.framerate, keptFrames).slice(
    range * RANGE_CHUNKS,
    (range + 1) * RANGE_CHUNKS,
  );
  if (parts.length === 0) return 0;
  const work = { storage, renditionKey, profile, videoFrames, ffmpeg: tools.ffmpeg, signal, log };
  try {
    return await withSource(storage, task, (path) => makeRangeParts({ ...work, input: { ...input, path } }, parts));
  } catch (error) {
    if (!isBroken(error)) throw error;
    log.warn({ err: error, range }, 'a part cannot be encoded; the Job that makes the whole decides what to do');
    return 0;
  }
}

/** Makes the chunks of a rendition: the fourth step. */

import type { MediaLimits } from '../../../protocol/media-limits.ts';
import { type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import { BrokenPromiseError, FormatChangeError } from '../../rendition/frame-times.ts';
import { planKey, type RenditionIndex } from '../../rendition/index.ts';
import { PrepareError } from '../failure/failure.ts';
import { longestFor } from '../inspect/check-limits.ts';
import { keepsTime } from '../inspect/source.ts';
import { PART_SECONDS } from '../transcode/part-plan.ts';
import { makeParts } from '../transcode/parts.ts';
import { maxBytes, type Plan, type PlanInput, remuxArgs } from '../transcode/plan.ts';
import { remux } from '../transcode/remux.ts';
import { RenditionOutput, type RenditionOutputOptions } from '../transcode/rendition-output.ts';
import { isBroken, type Most, transcode } from '../transcode/transcode.ts';
import type { JobContext, Target } from './context.ts';
import type { Way } from './plan.ts';
import { PreparedReport } from './prepared-report.ts';

/** A copy that broke a promise, or a broken copy: another way may work. */
export class BrokenCopyError extends Error {}

/**
 * Makes the rendition in the first way that works. Resolves with its index, which is not written yet. Rejects with PrepareError,
 * StorageError, what `ways` throws or the signal's reason; chunks may then be there, and the next attempt keeps them.
 */
export async function makeFirst(
  ways: AsyncIterable<Way> | Iterable<Way>,
  target: Target,
  context: JobContext,
): Promise<RenditionIndex> {
  let failure: unknown;
  for await (const way of ways) {
    try {
      const index = await make(way, target, context);
      if (!(failure instanceof FormatChangeError)) return index;
      return { ...index, warnings: [...(index.warnings ?? []), warn('media_changes')] };
    } catch (error) {
      if (!(error instanceof BrokenCopyError)) throw error;
      context.log.info({ reason: error.message }, 'the copy is not a valid rendition; another way follows');
      // A header may be wrong about media that never changes.
      failure = way.assumption ? undefined : error.cause;
    }
  }
  // The last way encodes everything, and fails with an error of its own.
  throw failure;
}

/** Rejects with BrokenCopyError where another way may work. */
async function make(way: Way, target: Target, context: JobContext): Promise<RenditionIndex> {
  const { video, audio, durationSeconds } = way.plan;
  context.log.info({ video, audio, durationSeconds }, 'making the rendition');
  if (!way.isInParts) return makeWhole(way, target, context);
  const made = await makeInParts(way, target, context);
  // Streams may be playing parts: they are of this source, and keep their places.
  return made ?? makeWhole(way, { ...target, keepsSameOnly: false }, context, { chunkSeconds: PART_SECONDS });
}

/** Resolves with undefined where one encoder has to make the whole. */
async function makeInParts(way: Way, target: Target, context: JobContext): Promise<RenditionIndex | undefined> {
  const { storage, tools, signal, log, onProgress, onPrepared, onRanges } = context;
  const { renditionKey, profile, keepsSameOnly = false } = target;
  const report = new PreparedReport(way, onPrepared);
  const { input, frames: videoFrames } = way;
  try {
    return await makeParts({
      ...{ storage, renditionKey, profile, keepsSameOnly, input, videoFrames, ffmpeg: tools.ffmpeg, signal, log },
      onMade: (frames) => report.noteMade(frames),
      onPrepared: (frames, bytes) => report.report(frames, bytes),
      onRanges,
      ...(onProgress && { onProgress }),
    });
  } catch (error) {
    if (!isBroken(error)) throw error;
    log.warn({ err: error }, 'the rendition cannot be encoded in parts; one encoder makes it');
    onRanges?.(undefined);
    await storage.delete(planKey(renditionKey));
    return undefined;
  }
}

/** Makes a rendition by one ffmpeg. Chunks that can be played already are right, each by itself: they stay where this fails. */
async function makeWhole(
  way: Way,
  target: Target,
  context: JobContext,
  chunks: Pick<RenditionOutputOptions, 'chunkSeconds'> = {},
): Promise<RenditionIndex> {
  const { storage, signal } = context;
  const { renditionKey, profile, keepsSameOnly = false } = target;
  const { framerate, frames: expectedFrames, assumption } = way;
  const report = new PreparedReport(way, context.onPrepared);
  report.noteMade(0);
  const output = new RenditionOutput({
    ...{ storage, renditionKey, keepsSameOnly, ...chunks, profile, framerate, expectedFrames },
    provisional: assumption !== undefined,
    onPrepared: (frames, bytes) => report.report(frames, bytes),
  });
  const over = new AbortController();
  // A source that cannot be proved has its chunks approved at the end.
  const proved = assumption
    ?.prove?.(AbortSignal.any([signal, over.signal]))
    .then((isRight) => (isRight ? output.approve() : undefined))
    .catch(() => undefined);
  try {
    const made = await write(way, output, report, context);
    await output.approve();
    return made;
  } catch (error) {
    over.abort();
    await proved;
    await output.stop();
    const judged = judgeFailure(error, way.plan);
    if (judged instanceof BrokenCopyError) await output.dropUnlisted();
    throw judged;
  } finally {
    over.abort();
    await proved;
  }
}

/** Runs ffmpeg into `output`. Rejects as transcode() does, and with BrokenPromiseError where an assumption was wrong. */
async function write(
  { input, plan, framerate, rate, assumption, openInput }: Way,
  output: RenditionOutput,
  report: PreparedReport,
  { tools, signal, log, limits, onProgress }: JobContext,
): Promise<RenditionIndex> {
  const { durationSeconds: seconds, videoFrames, delayFrames, isCounted } = plan;
  const pauses = keepsTime(input.source);
  const warnings: UploadWarning[] = [];
  const options = {
    ...{ ffmpeg: tools.ffmpeg, signal, log, openInput, framerate, seconds },
    most: limitOutput(input, seconds, limits),
    mending: { sound: plan.audio !== 'copy', pauses, videoFrames, delayFrames, isCounted },
    onDamage: () => warnings.push(warn('part_replaced')),
    onProgress: (fraction: number) => {
      report.noteMade(fraction * seconds * rate);
      onProgress?.(fraction);
    },
  };
  // ffmpeg rounds the times of reordered pictures otherwise than a rendition promises.
  const isShort = assumption && delayFrames === 0;
  const made = isShort ? await remux(remuxArgs(input), output, options) : await transcode(plan.args, output, options);
  if (assumption && made.video?.frames !== input.source.video?.frames)
    throw new BrokenPromiseError('the media differs from its header');
  return warnings.length > 0 ? { ...made, warnings } : made;
}

/**
 * Clocks are rounded, so a source may give a little more than it promises. In some containers sound decodes to more
 * than its packets promise, so sound alone may last as long as its bytes may.
 */
export function limitOutput(input: PlanInput, promised: number, limits: MediaLimits): Most {
  const { type, source, previewSeconds } = input;
  const whole = type === 'video' ? promised : Math.max(promised, longestFor(limits, source.sizeBytes));
  const most = Math.min(whole, previewSeconds ?? whole);
  const seconds = most + Math.max(30, most / 20);
  return { seconds, bytes: maxBytes(input, seconds) };
}

/** Returns what to throw: a copy that is no rendition is made in another way, and an encoded one cannot be mended. */
export function judgeFailure(error: unknown, { video, audio }: Plan): unknown {
  if (!isBroken(error)) return error;
  if (video === 'copy' || audio === 'copy') return new BrokenCopyError(error.message, { cause: error });
  if (error instanceof PrepareError) return error;
  const detail = `The rendition is not valid: ${error.message}. Export the file again, and import that.`;
  return new PrepareError('prepare_failed', detail, { cause: error });
}

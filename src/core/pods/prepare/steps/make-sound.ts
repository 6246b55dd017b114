/** Makes the sound of an upload with the wanted loudness, as a rendition of sound alone. */
import type { LoudnessTarget } from '../../../resources/upload/loudness.ts';
import { audioFramesFor } from '../../rendition/frame-times.ts';
import { chunkKey, type RenditionIndex } from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import { keepsTime } from '../inspect/source.ts';
import type { ToolInput } from '../tools/tool.ts';
import {
  decideGain,
  describeLoudness,
  type Gain,
  gainFilters,
  lowerCeiling,
  type SoundMeasure,
} from '../transcode/gain.ts';
import { measureRendition, measureSource } from '../transcode/measure-sound.ts';
import { type Plan, type PlanInput, planRendition } from '../transcode/plan.ts';
import { RenditionOutput } from '../transcode/rendition-output.ts';
import { transcode } from '../transcode/transcode.ts';
import type { JobContext, Target } from './context.ts';
import { examineWhole } from './examine.ts';
import { BrokenCopyError, judgeFailure, limitOutput } from './make.ts';
import type { Opened } from './open.ts';

/** Attempts with a lower ceiling, where the peaks of the decoded sound are too high. */
const MORE_ATTEMPTS = 2;
/** Parts of the work by their time: to measure the source, and to make the sound. The rest is to measure that. */
const MEASURING = 0.25;
const MAKING = 0.5;

interface Attempt {
  index: RenditionIndex;
  made: SoundMeasure;
  output: RenditionOutput;
}

/**
 * Resolves with the index, which is not written yet. Rejects with PrepareError, StorageError or the signal's reason. Nothing of it can be
 * played before it is measured.
 */
export async function makeSound(
  opened: Opened,
  loudness: LoudnessTarget,
  context: JobContext,
): Promise<RenditionIndex> {
  const { input } = await examineWhole(opened, context);
  const source = input.source.audio ? await measureInput(input, context) : {};
  let gain = decideGain(source, loudness);
  for (let more = MORE_ATTEMPTS; ; more--) {
    context.log.info({ sourceLufs: source.integratedLufs, gainDb: gain.gainDb }, 'making the sound');
    const { index, made, output } = await makeOrEncode(input, gain, opened.target, context);
    const next = lowerCeiling(gain, made, loudness);
    if (!next || more === 0) {
      await output.approve();
      return { ...index, loudness: describeLoudness(source, made, gain, loudness) };
    }
    await output.dropUnlisted();
    gain = next;
  }
}

function measureInput(input: PlanInput, { tools, signal, onProgress }: JobContext): Promise<SoundMeasure> {
  const { durationSeconds } = planRendition({ ...input, alone: { filters: [] } });
  const onSeconds = (seconds: number) => onProgress?.(MEASURING * Math.min(1, seconds / durationSeconds));
  return measureSource(input, { ffmpeg: tools.ffmpeg, signal, onSeconds });
}

/** Copies the sound where it stays as it is and fits. A copy that turns out to be no rendition is encoded. */
async function makeOrEncode(input: PlanInput, gain: Gain, target: Target, context: JobContext): Promise<Attempt> {
  const alone = { filters: gainFilters(gain) };
  const isChanged = alone.filters.length > 0;
  const plan = planRendition({ ...input, allowCopy: input.allowCopy && !isChanged, alone });
  try {
    return await attempt(input, plan, target, context);
  } catch (error) {
    if (!(error instanceof BrokenCopyError)) throw error;
    context.log.info({ reason: error.message }, 'the copy is not a valid rendition; the sound is encoded');
    return attempt(input, planRendition({ ...input, allowCopy: false, alone }), target, context);
  }
}

async function attempt(input: PlanInput, plan: Plan, target: Target, context: JobContext): Promise<Attempt> {
  const { storage, tools, signal, log, limits, onProgress } = context;
  const { renditionKey, profile, type } = target;
  const { durationSeconds: seconds, audio } = plan;
  const expectedFrames = audioFramesFor(seconds, 1);
  const output = new RenditionOutput({
    ...{ storage, renditionKey, profile, framerate: undefined, expectedFrames },
    keepsSameOnly: true,
    provisional: true,
  });
  const audioFrames = type === 'video' ? expectedFrames : undefined;
  try {
    const index = await transcode(plan.args, output, {
      ...{ ffmpeg: tools.ffmpeg, signal, log, framerate: undefined, seconds },
      most: limitOutput({ ...input, alone: { filters: [] } }, seconds, limits),
      mending: { sound: audio !== 'copy', pauses: keepsTime(input.source), videoFrames: undefined, audioFrames },
      onProgress: (fraction) => onProgress?.(MEASURING + MAKING * fraction),
    });
    const rest = 1 - MEASURING - MAKING;
    const made = await measureRendition({
      ...{ ffmpeg: tools.ffmpeg, signal },
      openInput: (ending) => readChunks(index, renditionKey, storage, ending),
      onSeconds: (at) => onProgress?.(1 - rest * Math.max(0, 1 - at / index.durationSeconds)),
    });
    return { index, made, output };
  } catch (error) {
    await output.stop();
    const judged = judgeFailure(error, plan);
    if (judged instanceof BrokenCopyError) await output.dropUnlisted();
    throw judged;
  }
}

/** Yields the rendition, whose index is not written yet. Throws StorageError, or the signal's reason. */
async function* readChunks(
  { chunks }: RenditionIndex,
  renditionKey: string,
  storage: Storage,
  signal: AbortSignal,
): ToolInput {
  for (const chunk of chunks) yield* (await storage.read(chunkKey(renditionKey, chunk), {}, signal)) as ToolInput;
}

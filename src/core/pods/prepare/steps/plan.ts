/** Plans the ways in which a rendition can be made: the third step. */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/index.ts';
import { describeMended, needsMending, readMended } from '../transcode/mend.ts';
import { canEncodeInParts } from '../transcode/part-plan.ts';
import { type Plan, type PlanInput, planRendition } from '../transcode/plan.ts';
import type { TranscodeOptions } from '../transcode/transcode.ts';
import type { Facts } from './examine.ts';

type Ffmpeg = TranscodeOptions['ffmpeg'];

/** One way to make a rendition. Nobody changes it. */
export interface Way extends Pick<TranscodeOptions, 'openInput'> {
  input: PlanInput;
  plan: Plan;
  /** Frames per second of the pictures; undefined for a rendition of sound alone. */
  framerate: number | undefined;
  /** The frames of the rendition, and their number in a second: pictures, or AAC frames of sound alone. */
  frames: number;
  rate: number;
  /** True where parts of it can be encoded by themselves. */
  isInParts: boolean;
  /** Set for a copy of a source whose header alone has been read: the result may show that it was wrong. */
  assumption?: {
    /** Reads the source, to tell sooner. */
    prove?: (signal: AbortSignal) => Promise<boolean>;
  };
}

/** Yields the ways of each of the facts, the cheapest first. Throws as `facts` does. */
export async function* planInTurn(facts: AsyncIterable<Facts>, ffmpeg: Ffmpeg): AsyncGenerator<Way> {
  for await (const one of facts) yield* planWays(one, ffmpeg);
}

/** A track that fits is copied. Where the copy turns out to be no valid rendition, everything is encoded. */
export function planWays(facts: Facts, ffmpeg: Ffmpeg): Way[] {
  if (facts.assumption) return planAssumed(facts, facts.assumption);
  const { input, openInput } = facts;
  if (!input.allowCopy) return [planWay(input, openInput)];
  return [planCopy(facts, ffmpeg), planWay({ ...input, allowCopy: false }, openInput)];
}

function planWay(input: PlanInput, openInput: Way['openInput']): Way {
  const plan = planRendition(input);
  const framerate = input.type === 'video' ? plan.framerate : undefined;
  const rate = framerate ?? AUDIO_SAMPLE_RATE / SAMPLES_PER_FRAME;
  const frames = plan.videoFrames ?? Math.max(1, Math.round(plan.durationSeconds * rate));
  return { input, plan, framerate, frames, rate, isInParts: canEncodeInParts(input, plan), openInput };
}

function planCopy({ input, openInput }: Facts, ffmpeg: Ffmpeg): Way {
  const way = planWay(input, openInput);
  if (way.plan.video !== 'copy' || !needsMending(input)) return way;
  return planWay(describeMended(input), (signal) => readMended(input, ffmpeg, signal));
}

const copiesAll = ({ video, audio }: Plan): boolean => video === 'copy' && audio === 'copy';

/** A source that fits by its header is copied without being read before: the rewriter proves each promise. */
function planAssumed({ input }: Facts, { examine }: NonNullable<Facts['assumption']>): Way[] {
  const way = planWay(input, undefined);
  if (!copiesAll(way.plan)) return [];
  if (!examine) return [{ ...way, assumption: {} }];
  const prove = async (signal: AbortSignal) => {
    const examined = await examine(signal);
    const isWhole = examined.scan.video?.packets === input.source.video?.frames;
    return isWhole && copiesAll(planRendition({ ...input, ...examined }));
  };
  return [{ ...way, assumption: { prove } }];
}

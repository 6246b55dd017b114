/** Makes a rendition of a source before all of it has arrived. */
import { isDeepStrictEqual } from 'node:util';
import type { RenditionIndex } from '../../rendition/index.ts';
import type { SourceFile } from '../inspect/source-file.ts';
import type { JobContext } from '../steps/context.ts';
import { examineWhole } from '../steps/examine.ts';
import { makeFirst } from '../steps/make.ts';
import type { Opened } from '../steps/open.ts';
import { planWays } from '../steps/plan.ts';
import { type PlanInput, planRendition } from '../transcode/plan.ts';
import type { Arrival } from './arrival.ts';

export interface EarlyRendition {
  index: RenditionIndex;
  /** Whether the source is what its tables said. */
  holds: (file: SourceFile) => Promise<boolean>;
}

/**
 * Writes the chunks of a rendition while its source arrives. `outlined` has the packets of the whole (fast-start.ts), so a copy is begun only
 * where all of it fits, and no chunk waits for the rest. Rejects as makeFirst() does, and with the error of the arrival.
 */
export async function makeEarly(
  outlined: Opened,
  arrival: Pick<Arrival, 'follow'>,
  context: JobContext,
): Promise<EarlyRendition> {
  const facts = await examineWhole(outlined, context);
  const input: PlanInput = { ...facts.input, isArriving: true };
  const ways = planWays({ input, openInput: (signal) => arrival.follow(signal) }, context.tools.ffmpeg);
  const index = await makeFirst(ways, outlined.target, context);
  // A copy has been proven on its way, so only times and counts are left: those that a plan to encode is made of.
  const holds = async (file: SourceFile): Promise<boolean> => {
    const { source, scan } = await file.examine();
    const plans = [input, { ...input, source, scan }].map((one) => planRendition({ ...one, allowCopy: false }));
    return isDeepStrictEqual(plans[0], plans[1]) && scan.video?.packets === input.scan.video?.packets;
  };
  return { index, holds };
}

/** Draws the layers of a look for as long as its rendition is made. */
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { DIMENSIONS } from '../../../resources/stream/profile.ts';
import { withScratchFile } from '../../storage/scratch.ts';
import { drawLook } from '../look/draw.ts';
import type { JobContext, RenditionTask } from '../steps/context.ts';
import type { PlanInput } from '../transcode/plan.ts';
import { withSource } from './with-source.ts';

/** Runs `use` with the drawn layers; with none where the task is of no look. Rejects as drawLook() and withSource() do. */
export async function withOverlays<T>(
  { look }: Pick<RenditionTask, 'look'>,
  { quality }: Pick<PlanInput, 'quality'>,
  { storage, tools, signal, limits, inputDir = tmpdir() }: JobContext,
  use: (overlays: NonNullable<PlanInput['overlays']>) => Promise<T>,
): Promise<T> {
  if (!look) return await use([]);
  return await withScratchFile(inputDir, async (path) => {
    const overlays = await drawLook(look.layers, DIMENSIONS[quality], {
      ...{ tools, signal, limits, dir: dirname(path) },
      withImage: ({ imageKey }, read) => withSource(storage, { sourceKey: imageKey }, read),
    });
    return await use(overlays);
  });
}

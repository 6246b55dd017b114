/** Makes one rendition of a source, unless it exists already. Streams play its first chunks while the rest is made. */
import { parseSoundProfile } from '../../../resources/upload/loudness.ts';
import { parseSlateProfile } from '../../../resources/upload/slate.ts';
import type { JobContext, RenditionTask } from '../steps/context.ts';
import { examineInTurn } from '../steps/examine.ts';
import { makeFirst } from '../steps/make.ts';
import { makeCard, makeSlate } from '../steps/make-card.ts';
import { makeSound } from '../steps/make-sound.ts';
import { openTarget } from '../steps/open.ts';
import { planInTurn } from '../steps/plan.ts';
import { findRendition, type Rendered, storeRendition } from '../steps/store.ts';
import { PosterWork } from './poster-work.ts';
import { withOverlays } from './with-overlays.ts';
import { withSource } from './with-source.ts';

/** Time for the poster once the rendition is made, in milliseconds: it began with it, and a stream may wait. */
const POSTER_MS = 1000;

interface Made extends Rendered {
  /** True where the poster is in storage. */
  poster?: boolean;
}

/**
 * Rejects with PrepareError, StorageError or the signal's reason; then the rendition is not complete, but chunks of it may be
 * there, and the next attempt keeps them.
 */
export async function makeRendition(task: RenditionTask, context: JobContext): Promise<Made> {
  const { storage, tools, log } = context;
  const { posterKey } = task;
  const found = await findRendition(task, storage);
  if (found) {
    log.info({ storageKey: task.renditionKey }, 'the rendition was made before');
    const hasPoster = posterKey !== undefined && (await storage.head(posterKey)) !== undefined;
    return { ...found, ...(hasPoster && { poster: true }) };
  }
  const poster = new PosterWork(posterKey, context);
  const { index, hasPoster } = await withSource(storage, task, async (path) => {
    const opened = openTarget(task, path, context);
    poster.begin(opened.file);
    try {
      const loudness = parseSoundProfile(task.profile);
      const make = () => {
        if (task.card) return makeCard(opened, task.card, context);
        if (parseSlateProfile(task.profile) !== undefined) return makeSlate(opened, context);
        if (loudness) return makeSound(opened, loudness, context);
        return withOverlays(task, opened.shape, context, (overlays) => {
          const shown = { ...opened, shape: { ...opened.shape, overlays } };
          return makeFirst(planInTurn(examineInTurn(shown, context), tools.ffmpeg), task, context);
        });
      };
      const index = await make();
      return { index, hasPoster: await poster.finish(POSTER_MS) };
    } finally {
      await poster.cancel();
    }
  });
  return { ...(await storeRendition(task, index, storage)), ...(hasPoster && { poster: true }) };
}

/** Makes one rendition of a source, unless it exists already. Streams play its first chunks while the rest is made. */
import type { JobContext, RenditionTask } from '../steps/context.ts';
import { examineInTurn } from '../steps/examine.ts';
import { makeFirst } from '../steps/make.ts';
import { openTarget } from '../steps/open.ts';
import { planInTurn } from '../steps/plan.ts';
import { findRendition, type Rendered, storeRendition } from '../steps/store.ts';
import { withSource } from './with-source.ts';

/**
 * Rejects with PrepareError, StorageError or the signal's reason; then the rendition is not complete, but chunks of it may be
 * there, and the next attempt keeps them.
 */
export async function makeRendition(task: RenditionTask, context: JobContext): Promise<Rendered> {
  const { storage, tools, log } = context;
  const found = await findRendition(task, storage);
  if (found) {
    log.info({ storageKey: task.renditionKey }, 'the rendition was made before');
    return found;
  }
  const index = await withSource(storage, task, async (path) => {
    const opened = openTarget(task, path, context);
    const facts = examineInTurn(opened, context);
    const ways = planInTurn(facts, tools.ffmpeg);
    return await makeFirst(ways, task, context);
  });
  return storeRendition(task, index, storage);
}

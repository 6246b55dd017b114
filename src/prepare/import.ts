/** Imports one source: fetched from a link or put together of what was sent, read to its end, described. */
import { deletePieces } from '../storage/pieces.ts';
import type { MediaInfo } from '../uploads/spec.ts';
import { PrepareError } from './failure.ts';
import { type Fetched, type FetchOptions, fetchInto } from './fetch.ts';
import { checkHeader } from './limits.ts';
import { describeMedia, probe, scanPackets } from './probe.ts';
import { joinInto } from './received.ts';
import type { Workshop } from './rendition.ts';
import { checkComplete, checkType } from './source.ts';
import type { PrepareTask } from './task.ts';

type ImportTask = Extract<PrepareTask, { action: 'import' }>;
export type ImportLimits = Pick<
  FetchOptions,
  'allowPrivateLinks' | 'maxBytes' | 'timeoutSeconds' | 'minBytesPerSecond'
>;

/** Rejects with PrepareError, StorageError or the signal's reason; the source is then not in storage. */
export async function importSource(task: ImportTask, shop: Workshop, limits: ImportLimits): Promise<MediaInfo> {
  const { storage, tools, signal } = shop;
  const { maxDurationSeconds = shop.limits.durationSeconds } = task;
  const media = { ...shop.limits, durationSeconds: Math.min(shop.limits.durationSeconds, maxDurationSeconds) };
  const fetched = await bring(task, shop, limits);
  try {
    const described = await storage.withLocalFile(task.sourceKey, async (path) => {
      const source = await probe(path, tools, signal);
      checkType(source, task.type);
      checkHeader(source, task.type, media);
      const scan = await scanPackets(path, source, tools, signal, { limits: media });
      checkComplete(source, scan);
      return describeMedia(source, scan);
    });
    // What failed above may be tried again, so the pieces stay until here; from here on they are only in the way.
    if ('sent' in task) await deletePieces(storage, task.sent.key);
    return { ...fetched, ...described };
  } catch (error) {
    // A link is fetched again by the next try. What was sent may have been put together and be here alone by now.
    const isFinal = error instanceof PrepareError && !error.again;
    if (isFinal || 'url' in task) await storage.delete(task.sourceKey);
    throw error;
  }
}

function bring(task: ImportTask, shop: Workshop, limits: ImportLimits): Promise<Fetched> {
  const { storage, signal, log, onProgress } = shop;
  if ('sent' in task) return joinInto(storage, task.sourceKey, task.sent, { signal, onProgress });
  const maxBytes = Math.min(limits.maxBytes, task.maxBytes ?? limits.maxBytes);
  return fetchInto(storage, task.sourceKey, task.url, {
    ...limits,
    maxBytes,
    signal,
    log,
    ...(onProgress && { onProgress }),
  });
}

/** Imports one source: fetched, read to its end, described. */
import type { MediaInfo } from '../uploads/spec.ts';
import { type FetchOptions, fetchInto } from './fetch.ts';
import { describeMedia, probe, scanPackets } from './probe.ts';
import type { Workshop } from './rendition.ts';
import { checkComplete, checkType } from './source.ts';
import type { PrepareTask } from './task.ts';

type ImportTask = Extract<PrepareTask, { action: 'import' }>;
export type ImportLimits = Pick<FetchOptions, 'allowPrivateLinks' | 'maxBytes' | 'timeoutSeconds'>;

/** Rejects with PrepareError, StorageError or the signal's reason; the source is then not in storage. */
export async function importSource(task: ImportTask, shop: Workshop, limits: ImportLimits): Promise<MediaInfo> {
  const { storage, tools, signal, log, onProgress } = shop;
  const fetched = await fetchInto(storage, task.sourceKey, task.url, {
    ...limits,
    signal,
    log,
    ...(onProgress && { onProgress }),
  });
  try {
    const described = await storage.withLocalFile(task.sourceKey, async (path) => {
      const source = await probe(path, tools, signal);
      checkType(source, task.type);
      const scan = await scanPackets(path, source, tools, signal);
      checkComplete(source, scan);
      return describeMedia(source, scan);
    });
    return { ...fetched, ...described };
  } catch (error) {
    await storage.delete(task.sourceKey);
    throw error;
  }
}

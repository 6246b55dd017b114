/** Opens the storage of a streamer's media, with a cache on the local disk unless the media is on one. */

import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { StreamerConfig } from '../../protocol/environment.ts';
import type { CacheOptions, CacheStats } from '../storage/cache.ts';
import { openStorage } from '../storage/open.ts';
import type { Storage } from '../storage/storage.ts';

export interface MediaStorage {
  storage: Storage;
  /** Undefined without a cache. */
  cache: () => CacheStats | undefined;
}

/** Opens the storage; the lifecycle closes it. `tuning` overrides the cache's times and sizes. */
export async function openMedia(
  config: StreamerConfig,
  lifecycle: Lifecycle,
  log: Logger,
  tuning: Partial<CacheOptions> = {},
): Promise<MediaStorage> {
  const storage = await openStorage(config.storageUrl, { credentials: config.storageCredentials });
  const { cacheDir: dir, cacheBytes: maxBytes } = config;
  if (dir === undefined || config.storageUrl.startsWith('file:')) return { storage, cache: () => undefined };
  // A stream whose media is in a directory never loads the cache.
  const { CachedStorage } = await import('../storage/cache.ts');
  const cached = await CachedStorage.open(storage, { dir, maxBytes, log, ...tuning });
  lifecycle.defer('cache', () => cached.close());
  return { storage: cached, cache: () => cached.stats() };
}

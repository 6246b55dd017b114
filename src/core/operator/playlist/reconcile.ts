/** Reconciles one playlist: records its version, judges its items by the caches, and writes its status where that changed. */

import { PLAYLISTS } from '../../resources/playlist/resource.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { type Reconcile, requeueAt, splitKey, writeStatus } from '../runtime/controller.ts';
import { assessItems, buildPlaylistStatus } from './status.ts';
import { letPlaylistGo, recordVersion } from './versions.ts';

export const reconcilePlaylist =
  (deps: ControllerDeps): Reconcile =>
  async (key) => {
    const { caches, clock } = deps;
    const [namespace, name] = splitKey(key);
    const found = caches.playlists.get(namespace, name);
    if (found?.metadata.deletionTimestamp) await letPlaylistGo(deps, found);
    if (!found || found.metadata.deletionTimestamp) return undefined;
    const playlist = await recordVersion(deps, found);
    const now = clock.now();
    const items = assessItems(
      playlist,
      (upload) => caches.uploads.get(namespace, upload),
      (list) => caches.playlists.get(namespace, list),
    );
    const { status, requeueAt: at } = buildPlaylistStatus(playlist, items, now);
    await writeStatus(deps, PLAYLISTS, caches.playlists, playlist, status);
    return requeueAt(at, now);
  };

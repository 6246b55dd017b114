/**
 * Keeps the versions of a playlist through a restore: records which version the playlist has, and holds a playlist of an account until the
 * versions that the API server kept of it are deleted.
 */

import { hasReason } from '../../kube/types.ts';
import { ACCOUNT_LABEL, VERSIONS_FINALIZER } from '../../resources/common/names.ts';
import { createHistory } from '../../resources/playlist/history.ts';
import { PLAYLISTS, type Playlist } from '../../resources/playlist/resource.ts';
import { annotateSameVersion } from '../../resources/playlist/version.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { deleteDependents, removeFinalizer } from '../runtime/held-objects.ts';

type Deps = Pick<ControllerDeps, 'kube' | 'caches' | 'log'>;

/**
 * Writes the record and the finalizer where they are missing: after a restore, an edit by kubectl, and an upgrade. Returns the playlist as it
 * is then; without the right to, as it was.
 */
export async function recordVersion({ kube, caches, log }: Deps, playlist: Playlist): Promise<Playlist> {
  const { name, namespace = '', resourceVersion, labels, finalizers = [] } = playlist.metadata;
  const annotations = annotateSameVersion(playlist);
  // Only the API server keeps versions, and only of playlists of an account.
  const isUnheld = labels?.[ACCOUNT_LABEL] !== undefined && !finalizers.includes(VERSIONS_FINALIZER);
  if (!isUnheld && Object.keys(annotations).length === 0) return playlist;
  try {
    if (isUnheld) await createHistory(kube).disown(playlist);
    const metadata = {
      resourceVersion,
      annotations,
      ...(isUnheld && { finalizers: [...finalizers, VERSIONS_FINALIZER] }),
    };
    const written = await kube.mergePatch(PLAYLISTS, namespace, name, { metadata });
    caches.playlists.upsert(written);
    return caches.playlists.get(namespace, name) ?? written;
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    log.debug(
      { namespace, playlist: name },
      'the version of the playlist is not recorded: the operator may not do so here',
    );
    return playlist;
  }
}

/** Removes the kept versions and the finalizer of a deleted list. */
export async function letPlaylistGo({ kube }: Deps, playlist: Playlist): Promise<void> {
  if (!playlist.metadata.finalizers?.includes(VERSIONS_FINALIZER)) return;
  await deleteDependents(kube, playlist, () => createHistory(kube).clear(playlist));
  await removeFinalizer(kube, PLAYLISTS, playlist, VERSIONS_FINALIZER);
}

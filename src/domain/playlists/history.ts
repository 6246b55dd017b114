/**
 * The versions that a playlist had, each an immutable ControllerRevision, as StatefulSets and DaemonSets keep theirs
 * (apps/v1): Kubernetes lets nobody change one, and they go with the playlist.
 */

import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../kube/core.ts';
import { apiVersionOf } from '../../kube/paths.ts';
import { type Kube, KubeError } from '../../kube/types.ts';
import { INTENT_ANNOTATION, PLAYLIST_LABEL } from '../../resources/common/names.ts';
import { HISTORY_LIMIT } from '../../resources/playlist/kept.ts';
import { PLAYLISTS, type Playlist } from '../../resources/playlist/resource.ts';
import type { PlaylistSpec } from '../../resources/playlist/spec.ts';

export interface KeptVersion {
  version: number;
  spec: PlaylistSpec;
  createdAt: string | null;
}

export const versionOf = ({ metadata }: Pick<Playlist, 'metadata'>): number => metadata.generation ?? 1;

export type History = ReturnType<typeof createHistory>;

export function createHistory(kube: Kube, namespace: string) {
  const nameOf = ({ metadata }: Playlist, version: number) => `${metadata.name}-${version}`;
  const owns = ({ metadata }: Playlist, revision: ControllerRevision) =>
    revision.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
  const read = ({ revision, data, metadata }: ControllerRevision): KeptVersion => ({
    version: revision,
    spec: data as PlaylistSpec,
    createdAt: metadata.creationTimestamp ?? null,
  });
  const current = (playlist: Playlist): KeptVersion => ({
    version: versionOf(playlist),
    spec: playlist.spec,
    createdAt: versionOf(playlist) === 1 ? playlist.metadata.creationTimestamp : null,
  });

  return {
    /** Writes down the version that a playlist is now, unless that is done; the oldest one goes. */
    async keep(playlist: Playlist): Promise<void> {
      const version = versionOf(playlist);
      const { name, uid, annotations = {} } = playlist.metadata;
      const intent = annotations[INTENT_ANNOTATION];
      const revision: Omit<ControllerRevision, 'spec'> = {
        apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
        kind: CONTROLLER_REVISIONS.kind,
        metadata: {
          name: nameOf(playlist, version),
          // Which request made it, so that the same one is known again when others have written since.
          labels: { [PLAYLIST_LABEL]: uid, ...(intent !== undefined && { [INTENT_ANNOTATION]: intent }) },
          ownerReferences: [{ apiVersion: apiVersionOf(PLAYLISTS), kind: PLAYLISTS.kind, name, uid, controller: true }],
        },
        revision: version,
        data: playlist.spec,
      };
      try {
        await kube.create(CONTROLLER_REVISIONS, namespace, revision as ControllerRevision);
      } catch (error) {
        if (error instanceof KubeError && error.reason === 'AlreadyExists') return;
        throw error;
      }
      // One comes, one goes; what numbers leave out, because kubectl wrote in between, goes with the playlist.
      if (version > HISTORY_LIMIT)
        await kube.delete(CONTROLLER_REVISIONS, namespace, nameOf(playlist, version - HISTORY_LIMIT));
    },

    /** Newest first, the current one among them. */
    async list(playlist: Playlist): Promise<KeptVersion[]> {
      const labelSelector = `${PLAYLIST_LABEL}=${playlist.metadata.uid}`;
      const kept = (await kube.list(CONTROLLER_REVISIONS, { namespace, labelSelector }))
        .filter((revision) => owns(playlist, revision))
        .map(read);
      if (!kept.some(({ version }) => version === versionOf(playlist))) kept.push(current(playlist));
      return kept.sort((a, b) => b.version - a.version);
    },

    /** Whether the request with this intent has made a version of it. */
    async hasMade(playlist: Playlist, intent: string): Promise<boolean> {
      if (playlist.metadata.annotations?.[INTENT_ANNOTATION] === intent) return true;
      const labelSelector = `${PLAYLIST_LABEL}=${playlist.metadata.uid},${INTENT_ANNOTATION}=${intent}`;
      return (await kube.list(CONTROLLER_REVISIONS, { namespace, labelSelector })).length > 0;
    },

    /** undefined when there never was one of this number, or it is no longer kept. */
    async get(playlist: Playlist, version: number): Promise<KeptVersion | undefined> {
      try {
        const revision = await kube.get(CONTROLLER_REVISIONS, namespace, nameOf(playlist, version));
        if (owns(playlist, revision)) return read(revision);
      } catch (error) {
        if (!(error instanceof KubeError && error.status === 404)) throw error;
      }
      return version === versionOf(playlist) ? current(playlist) : undefined;
    },
  };
}

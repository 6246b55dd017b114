/**
 * Keeps old versions of a playlist as immutable ControllerRevisions (apps/v1), as StatefulSets and DaemonSets do. Kubernetes
 * rejects changes of one. They belong to the playlist by a label, and name no owner: a restored playlist has another UID, and the garbage
 * collector would delete the versions of the one before. A finalizer of the playlist deletes them (VERSIONS_FINALIZER).
 */

import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../kube/core.ts';
import { formatApiVersion } from '../../kube/paths.ts';
import { type Kube, KubeError, type KubeObject } from '../../kube/types.ts';
import { ACCOUNT_LABEL, INTENT_ANNOTATION, PLAYLIST_LABEL } from '../common/names.ts';
import { PLAYLISTS, type Playlist } from './resource.ts';
import { type PlaylistSpec, readCopy } from './spec.ts';
import { listEarlierUids, readVersion } from './version.ts';
import { HISTORY_LIMIT } from './version-bytes.ts';

export interface KeptVersion {
  version: number;
  spec: PlaylistSpec;
  createdAt: string | null;
}

export type History = ReturnType<typeof createHistory>;

/** Counts what is stored for an account. */
interface StoredCount {
  count(accountId: string, stored: KubeObject): void;
}

/** The operator has no limit of writes, so it counts nothing. */
export function createHistory(kube: Kube, writes?: StoredCount) {
  const buildName = ({ metadata }: Playlist, version: number) => `${metadata.name}-${version}`;
  const listUids = (playlist: Playlist) => [playlist.metadata.uid, ...listEarlierUids(playlist)];
  /** A revision has the label of the playlist, or of an earlier UID that it had: backup tools keep labels. */
  const owns = (playlist: Playlist, { metadata, revision }: ControllerRevision) =>
    metadata.name === buildName(playlist, revision) &&
    listUids(playlist).includes(metadata.labels?.[PLAYLIST_LABEL] ?? '');
  /** Revisions with the label of one of the playlist's UIDs. */
  const listLabelled = async (playlist: Playlist, more = ''): Promise<ControllerRevision[]> => {
    const { namespace = '' } = playlist.metadata;
    const lists = listUids(playlist).map((one) =>
      kube.list(CONTROLLER_REVISIONS, { namespace, labelSelector: `${PLAYLIST_LABEL}=${one}${more}` }),
    );
    return (await Promise.all(lists)).flat();
  };
  /** Creates a revision. One of its name is left by another playlist of this name, unless it is ours. Returns false if it was there. */
  const store = async (playlist: Playlist, revision: ControllerRevision): Promise<boolean> => {
    const { namespace = '', labels } = playlist.metadata;
    const create = async (): Promise<boolean> => {
      try {
        const stored = await kube.create(CONTROLLER_REVISIONS, namespace, revision);
        writes?.count(labels?.[ACCOUNT_LABEL] ?? '', stored);
        return true;
      } catch (error) {
        if (error instanceof KubeError && error.reason === 'AlreadyExists') return false;
        throw error;
      }
    };
    if (await create()) return true;
    const { name } = revision.metadata;
    const found = await kube.get(CONTROLLER_REVISIONS, namespace, name);
    if (owns(playlist, found) || found.metadata.labels?.[PLAYLIST_LABEL] === undefined) return false;
    await kube.delete(CONTROLLER_REVISIONS, namespace, name, { uid: found.metadata.uid });
    return create();
  };
  const read = ({ revision, data, metadata }: ControllerRevision): KeptVersion => ({
    version: revision,
    spec: readCopy(data) as PlaylistSpec,
    createdAt: metadata.creationTimestamp ?? null,
  });
  const current = (playlist: Playlist): KeptVersion => ({
    version: readVersion(playlist),
    spec: playlist.spec,
    createdAt: readVersion(playlist) === 1 ? playlist.metadata.creationTimestamp : null,
  });

  return {
    /** Stores the current version, unless it is stored; the oldest one is deleted. */
    async keep(playlist: Playlist): Promise<void> {
      const version = readVersion(playlist);
      const { namespace = '', uid, annotations = {} } = playlist.metadata;
      const intent = annotations[INTENT_ANNOTATION];
      const revision: Omit<ControllerRevision, 'spec'> = {
        apiVersion: formatApiVersion(CONTROLLER_REVISIONS),
        kind: CONTROLLER_REVISIONS.kind,
        metadata: {
          name: buildName(playlist, version),
          // The request's intent identifies a retry after others have written.
          labels: { [PLAYLIST_LABEL]: uid, ...(intent !== undefined && { [INTENT_ANNOTATION]: intent }) },
        },
        revision: version,
        data: playlist.spec,
      };
      if (!(await store(playlist, revision as ControllerRevision))) return;
      // Deletes one for each new one. A number that kubectl skipped leaves an old revision, which goes with the playlist.
      if (version > HISTORY_LIMIT)
        await kube.delete(CONTROLLER_REVISIONS, namespace, buildName(playlist, version - HISTORY_LIMIT));
    },

    /** Deletes all kept versions. */
    async clear(playlist: Playlist): Promise<void> {
      for (const { metadata } of (await listLabelled(playlist)).filter((revision) => owns(playlist, revision)))
        await kube.delete(CONTROLLER_REVISIONS, metadata.namespace ?? '', metadata.name, { uid: metadata.uid ?? '' });
    },

    /** Takes the owner off versions that an older release has kept. */
    async disown(playlist: Playlist): Promise<void> {
      for (const { metadata } of await listLabelled(playlist)) {
        const left = metadata.ownerReferences?.filter(({ kind }) => kind !== PLAYLISTS.kind) ?? [];
        if (left.length === (metadata.ownerReferences?.length ?? 0)) continue;
        const patch = { metadata: { resourceVersion: metadata.resourceVersion, ownerReferences: left } };
        await kube.mergePatch(CONTROLLER_REVISIONS, metadata.namespace ?? '', metadata.name, patch);
      }
    },

    /** Newest first, including the current version. */
    async list(playlist: Playlist): Promise<KeptVersion[]> {
      const versions = (await listLabelled(playlist)).filter((revision) => owns(playlist, revision)).map(read);
      if (!versions.some(({ version }) => version === readVersion(playlist))) versions.push(current(playlist));
      return versions.sort((a, b) => b.version - a.version);
    },

    /** Returns whether the request with this intent created a version. */
    async hasMade(playlist: Playlist, intent: string): Promise<boolean> {
      if (playlist.metadata.annotations?.[INTENT_ANNOTATION] === intent) return true;
      return (await listLabelled(playlist, `,${INTENT_ANNOTATION}=${intent}`)).length > 0;
    },

    /** Returns undefined if the version never existed, or is no longer kept. */
    async get(playlist: Playlist, version: number): Promise<KeptVersion | undefined> {
      const { namespace = '' } = playlist.metadata;
      try {
        const revision = await kube.get(CONTROLLER_REVISIONS, namespace, buildName(playlist, version));
        if (owns(playlist, revision)) return read(revision);
      } catch (error) {
        if (!(error instanceof KubeError && error.status === 404)) throw error;
      }
      return version === readVersion(playlist) ? current(playlist) : undefined;
    },
  };
}

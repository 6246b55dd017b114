/** Deletes all resources of a deleted account. Nobody uses the account any more, so the usual conditions of a delete do not apply. */

import { SECRETS } from '../../../core/kube/core.ts';
import { type Kube, KubeError, type KubeObject, type Stored } from '../../../core/kube/types.ts';
import { platformSecretName, SECRET_FINALIZER, VERSIONS_FINALIZER } from '../../../core/resources/common/names.ts';
import { createHistory } from '../../../core/resources/playlist/history.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import type { OwnedResources } from '../../domain/limits/owned-resources.ts';
import { AppError } from '../../lib/errors.ts';

/** Grace period of a stream that stops, and a little more. */
const OFF_AIR_MS = 60_000;

type AnyOwned = Pick<OwnedResources<Stored<KubeObject>>, 'list' | 'delete' | 'release' | 'until'>;

export interface AccountResources {
  streams: AnyOwned;
  playlists: AnyOwned;
  destinations: AnyOwned;
  uploads: AnyOwned;
  scenes: AnyOwned;
}

/** The resource is gone, or another server deletes it. */
const isOver = (error: unknown): boolean => error instanceof AppError && [404, 409].includes(error.status);

/** A finalizer that holds deleted objects of a kind, and the work that it waits for. */
interface Hold {
  finalizer: string;
  end: (object: Stored<KubeObject>) => Promise<unknown>;
}

async function clearKind(owned: AnyOwned, accountId: string, hold?: Hold): Promise<boolean> {
  const all = [...owned.list(accountId)];
  for (const object of all) {
    if (object.metadata.deletionTimestamp === undefined)
      await owned.delete(object).catch((error: unknown) => {
        if (!isOver(error)) throw error;
      });
    if (!hold) continue;
    await hold.end(object);
    await owned.release(object, hold.finalizer);
  }
  const gone = await Promise.all(
    all.map(({ metadata }) => owned.until(accountId, metadata.name, (it) => it === undefined, OFF_AIR_MS)),
  );
  return gone.every(Boolean);
}

/**
 * Deletes streams first, since they refer to the rest; a stream is gone when it is off air. The sweep deletes media of deleted
 * uploads, and the operator what a server that dies here has left. Resolves with whether everything is gone; the next try continues.
 * Rejects with the error of a failed delete.
 */
export async function deleteResources(kube: Kube, resources: AccountResources, accountId: string): Promise<boolean> {
  const { streams, playlists, destinations, uploads, scenes } = resources;
  if (!(await clearKind(streams, accountId))) return false;
  // Keys and tokens must not outlive their destination, so they do not wait for the operator.
  const forgetKeys = async ({ metadata: { name, namespace = '' } }: Stored<KubeObject>) => {
    for (const secretName of [name, platformSecretName(name)])
      await kube.delete(SECRETS, namespace, secretName).catch((error: unknown) => {
        if (!(error instanceof KubeError && error.status === 404)) throw error;
      });
  };
  const history = createHistory(kube);
  const forgetVersions = (playlist: Stored<KubeObject>) => history.clear(playlist as Playlist);
  const rest = [
    await clearKind(playlists, accountId, { finalizer: VERSIONS_FINALIZER, end: forgetVersions }),
    await clearKind(destinations, accountId, { finalizer: SECRET_FINALIZER, end: forgetKeys }),
    await clearKind(uploads, accountId),
    await clearKind(scenes, accountId),
  ];
  return rest.every(Boolean);
}

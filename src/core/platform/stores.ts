/**
 * Keeps in Kubernetes what the observers of APIs must not forget: the progress of each repair, in the status of its destination, and counters
 * of the installation, in a ConfigMap. Both are written by compare and swap, so that of two processes one finds out. Secrets are read on demand
 * and not kept.
 */
import { CONFIG_MAPS, type ConfigMap, type Secret } from '../kube/core.ts';
import { hasReason, type Kube, KubeError } from '../kube/types.ts';
import { type Clock, exactTime } from '../lib/clock.ts';
import { joinKey, splitKey } from '../operator/runtime/controller.ts';
import { findSecret, findSecretText } from '../operator/stream/find-secret.ts';
import { FIELD_MANAGER_PLATFORM } from '../resources/common/names.ts';
import { believeDestination } from '../resources/destination/own-status.ts';
import { FIELDS, type GivenDestination, readDestination } from '../resources/destination/read.ts';
import { DESTINATIONS } from '../resources/destination/resource.ts';
import type { PlatformCaches } from './caches.ts';
import type { ApiObserverDeps } from './common/observer.ts';
import { buildRepairPatch, readRepairStatus } from './repair-status.ts';

/** Name of the ConfigMap in the namespace of the installation. */
export const SHARED_CONFIG_MAP = 'loopstream-platform';
const REFRESH_TOKEN_KEY = 'refreshToken';
/** Several processes of one installation write seldom, so that a few tries are enough. */
const SWAP_TRIES = 5;

export interface StoreDeps {
  kube: Kube;
  caches: Pick<PlatformCaches, 'destinations'>;
  clock: Clock;
  ownNamespace: string;
}

export type Stores = Pick<ApiObserverDeps, 'readSecrets' | 'loadRepair' | 'saveRepair' | 'updateShared'>;

export function createStores(deps: StoreDeps): Stores {
  const { kube, caches } = deps;
  return {
    async readSecrets(key) {
      const [namespace, name] = splitKey(key);
      const spec = caches.destinations.get(namespace, name)?.spec;
      if (!spec) return {};
      const tokenSecret = spec.platform?.secretName;
      const [secret, refreshToken] = await Promise.all([
        findSecret(kube, namespace, spec.secretName),
        tokenSecret === undefined ? undefined : findSecretText(kube, namespace, tokenSecret, REFRESH_TOKEN_KEY),
      ]);
      const rtmpKey = secret && readKey(secret);
      const token = refreshToken?.trim();
      return { ...(rtmpKey && { rtmpKey }), ...(token && { refreshToken: token }) };
    },

    /** Asks Kubernetes and not the cache: another process may have written a moment ago. */
    async loadRepair(key) {
      const found = believeDestination(await kube.get(DESTINATIONS, ...splitKey(key)));
      caches.destinations.upsert(found);
      // The version belongs to the object with this UID: one that is made anew under the same name begins anew.
      const version = joinKey(found.metadata.uid, found.metadata.resourceVersion);
      return { state: readRepairStatus(found.status?.platform?.repair), version };
    },

    async saveRepair(key, state, version) {
      const [namespace, name] = splitKey(key);
      const [uid, resourceVersion] = splitKey(version);
      const known = caches.destinations.get(namespace, name)?.status?.platform;
      const now = exactTime(deps.clock.now());
      // Both times are required. A repair that is written before the first statement states nothing.
      const times = known ? {} : { checkedAt: now, expiresAt: now };
      const patch = {
        metadata: { uid, resourceVersion },
        status: { platform: { ...times, repair: buildRepairPatch(state) } },
      };
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER_PLATFORM } as const;
      try {
        const written = await kube.mergePatch(DESTINATIONS, namespace, name, patch, options);
        caches.destinations.upsert(written);
        return joinKey(written.metadata.uid, written.metadata.resourceVersion);
      } catch (error) {
        if (hasReason(error, 'Conflict', 'NotFound')) return undefined;
        throw error;
      }
    },

    async updateShared(name, change) {
      for (let left = SWAP_TRIES; left > 0; left--) {
        const found = await findConfigMap(deps);
        const next = change(found?.data?.[name]);
        if (next === undefined) return false;
        if (await writeShared(deps, found, name, next)) return true;
      }
      throw new KubeError(0, 'Conflict', `The ConfigMap ${SHARED_CONFIG_MAP} was changed by others at each try.`);
    },
  };
}

function readKey(secret: Secret): string | undefined {
  const text = (field: string) =>
    Buffer.from(secret.data?.[field] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const given = Object.fromEntries(FIELDS.map((field) => [field, text(field)])) as GivenDestination;
  return readDestination(given, () => '').read?.rtmpKey;
}

async function findConfigMap({ kube, ownNamespace }: StoreDeps) {
  try {
    return await kube.get(CONFIG_MAPS, ownNamespace, SHARED_CONFIG_MAP);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Returns false when somebody else has written it since. */
async function writeShared(
  { kube, ownNamespace }: StoreDeps,
  found: Awaited<ReturnType<typeof findConfigMap>>,
  name: string,
  text: string,
): Promise<boolean> {
  try {
    if (found) {
      const { uid, resourceVersion } = found.metadata;
      const patch = { metadata: { uid, resourceVersion }, data: { [name]: text } };
      await kube.mergePatch(CONFIG_MAPS, ownNamespace, SHARED_CONFIG_MAP, patch);
    } else {
      const made = { metadata: { name: SHARED_CONFIG_MAP }, data: { [name]: text } };
      await kube.create(CONFIG_MAPS, ownNamespace, made as ConfigMap);
    }
    return true;
  } catch (error) {
    if (hasReason(error, 'Conflict', 'AlreadyExists', 'NotFound')) return false;
    throw error;
  }
}

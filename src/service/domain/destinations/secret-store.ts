/** Writes the Secrets of destinations, and never reads one. It is the only place of the domain that asks Kubernetes for Secrets. */

import { SECRETS, type Secret } from '../../../core/kube/core.ts';
import { hasReason, type Kube, KubeError } from '../../../core/kube/types.ts';
import {
  ACCOUNT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  platformSecretName,
  SECRET_TOKEN_KEY,
} from '../../../core/resources/common/names.ts';
import type { Destination } from '../../../core/resources/destination/resource.ts';
import type { SecretChanges } from './secret-changes.ts';

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Result of a patch: another client may have deleted the Secret, and the admission policy allows only this service's own. */
export type SecretPatched = 'patched' | 'missing' | 'not managed';

type Place = readonly [resource: typeof SECRETS, namespace: string, name: string];
const placeOf = ({ metadata, spec }: Destination): Place => [SECRETS, metadata.namespace ?? '', spec.secretName];
const placeOfToken = ({ metadata }: Destination): Place => [
  SECRETS,
  metadata.namespace ?? '',
  platformSecretName(metadata.name),
];

type Texts = Readonly<Record<string, string>>;

interface StoreOptions {
  /** Kubernetes accepts or refuses it as ever, and writes nothing. */
  dryRun?: boolean;
}

/** Every method rejects with KubeError where Kubernetes does not do it. */
export function createSecretStore(kube: Kube) {
  async function create(accountId: string, place: Place, changes: Texts, options: StoreOptions): Promise<void> {
    const [, namespace, name] = place;
    const secret: Omit<Secret, 'spec'> = {
      apiVersion: 'v1',
      kind: 'Secret',
      // It names no owner (SECRET_FINALIZER).
      metadata: { name, namespace, labels: { [ACCOUNT_LABEL]: accountId, [MANAGED_BY_LABEL]: MANAGED_BY } },
      type: 'Opaque',
      // Kubernetes turns `stringData` into `data`, in a merge patch too.
      stringData: { ...changes },
    };
    try {
      await kube.create(SECRETS, namespace, secret as Secret, options);
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error;
      await kube.mergePatch(...place, { stringData: changes }, options);
    }
  }

  async function patch(place: Place, changes: Texts, options: StoreOptions): Promise<SecretPatched> {
    try {
      await kube.mergePatch(...place, { stringData: changes }, options);
      return 'patched';
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status === 404) return 'missing';
      if (error.status === 403) return 'not managed';
      throw error;
    }
  }

  return {
    /** Creates the Secret of `owner`, or changes the one that an earlier try of the same request created. */
    create: (accountId: string, owner: Destination, changes: SecretChanges, options: StoreOptions = {}) =>
      create(accountId, placeOf(owner), changes, options),

    patch: (owner: Destination, changes: SecretChanges, options: StoreOptions = {}) =>
      patch(placeOf(owner), changes, options),

    async delete(owner: Destination): Promise<void> {
      await kube.delete(...placeOf(owner));
    },

    /** Writes the token of the platform's account to a Secret of its own: a change of the other one would publish streams again. */
    async putToken(accountId: string, owner: Destination, token: string, options: StoreOptions = {}): Promise<void> {
      const [place, changes] = [placeOfToken(owner), { [SECRET_TOKEN_KEY]: token }];
      if ((await patch(place, changes, options)) !== 'patched') await create(accountId, place, changes, options);
    },

    async deleteToken(owner: Destination): Promise<void> {
      await kube.delete(...placeOfToken(owner));
    },
  };
}

/**
 * Holds a destination until the Secrets that the API server made for it are deleted. They hold the only copy of a stream key or token, so they name
 * no owner: the garbage collector deletes an object whose owner has another UID, as each restored one has.
 */
import { SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Stored } from '../../kube/types.ts';
import {
  ACCOUNT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  platformSecretName,
  SECRET_FINALIZER,
} from '../../resources/common/names.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { deleteDependents, removeFinalizer } from '../runtime/held-objects.ts';
import { findSecret } from '../stream/find-secret.ts';

type Deps = Pick<ControllerDeps, 'kube' | 'caches' | 'log'>;

/** The Secret with the address and key, and the one with the token of the platform's account. */
const listNames = (destination: string): string[] => [destination, platformSecretName(destination)];

/**
 * Whether the API server made the Secret, for this destination of this account. A person who may write destinations alone can claim no other
 * Secret of the namespace, since none has the label of an account.
 */
function isMadeFor({ metadata }: Destination, secret: Secret): boolean {
  const { name, labels = {} } = secret.metadata;
  const account = metadata.labels?.[ACCOUNT_LABEL];
  return (
    listNames(metadata.name).includes(name) &&
    account !== undefined &&
    labels[ACCOUNT_LABEL] === account &&
    labels[MANAGED_BY_LABEL] === MANAGED_BY
  );
}

/**
 * Adds the finalizer, and then takes the owner off a Secret that an older release made. Returns both as they are then; without the right to,
 * as they were.
 */
export async function holdSecret(
  { kube, caches, log }: Deps,
  destination: Destination,
  secret: Stored<Secret>,
): Promise<{ destination: Destination; secret: Stored<Secret> }> {
  if (!isMadeFor(destination, secret)) return { destination, secret };
  const { name, namespace = '', resourceVersion, finalizers = [] } = destination.metadata;
  const { ownerReferences = [], ...metadata } = secret.metadata;
  const owners = ownerReferences.filter(({ kind }) => kind !== DESTINATIONS.kind);
  const held = { destination, secret };
  try {
    if (!finalizers.includes(SECRET_FINALIZER)) {
      const patch = { metadata: { resourceVersion, finalizers: [...finalizers, SECRET_FINALIZER] } };
      const written = await kube.mergePatch(DESTINATIONS, namespace, name, patch);
      caches.destinations.upsert(written);
      held.destination = caches.destinations.get(namespace, name) ?? written;
    }
    if (owners.length < ownerReferences.length)
      held.secret = await kube.replace(SECRETS, namespace, {
        ...secret,
        metadata: { ...metadata, ownerReferences: owners },
      });
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    log.debug({ namespace, destination: name, err: error }, 'the Secret of the destination keeps its owner');
  }
  return held;
}

/** Removes the Secrets and the finalizer of a deleted destination. A Secret of another owner stays. */
export async function letDestinationGo({ kube }: Deps, destination: Destination): Promise<void> {
  const { name, namespace = '', finalizers = [] } = destination.metadata;
  if (!finalizers.includes(SECRET_FINALIZER)) return;
  await deleteDependents(kube, destination, async () => {
    for (const secretName of listNames(name)) {
      const secret = await findSecret(kube, namespace, secretName);
      if (secret && isMadeFor(destination, secret))
        await kube.delete(SECRETS, namespace, secretName, { uid: secret.metadata.uid });
    }
  });
  await removeFinalizer(kube, DESTINATIONS, destination, SECRET_FINALIZER);
}

/**
 * Destinations. URL, key and login live in a Secret, which this service may write and never reads; what may be shown of them is
 * in the resource's status.
 */

import { SECRETS, type Secret } from '../../kube/core.ts';
import { type Kube, KubeError } from '../../kube/types.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { Connection, PageArgs } from '../../lib/paging/connection.ts';
import {
  ACCOUNT_LABEL,
  API_VERSION,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  SECRET_VERSION_ANNOTATION,
} from '../../resources/common/names.ts';
import { hasHidden } from '../../resources/destination/ingest.ts';
import { DESTINATIONS, type Destination as Resource } from '../../resources/destination/resource.ts';
import type { DestinationStatus } from '../../resources/destination/spec.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Quotas } from '../limits/quotas.ts';
import { newId, type Owned } from '../owned.ts';
import { readChanges, type SecretChanges } from './changes.ts';
import type { Destination, DestinationCreate, DestinationUpdate } from './record.ts';
import { createTests } from './testing.ts';

export type DestinationService = ReturnType<typeof createDestinationService>;

export interface DestinationServiceDeps {
  kube: Kube;
  destinations: Owned<Resource>;
  /** With the index `destination`. */
  streams: Owned<LoopStream>;
  quotas: Pick<Quotas, 'make' | 'check'>;
  /** Streams may be sent to private addresses. */
  allowPrivate: boolean;
  clock?: Clock;
}

const show = ({ metadata, spec, status }: Resource): Destination => ({
  id: metadata.name,
  name: spec.displayName ?? metadata.name,
  rtmpUrl: status?.rtmpUrl ?? '',
  rtmpKeyHint: status?.rtmpKeyHint ?? '',
  hasLogin: status?.hasLogin ?? false,
  createdAt: metadata.creationTimestamp,
});

/** A new value for every change of a Secret: it makes the operator look again. */
const secretVersion = () => ({ [SECRET_VERSION_ANNOTATION]: newId('v') });

export function createDestinationService({
  kube,
  destinations,
  streams,
  quotas,
  allowPrivate,
  clock,
}: DestinationServiceDeps) {
  const { namespace } = destinations;

  /** The Secret goes with its Destination: Kubernetes' garbage collector follows the owner reference. */
  const createSecret = async (accountId: string, owner: Resource, changes: SecretChanges) => {
    const secret: Omit<Secret, 'spec'> = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: owner.spec.secretName,
        namespace,
        labels: { [ACCOUNT_LABEL]: accountId, [MANAGED_BY_LABEL]: MANAGED_BY },
        ownerReferences: [
          { apiVersion: API_VERSION, kind: DESTINATIONS.kind, name: owner.metadata.name, uid: owner.metadata.uid },
        ],
      },
      type: 'Opaque',
      // Kubernetes turns it into `data`, also of a merge patch.
      stringData: changes,
    };
    try {
      await kube.create(SECRETS, namespace, secret as Secret);
    } catch (error) {
      // An earlier try of the same request got this far.
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      await kube.mergePatch(SECRETS, namespace, owner.spec.secretName, { stringData: changes });
    }
  };

  const writeStatus = (destination: Resource, status: DestinationStatus) =>
    destinations.patch(destination, { status }, { subresource: 'status' });

  /**
   * A key must not outlive its destination, so its Secret goes first and at once; the garbage collector, which would take
   * it in its own time, is for what is deleted past us. A Secret that someone else made is theirs to delete.
   */
  const remove = async (destination: Resource) => {
    const { name } = destination.metadata;
    if (destination.spec.secretName === name) await kube.delete(SECRETS, namespace, name);
    await destinations.delete(destination);
  };

  const users = (accountId: string, id: string) => streams.referring(accountId, 'destination', id);

  return {
    /** All of it or nothing: when the Secret cannot be written, the Destination is taken back. */
    async create(accountId: string, input: DestinationCreate): Promise<Destination> {
      const { changes, status } = readChanges(input, allowPrivate);
      const destination = await quotas.make(accountId, 'destinations', input, () =>
        destinations.create(accountId, (id) => ({ displayName: input.name, secretName: id })),
      );
      try {
        await createSecret(accountId, destination, changes);
        return show(await writeStatus(destination, status));
      } catch (error) {
        await remove(destination).catch(() => undefined);
        throw error;
      }
    },

    /** `where` is asked of each as clients see it. */
    list: (accountId: string, args: PageArgs, where?: (it: Destination) => boolean): Connection<Destination> =>
      destinations.page(accountId, args, show, where && ((destination) => where(show(destination)))),

    get: (accountId: string, id: string): Destination => show(destinations.get(accountId, id)),

    async update(accountId: string, id: string, given: DestinationUpdate): Promise<Destination> {
      const destination = destinations.get(accountId, id);
      const { rtmpUrl, ...others } = given;
      // What comes back as it was shown is no change: the hidden values stay what they are.
      const isAsShown = rtmpUrl !== undefined && hasHidden(rtmpUrl) && rtmpUrl === destination.status?.rtmpUrl;
      const input: DestinationUpdate = isAsShown ? others : given;
      const { changes, status } = readChanges(input, allowPrivate, destination.status ?? {});
      const changesSecret = Object.keys(changes).length > 0;
      if (changesSecret) {
        const { secretName } = destination.spec;
        try {
          await kube.mergePatch(SECRETS, namespace, secretName, { stringData: changes });
        } catch (error) {
          // An admission policy of the chart lets this service write Secrets of its own names alone.
          if (error instanceof KubeError && error.status === 403)
            throw new AppError(
              'conflict',
              'The API does not manage the Secret of this destination. Change it with kubectl, or create another destination.',
              { cause: error },
            );
          // Someone removed it: with URL and key at hand it can be made again, with one of them it cannot.
          if (!(error instanceof KubeError) || error.status !== 404) throw error;
          if (changes.rtmpUrl === undefined || changes.rtmpKey === undefined)
            throw new AppError(
              'conflict',
              'The Secret of this destination does not exist. Send rtmpUrl and rtmpKey together, with rtmpUser and rtmpPassword if it had them.',
            );
          await createSecret(accountId, destination, changes);
        }
      }
      const patched = await destinations.patch(destination, {
        ...(changesSecret ? { metadata: { annotations: secretVersion() } } : {}),
        ...(input.name === undefined ? {} : { spec: { displayName: input.name } }),
      });
      return show(changesSecret ? await writeStatus(patched, status) : patched);
    },

    async delete(accountId: string, id: string): Promise<void> {
      const destination = destinations.get(accountId, id);
      const streamIDs = users(accountId, id).map(({ metadata }) => metadata.name);
      if (streamIDs.length > 0) {
        const detail = `Streams send to this destination: ${streamIDs.join(', ')}.`;
        throw new AppError('destination_in_use', detail, { extras: { streamIDs } });
      }
      await remove(destination);
    },

    test: createTests({ destinations, streams, quotas, ...(clock && { clock }) }),
  };
}

/**
 * Creates, changes and deletes destinations. URL, key and login live in a Secret, which this service may write but never reads; the
 * resource's status contains their public part. The token of a platform's account lives in another.
 */

import { type Clock, kubeTime, systemClock } from '../../../core/lib/clock.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { tidyUrl } from '../../../core/lib/pasted.ts';
import { readLabels } from '../../../core/resources/common/labels.ts';
import {
  platformSecretName,
  RETRY_ANNOTATION,
  SECRET_FINALIZER,
  SECRET_VERSION_ANNOTATION,
} from '../../../core/resources/common/names.ts';
import { hasHidden } from '../../../core/resources/destination/ingest.ts';
import type { DestinationPlatform } from '../../../core/resources/destination/platform.ts';
import type { Destination as Resource } from '../../../core/resources/destination/resource.ts';
import { type DestinationStatus, holdsDestination, NOT_RUN, ON_AIR } from '../../../core/resources/destination/spec.ts';
import { listReceivers } from '../../../core/resources/stream/destinations.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { patchLabels } from '../../lib/labels.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import { newId, type OwnedResources } from '../limits/owned-resources.ts';
import type { Quotas } from '../limits/quotas.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import { type Interrupted, judgeDestinationChange } from './effect.ts';
import {
  isRepairStalled,
  nameSecret,
  patchPlatform,
  readPlatform,
  showPlatform,
  showPlatformLive,
} from './platform.ts';
import {
  BY_PLATFORM,
  type Destination,
  type DestinationChange,
  type DestinationCreate,
  type DestinationUpdate,
} from './record.ts';
import { readChanges, type SecretChanges } from './secret-changes.ts';
import type { SecretStore } from './secret-store.ts';
import { callFields, type LongNames, readNames } from './short-names.ts';
import { createTests, showTest } from './testing.ts';

export type DestinationService = ReturnType<typeof createDestinationService>;

export interface DestinationServiceDeps {
  secrets: SecretStore;
  destinations: OwnedResources<Resource>;
  /** Needs the index `destination`. */
  streams: OwnedResources<LoopStream>;
  quotas: Pick<Quotas, 'make' | 'check'>;
  /** Allows destinations at private addresses. */
  allowPrivate: boolean;
  /** Allows watch addresses of private networks. */
  allowPrivateWatch: boolean;
  /** Returns the destinations that receive a stream now; undefined while nobody can say. */
  findConnected?: (accountId: string, id: string) => Promise<readonly string[] | undefined>;
  clock?: Clock;
}

/** A result of another URL or key says nothing of these, and one of a test that did not run says nothing at all. */
function showLastTest(status: DestinationStatus | undefined): Destination['lastTest'] {
  const test = status?.test;
  if (!test || test.code === NOT_RUN || test.code === ON_AIR || test.secretVersion !== status?.secretVersion)
    return null;
  return { ...showTest(test), finishedAt: test.finishedAt };
}

const showAt = (destination: Resource, now: Date): Destination => {
  const { metadata, spec, status } = destination;
  const { rtmpUrl = '', rtmpKeyHint = '' } = status ?? {};
  return {
    id: metadata.name,
    name: spec.displayName ?? metadata.name,
    labels: readLabels(destination),
    rtmpUrl,
    url: rtmpUrl,
    rtmpKeyHint,
    keyHint: rtmpKeyHint,
    hasLogin: status?.hasLogin ?? false,
    leastBitrateKbps: spec.leastBitrateKbps ?? null,
    lastTest: showLastTest(status),
    platform: showPlatform(spec.platform),
    platformLive: showPlatformLive(destination, now),
    createdAt: metadata.creationTimestamp,
  };
};

/** A view of another place says nothing of where viewers are now. Returns the merge patch of the status, if it has such a view. */
function expireView({ spec, status }: Resource, before: DestinationPlatform | undefined, now: Date) {
  const { kind, url, channel, videoId } = spec.platform ?? {};
  const isSame =
    before?.kind === kind && before?.url === url && before?.channel === channel && before?.videoId === videoId;
  if (isSame || !spec.platform || !status?.platform) return undefined;
  // The operator may remove it meanwhile, and needs both.
  return { platform: { checkedAt: status.platform.checkedAt, expiresAt: kubeTime(now) } };
}

/** Null takes it out of the resource. */
const readLeastBitrate = (given: DestinationUpdate['leastBitrateKbps']): number | null =>
  given === undefined || given === BY_PLATFORM ? null : given;

const isTokenOurs = ({ metadata, spec }: Resource): boolean =>
  spec.platform?.secretName === platformSecretName(metadata.name);

/** One that others made has no finalizer yet, which keeps it until its token is deleted. */
const holdFor = ({ metadata: { finalizers = [], resourceVersion } }: Resource) =>
  finalizers.includes(SECRET_FINALIZER)
    ? {}
    : { finalizers: [...finalizers, SECRET_FINALIZER], ...(resourceVersion !== undefined && { resourceVersion }) };

/** A new value for every change of a Secret makes the operator requeue the destination. */
const secretVersion = () => ({ [SECRET_VERSION_ANNOTATION]: newId('v') });

export function createDestinationService({
  secrets,
  destinations,
  streams,
  quotas,
  allowPrivate,
  allowPrivateWatch,
  findConnected,
  clock = systemClock,
}: DestinationServiceDeps) {
  const show = (destination: Resource): Destination => showAt(destination, clock.now());
  const writeStatus = (destination: Resource, status: object) =>
    destinations.patch(destination, { status }, { subresource: 'status' });

  /**
   * Key and token must not outlive their destination, so the Secrets are deleted first. The operator deletes those of destinations that others
   * delete. This service leaves a Secret that it did not create.
   */
  const remove = async (destination: Resource) => {
    if (destination.spec.secretName === destination.metadata.name) await secrets.delete(destination);
    if (isTokenOurs(destination)) await secrets.deleteToken(destination);
    await destinations.delete(destination);
    await destinations.release(destination, SECRET_FINALIZER);
  };

  /** The streams on air to a destination, with the destinations that receive each. */
  const findInterrupted = (accountId: string, id: string): Promise<Interrupted[]> =>
    Promise.all(
      users(accountId, id)
        .filter(({ spec, status }) => holdsDestination(status?.phase) && listReceivers(spec).includes(id))
        .map(async (stream) => ({ stream, receiving: await findConnected?.(accountId, stream.metadata.name) })),
    );

  const changeSecret = async (accountId: string, destination: Resource, changes: SecretChanges, dryRun: boolean) => {
    const patched = await secrets.patch(destination, changes, { dryRun });
    if (patched === 'not managed')
      throw new AppError(
        'conflict',
        'The API does not manage the Secret of this destination. Change it with kubectl, or create another destination.',
      );
    if (patched === 'patched') return;
    // URL and key together can recreate the Secret, one of them cannot.
    if (changes.rtmpUrl === undefined || changes.rtmpKey === undefined)
      throw new AppError(
        'conflict',
        'The Secret of this destination does not exist. Send rtmpUrl and rtmpKey together, with rtmpUser and rtmpPassword if it had them.',
      );
    await secrets.create(accountId, destination, changes, { dryRun });
  };

  const users = (accountId: string, id: string) => streams.referring(accountId, 'destination', id);

  return {
    /** Deletes the Destination again if its Secret cannot be written. */
    async create(accountId: string, asked: DestinationCreate): Promise<Destination> {
      const input = readNames(asked);
      if (input.rtmpUrl === undefined) throw validationFailed([{ path: '/rtmpUrl', message: 'is required' }]);
      const { changes, status } = readChanges(input, allowPrivate, undefined, callFields(asked));
      const given = readPlatform(input.platform ?? null, { allowPrivate: allowPrivateWatch });
      const buildSpec = (id: string) => {
        const platform = nameSecret(id, given);
        const leastBitrateKbps = readLeastBitrate(input.leastBitrateKbps);
        return {
          ...{ displayName: input.name, secretName: id },
          ...(leastBitrateKbps !== null && { leastBitrateKbps }),
          ...(platform && { platform }),
        };
      };
      const destination = await quotas.make(accountId, 'destinations', input, () =>
        destinations.create(accountId, buildSpec, { labels: input.labels, finalizers: [SECRET_FINALIZER] }),
      );
      try {
        await secrets.create(accountId, destination, changes);
        if (given.refreshToken !== undefined) await secrets.putToken(accountId, destination, given.refreshToken);
        return show(await writeStatus(destination, status));
      } catch (error) {
        await remove(destination).catch(() => undefined);
        throw error;
      }
    },

    /** `where` filters by the shape that clients see. */
    list: (accountId: string, args: FilteredArgs, where?: (it: Destination) => boolean): Connection<Destination> =>
      destinations.page(accountId, args, show, where && ((destination) => where(show(destination)))),

    get: (accountId: string, id: string): Destination => show(destinations.get(accountId, id)),

    async update(
      accountId: string,
      id: string,
      asked: DestinationUpdate,
      { dryRun = false }: { dryRun?: boolean | undefined } = {},
    ): Promise<DestinationChange> {
      const destination = destinations.get(accountId, id);
      const given = readNames(asked, destination.status?.rtmpUrl);
      const { rtmpUrl, ...others } = given;
      // A URL sent back as it was shown is no change: hidden values stay.
      const isAsShown = rtmpUrl !== undefined && hasHidden(rtmpUrl) && tidyUrl(rtmpUrl) === destination.status?.rtmpUrl;
      const input: LongNames<DestinationUpdate> = isAsShown ? others : given;
      const { changes, status } = readChanges(input, allowPrivate, destination.status ?? {}, callFields(asked));
      const before = destination.spec.platform;
      const next =
        input.platform === undefined
          ? undefined
          : readPlatform(input.platform, { before, allowPrivate: allowPrivateWatch });
      await destinations.admit(accountId);
      const changesSecret = Object.keys(changes).length > 0;
      // After the write a stream may have left the destination already.
      const interrupted = changesSecret ? await findInterrupted(accountId, id) : [];
      if (changesSecret) await changeSecret(accountId, destination, changes, dryRun);
      if (next?.refreshToken !== undefined)
        await secrets.putToken(accountId, destination, next.refreshToken, { dryRun });
      const patch = {
        metadata: {
          ...patchLabels(destination, input.labels),
          ...((changesSecret || next?.refreshToken !== undefined) && { annotations: secretVersion() }),
          ...(next?.refreshToken !== undefined && holdFor(destination)),
        },
        spec: {
          ...(input.name !== undefined && { displayName: input.name }),
          ...(input.leastBitrateKbps !== undefined && { leastBitrateKbps: readLeastBitrate(input.leastBitrateKbps) }),
          ...(next && { platform: patchPlatform(nameSecret(id, next)) }),
        },
      };
      const patched = await destinations.patch(destination, patch, { completes: true, dryRun });
      if (!dryRun && isTokenOurs(destination) && !isTokenOurs(patched)) await secrets.deleteToken(destination);
      const effect = { ...judgeDestinationChange(id, interrupted), dryRun };
      const expired = next && expireView(patched, before, clock.now());
      if (!changesSecret && !expired) return { ...show(patched), ...effect };
      const shown = dryRun
        ? { ...patched, status: { ...patched.status, ...status } }
        : await writeStatus(patched, { ...status, ...expired });
      return { ...show(shown), ...effect };
    },

    async delete(accountId: string, id: string): Promise<void> {
      const destination = destinations.get(accountId, id);
      const holders = users(accountId, id);
      if (holders.length > 0) {
        const detail = `Streams send to this destination: ${callReached(holders)}.`;
        throw new AppError('destination_in_use', detail, { extras: { streamIDs: listReachedIds(holders) } });
      }
      await remove(destination);
    },

    /** Lets a repair of broadcasts that has stalled go on. Throws `repair_not_stalled`. */
    async resumeRepair(accountId: string, id: string): Promise<Destination> {
      const destination = destinations.get(accountId, id);
      const tryId = currentIntent()?.newId('try') ?? newId('try');
      // An earlier try of the same request got this far.
      if (destination.metadata.annotations?.[RETRY_ANNOTATION]?.endsWith(` ${tryId}`)) return show(destination);
      if (destination.spec.platform?.policy !== 'Repair' || !isRepairStalled(destination))
        throw new AppError('repair_not_stalled', 'No repair of a broadcast has stalled at this destination.');
      const annotations = { [RETRY_ANNOTATION]: `${kubeTime(clock.now())} ${tryId}` };
      return show(await destinations.patch(destination, { metadata: { annotations } }));
    },

    test: createTests({ destinations, streams, quotas, clock }),
  };
}

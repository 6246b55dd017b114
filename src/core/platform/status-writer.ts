/**
 * Writes what the observers report into the status of destinations: `status.platform` without its repair, and the condition PlatformLive. The
 * operator writes the rest of the status; both send the version that they have read, so that neither undoes the other's words.
 */
import { hasReason, type Kube } from '../kube/types.ts';
import type { Clock } from '../lib/clock.ts';
import { isSameJson } from '../lib/json-equal.ts';
import { type Reconcile, splitKey } from '../operator/runtime/controller.ts';
import { type Condition, findCondition } from '../resources/common/conditions.ts';
import { FIELD_MANAGER_PLATFORM } from '../resources/common/names.ts';
import { PLATFORM_LIVE, type PlatformStatus } from '../resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../resources/destination/resource.ts';
import type { PlatformCaches } from './caches.ts';
import type { PlatformVerdict } from './common/verdict.ts';
import { planWrite, type Statement } from './statement.ts';

/** A spec that has just changed says where to look now: what was seen elsewhere is no answer. */
const JUST_EDITED: PlatformVerdict = { status: 'Unknown', reason: 'starting', issues: [] };
const EDITED_VALID_MS = 120_000;

/** Fields that a merge patch removes where they are missing. */
const OPTIONAL = { lastSeenAt: null, viewers: null, broadcastId: null, issues: null };

export interface WriterDeps {
  kube: Kube;
  caches: Pick<PlatformCaches, 'destinations'>;
  clock: Clock;
  /** The number of destinations that are looked at. */
  countTargets: () => number;
}

export interface StatusWriter {
  /** Takes a report of an observer. Returns false where the destination is gone, or nobody asks about it any more. */
  take(key: string, verdict: PlatformVerdict, validMs: number): boolean;
  /** Compares the spec with the one that the last reports were of. */
  noteSpec(key: string, current: Destination | undefined, previous: Destination | undefined): void;
  reconcile: Reconcile;
}

export function createStatusWriter({ kube, caches, clock, countTargets }: WriterDeps): StatusWriter {
  const statements = new Map<string, Statement>();
  const findDestination = (key: string) => caches.destinations.get(...splitKey(key));
  const state = (key: string, uid: string, verdict: PlatformVerdict, validMs: number, isSure: boolean) => {
    const before = statements.get(key);
    const isInformed = isSure || (before?.uid === uid && before.isInformed);
    statements.set(key, { uid, verdict, checkedMs: clock.now().getTime(), validMs, isInformed });
  };

  /** `platform` is a merge patch. */
  const write = async (
    { metadata }: Destination,
    platform: { [Field in keyof PlatformStatus]?: PlatformStatus[Field] | null } | null,
    conditions: Condition[],
  ): Promise<void> => {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion }, status: { platform, conditions } };
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER_PLATFORM } as const;
    try {
      caches.destinations.upsert(await kube.mergePatch(DESTINATIONS, namespace, name, patch, options));
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error;
    }
  };

  const clear = async (destination: Destination): Promise<void> => {
    const { platform, conditions = [] } = destination.status ?? {};
    if (!platform && !findCondition(conditions, PLATFORM_LIVE)) return;
    await write(
      destination,
      null,
      conditions.filter(({ type }) => type !== PLATFORM_LIVE),
    );
  };

  return {
    take(key, verdict, validMs) {
      const destination = findDestination(key);
      if (!destination?.spec.platform || destination.metadata.deletionTimestamp) return false;
      const isSure = verdict.status !== 'Unknown' || verdict.reason === 'not_sending';
      state(key, destination.metadata.uid, verdict, validMs, isSure);
      return true;
    },
    noteSpec(key, current, previous) {
      if (current?.metadata.uid !== previous?.metadata.uid || !current?.spec.platform) statements.delete(key);
      else if (current && previous?.spec.platform && !isSameJson(pickPlace(current), pickPlace(previous)))
        state(key, current.metadata.uid, JUST_EDITED, EDITED_VALID_MS, true);
    },
    async reconcile(key) {
      const destination = findDestination(key);
      if (!destination || destination.metadata.deletionTimestamp) return undefined;
      if (!destination.spec.platform) {
        await clear(destination);
        return undefined;
      }
      const statement = statements.get(key);
      if (statement?.uid !== destination.metadata.uid) return undefined;
      const plan = planWrite(destination, statement, clock.now(), countTargets());
      if (plan.kind === 'wait') return { requeueAfterMs: plan.ms };
      if (plan.kind === 'write') await write(destination, { ...OPTIONAL, ...plan.platform }, plan.conditions);
      return undefined;
    },
  };
}

/** Where to look. The policy only says what may be done about it. */
const pickPlace = ({ spec }: Destination) => ({ ...spec.platform, policy: undefined, sent: spec.secretName });

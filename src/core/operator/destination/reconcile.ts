/**
 * Reconciles one destination: reads its Secret, judges it, advances a test that is asked for, and writes its status. The Secret is
 * never watched, so that the operator needs no more than `get` on Secrets. A destination is reconciled when it changes (the API
 * server marks it when it writes the Secret), and from time to time (pace.ts).
 */

import { SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Stored } from '../../kube/types.ts';
import { shortenAtRandom } from '../../lib/backoff.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { findStallTime } from '../../resources/common/health.ts';
import { findPlatformExpiry, settlePlatform } from '../../resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import { type DestinationStatus, holdsDestination, type TestStatus } from '../../resources/destination/spec.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { BY_DESTINATION } from '../caches/caches.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import {
  buildWarningEvent,
  describeMissingRole,
  type Reconcile,
  replaceStatus,
  requeueAt,
  splitKey,
  writeStatus,
} from '../runtime/controller.ts';
import { buildDestinationEvents } from './events.ts';
import { holdSecret, letDestinationGo } from './held-secret.ts';
import type { DestinationUse, Pace } from './pace.ts';
import { buildDestinationStatus, type FoundSecret, findSecretVersion } from './status.ts';
import { Tester } from './tester.ts';

const REQUEUE_MS = { notReady: 60_000, soonest: 500 };
/** The API server makes a Secret after its Destination, so for a moment it is missing. */
const SECRET_GRACE_MS = 5_000;

export function reconcileDestination(deps: ControllerDeps, pace: Pace): Reconcile {
  const tester = new Tester(deps);
  /** Versions of the Secrets with which destinations, as the cache has them, were judged ready. The same version again says the same. */
  const judgedReady = new WeakMap<Destination, string>();
  const reconcile: Reconcile = async (key) => {
    const found = deps.caches.destinations.get(...splitKey(key));
    if (!found || found.metadata.deletionTimestamp) {
      tester.leave(key);
      if (found) await letDestinationGo(deps, found);
      return undefined;
    }
    const settled = settlePlatform(found, deps.clock.now());
    if (settled && (await replaceStatus(deps, DESTINATIONS, deps.caches.destinations, found, settled)))
      return undefined;
    const { destination, secret } = await readHeldSecret(deps, found);
    const now = deps.clock.now();
    const ageMs = now.getTime() - Date.parse(destination.metadata.creationTimestamp);
    if (!secret && ageMs < SECRET_GRACE_MS) return { requeueAfterMs: REQUEUE_MS.soonest };
    if (secret === 'forbidden' && wasReady(destination)) {
      // Streams on air have what they need: a Role that is away for a while takes none of them off air.
      const message = describeMissingRole(destination.metadata.namespace ?? '');
      deps.events.event(destination, buildWarningEvent('DestinationSecretMissing', message));
      return { requeueAfterMs: shortenAtRandom(REQUEUE_MS.notReady) };
    }

    const restMs = pace(findUse(deps.caches.streams.byIndex(BY_DESTINATION, key)));
    const secretVersion = findSecretVersion(secret);
    if (secretVersion !== undefined && judgedReady.get(destination) === secretVersion && tester.isIdle(destination))
      return { requeueAfterMs: shortenAtRandom(restMs) };

    const judged = buildDestinationStatus(destination, secret, now, deps.settings);
    const ready = findCondition(judged.conditions, 'Ready');
    const step = await tester.advance(key, destination, { ready, secretVersion });

    await writeDestinationStatus(deps, destination, judged, step.result);
    if (step.remove) await tester.remove(step.remove);
    const isReady = ready?.status === 'True';
    // The cache has another object for it once the status is written.
    if (isReady && secretVersion !== undefined) judgedReady.set(destination, secretVersion);
    const waitMs = shortenAtRandom(isReady ? restMs : Math.min(restMs, computePatience(ageMs)));
    const stallMs = requeueAt(findStallTime(judged.conditions), now)?.requeueAfterMs ?? waitMs;
    return { requeueAfterMs: Math.min(waitMs, stallMs, step.requeueAfterMs ?? waitMs) };
  };
  return async (key) => {
    const outcome = await reconcile(key);
    const expiryMs = findExpiryMs(deps, key);
    const waitMs = Math.min(outcome?.requeueAfterMs ?? Number.POSITIVE_INFINITY, expiryMs);
    return Number.isFinite(waitMs) ? { requeueAfterMs: waitMs } : undefined;
  };
}

/** How long what is known of a destination's viewers still holds, in milliseconds. */
function findExpiryMs({ caches, clock }: ControllerDeps, key: string): number {
  const found = caches.destinations.get(...splitKey(key));
  const expiresAt = found && findPlatformExpiry(found);
  const now = clock.now();
  if (!expiresAt || expiresAt <= now) return Number.POSITIVE_INFINITY;
  return requeueAt(expiresAt, now)?.requeueAfterMs ?? Number.POSITIVE_INFINITY;
}

const wasReady = ({ status }: Destination): boolean => findCondition(status?.conditions, 'Ready')?.status === 'True';

async function readHeldSecret(deps: ControllerDeps, destination: Destination) {
  const secret = await readSecret(deps, destination);
  return typeof secret === 'object' ? holdSecret(deps, destination, secret) : { destination, secret };
}

async function readSecret(
  { kube }: ControllerDeps,
  { metadata, spec }: Destination,
): Promise<Stored<Secret> | Exclude<FoundSecret, Secret>> {
  try {
    return await kube.get(SECRETS, metadata.namespace ?? '', spec.secretName);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    if (hasReason(error, 'Forbidden')) return 'forbidden';
    throw error;
  }
}

async function writeDestinationStatus(
  deps: ControllerDeps,
  destination: Destination,
  judged: DestinationStatus,
  result: TestStatus | undefined,
): Promise<void> {
  const { caches, events } = deps;
  const status = result ? { ...judged, test: result } : judged;
  const ready = findCondition(judged.conditions, 'Ready');
  if (!(await writeStatus(deps, DESTINATIONS, caches.destinations, destination, status)) || !ready) return;
  const before = findCondition(destination.status?.conditions, 'Ready');
  for (const event of buildDestinationEvents(before, ready, result)) events.event(destination, event);
}

function findUse(streams: readonly LoopStream[]): DestinationUse {
  if (streams.some(({ status }) => holdsDestination(status?.phase))) return 'onAir';
  return streams.length > 0 ? 'used' : 'unused';
}

/** The younger a destination, the sooner its Secret may turn up: a quarter of its age, from half a second to a minute. */
const computePatience = (ageMs: number): number =>
  Math.max(REQUEUE_MS.soonest, Math.min(REQUEUE_MS.notReady, ageMs / 4));

/** What the three controllers have in common: the tools they work with, and how they write a status. */

import type { EventRecorder } from '../kube/events.ts';
import type { Reflector } from '../kube/reflector.ts';
import { type Kube, KubeError, type KubeObject, type Resource, type Stored } from '../kube/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Condition } from '../resources/common/conditions.ts';
import { API_VERSION, FIELD_MANAGER_OPERATOR } from '../resources/common/names.ts';
import type { Caches } from './caches.ts';
import type { OnAir } from './onair.ts';
import type { PodSettings } from './restricted.ts';
import type { Rollout } from './rollout.ts';
import { sameStatus } from './status.ts';

export interface Tools {
  kube: Kube;
  caches: Caches;
  settings: PodSettings;
  events: EventRecorder;
  /** How far the active Jobs are, by UID, as far as they could be asked. */
  fractions: ReadonlyMap<string, number>;
  /** The pods of streams on air. */
  onAir: Pick<OnAir, 'newsOf' | 'skip' | 'release' | 'stop'>;
  rollout: Pick<Rollout, 'mayRoll' | 'againMs'>;
  clock: Clock;
  log: Logger;
  /** Sessions are kept until somebody acknowledges them. */
  metered: boolean;
}

export type Reconcile = (key: string) => Promise<{ requeueAfterMs?: number } | undefined>;

/** A timer that follows the monotonic clock may come a little before the wall clock's moment; this much later it does not. */
const MARGIN_MS = 100;
/** Looking again costs a glance into caches, so a wall clock that jumps is noticed at the latest after this. */
const LONGEST_WAIT_MS = 600_000;

export const waitUntil = (at: Date | undefined, now: Date): { requeueAfterMs?: number } | undefined =>
  at && { requeueAfterMs: Math.min(LONGEST_WAIT_MS, Math.max(0, at.getTime() - now.getTime()) + MARGIN_MS) };

/**
 * What is refused in the same words but passes: a new namespace has no service account for its first moments, and admission
 * that asks who makes an owner reference (OwnerReferencesPermissionEnforcement) knows a new kind up to half a minute later.
 */
const PASSING = ['error looking up service account', 'because cannot find RESTMapping'];

/** Kubernetes will not have it, today or tomorrow, as long as it is not changed. */
export const isRefusal = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  (error.reason === 'Invalid' || error.reason === 'Forbidden') &&
  !PASSING.some((words) => error.message.includes(words));

export const isReason = (error: unknown, ...reasons: string[]): error is KubeError =>
  error instanceof KubeError && reasons.includes(error.reason);

/**
 * Writes the operator's part of a status, unless it already says so. What others keep there stays (server-side apply).
 * Answers false when nothing was written; an object that has gone in the meantime needs no status.
 */
export async function writeStatus<T extends KubeObject<unknown, { conditions?: Condition[] }>>(
  { kube }: Tools,
  resource: Resource<T>,
  cache: Reflector<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
  /** Of exactly this version of the object: what is not in `status` any more must not be lost by a look at an old one. */
  { exact = false } = {},
): Promise<boolean> {
  if (sameStatus(object.status, status)) return false;
  const { name, namespace = '', uid, resourceVersion } = object.metadata;
  const metadata = { name, namespace, uid, ...(exact && { resourceVersion }) };
  try {
    const written = await kube.apply<T>(
      resource,
      namespace,
      // The UID keeps the status from reaching a successor of the same name.
      { apiVersion: API_VERSION, kind: resource.kind, metadata, status },
      { fieldManager: FIELD_MANAGER_OPERATOR, subresource: 'status' },
    );
    cache.upsert(written);
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    throw error;
  }
}

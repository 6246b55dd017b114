/** Holds what the controllers share: keys, waits, and the errors of Kubernetes that they expect. */

import { KubeError } from '../../kube/types.ts';

export type Reconcile = (key: string) => Promise<{ requeueAfterMs?: number } | undefined>;

/** A key of the queues and indexes: `namespace/name`. */
export const keyIn = (namespace: string | undefined, name: string): string => `${namespace}/${name}`;

export const splitKey = (key: string): [namespace: string, name: string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
};

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

/** Holds what the controllers share: keys, waits, the errors of Kubernetes that they expect, conditions, Events, the status writer. */

import type { EventInput } from '../../kube/events.ts';
import type { Reflector } from '../../kube/reflector.ts';
import { hasReason, type Kube, KubeError, type KubeObject, type Resource, type Stored } from '../../kube/types.ts';
import { kubeTime } from '../../lib/clock.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import { type Condition, findCondition, HEALTH_CONDITIONS, type Verdict } from '../../resources/common/conditions.ts';
import { API_VERSION, FIELD_MANAGER_OPERATOR } from '../../resources/common/names.ts';
import { READINESS_CONDITIONS } from '../../resources/stream/spec.ts';
import { ON_AIR_FOR_VIEWERS } from '../../resources/stream/viewers.ts';
import { QUARANTINED_CONDITION } from '../../resources/upload/quarantine.ts';

export type Reconcile = (key: string) => Promise<{ requeueAfterMs?: number } | undefined>;

/** A key of the queues and indexes: `namespace/name`. */
export const joinKey = (namespace: string | undefined, name: string): string => `${namespace}/${name}`;

export const splitKey = (key: string): [namespace: string, name: string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
};

/** A timer that follows the monotonic clock may come a little before the wall clock's moment; this much later it does not. */
const MARGIN_MS = 100;
/** Looking again costs a glance into caches, so a wall clock that jumps is noticed at the latest after this. */
const LONGEST_WAIT_MS = 600_000;

export const requeueAt = (at: Date | undefined, now: Date): { requeueAfterMs?: number } | undefined =>
  at && { requeueAfterMs: Math.min(LONGEST_WAIT_MS, Math.max(0, at.getTime() - now.getTime()) + MARGIN_MS) };

/** Reasons with which Kubernetes refuses what is written. */
const REFUSALS: ReadonlySet<string> = new Set(['Invalid', 'Forbidden', 'BadRequest', 'RequestEntityTooLarge']);

/**
 * Words of admission, beside which any reason may stand: a webhook and a policy choose theirs, and a webhook that does not answer is an
 * internal error (k8s.io/apiserver, pkg/admission/plugin/webhook/errors and pkg/admission/plugin/policy/validating).
 */
const ADMISSION = /admission webhook "[^"]*" denied the request|denied request: |failed calling webhook/;

/** Kubernetes does not accept what is written. Others may change that: the write is tried again later (retries.ts). */
export const isRefusal = (error: unknown): error is KubeError =>
  error instanceof KubeError && (REFUSALS.has(error.reason) || ADMISSION.test(error.message));

/**
 * Words of refusals that pass within seconds: a new namespace has no service account for its first moments, and admission that asks
 * who makes an owner reference (OwnerReferencesPermissionEnforcement) knows a new kind up to half a minute later.
 */
const PASSING = ['error looking up service account', 'because cannot find RESTMapping'];

export const passesSoon = (message: string): boolean => PASSING.some((words) => message.includes(words));

/** Kubernetes makes nothing more in a namespace that is being deleted. */
export const isOfEndingNamespace = (message: string): boolean => message.includes('because it is being terminated');

/** A sentence of RBAC, and not of admission: the right is missing. */
const WITHOUT_RIGHT = /cannot \w+ resource "/;

export const describeMissingRole = (namespace: string): string =>
  `The Role "loopstream-operator" or its RoleBinding is missing in namespace "${namespace}". Apply manifests/team-namespace.yaml there.`;

/** Why Kubernetes refuses a write in a namespace, for its people: a right that is missing there is not theirs to name. */
export const describeRefusal = ({ reason, message }: KubeError, namespace: string): string =>
  reason === 'Forbidden' && WITHOUT_RIGHT.test(message) ? describeMissingRole(namespace) : message;

export type { Verdict } from '../../resources/common/conditions.ts';

/** The reason and message of a condition, from a named check. */
export interface Finding {
  reason: string;
  message: string;
  /** True when it is too early to say, e.g. because a resource has not been reconciled yet. */
  unknown?: boolean;
}

/** A condition that is True. */
export const yes = <R extends string>(reason: R, message: string) => ({ status: 'True' as const, reason, message });
/** A condition that is False. */
export const no = <R extends string>(reason: R, message: string) => ({ status: 'False' as const, reason, message });

/** Conditions for `verdicts`, in their order; a condition whose status did not change keeps its transition time. */
export const buildConditions = (
  verdicts: readonly Verdict[],
  current: readonly Condition[] | undefined,
  generation: number | undefined,
  now: Date,
): Condition[] =>
  verdicts.map((verdict) => {
    const before = findCondition(current, verdict.type);
    return {
      ...verdict,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: before && before.status === verdict.status ? before.lastTransitionTime : kubeTime(now),
    };
  });

/** The condition types of the operator, of all kinds. One that is not listed here would stay for ever. */
const OWN_CONDITIONS: ReadonlySet<string> = new Set([
  ...HEALTH_CONDITIONS,
  ...READINESS_CONDITIONS,
  'Imported',
  'Prepared',
  QUARANTINED_CONDITION,
  'PodScheduled',
  'Live',
  'Progressing',
  'Degraded',
  ON_AIR_FOR_VIEWERS,
  'SessionsMetered',
  'TimekeepingPlausible',
]);

interface Status {
  conditions?: Condition[];
  /** The meter's. */
  acknowledgedSession?: number;
  /** The process `platform`'s. */
  platform?: unknown;
}

const isOwn = ({ type }: Condition): boolean => OWN_CONDITIONS.has(type);

/** The operator's part of a status, with its conditions by type: their order says nothing. */
const pickOwn = (status: Status | undefined) => ({
  ...status,
  acknowledgedSession: undefined,
  platform: undefined,
  conditions: Object.fromEntries((status?.conditions ?? []).filter(isOwn).map((one) => [one.type, one])),
});

/** True when `next` says what `current` already says. */
export const isSameStatus = (current: Status | undefined, next: Status): boolean =>
  isSameJson(pickOwn(current), pickOwn(next));

const carryAlong = ({ acknowledgedSession, platform, conditions = [] }: Status, next: Status): Status => ({
  ...next,
  ...(acknowledgedSession !== undefined && { acknowledgedSession }),
  ...(platform !== undefined && { platform }),
  conditions: [...(next.conditions ?? []), ...conditions.filter((one) => !isOwn(one))],
});

/**
 * Writes the operator's part of a status if it differs. Returns false when nothing was written; a deleted object needs
 * no status. Fails with Conflict when somebody has changed the object since; the queue then retries the key.
 *
 * It is a PUT, which costs kube-apiserver a sixth less than server-side apply.
 */
export async function writeStatus<T extends KubeObject<unknown, Status>>(
  { kube }: { kube: Kube },
  resource: Resource<T>,
  cache: Reflector<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
): Promise<boolean> {
  if (isSameStatus(object.status, status)) return false;
  return replaceStatus({ kube }, resource, cache, object, carryAlong(object.status ?? {}, status));
}

/** Writes a whole status, with the parts of others. Returns and fails as writeStatus() does. */
export async function replaceStatus<T extends KubeObject<unknown, Status>>(
  { kube }: { kube: Kube },
  resource: Resource<T>,
  cache: Reflector<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
): Promise<boolean> {
  const { name, namespace = '', uid, resourceVersion } = object.metadata;
  const body = {
    apiVersion: API_VERSION,
    kind: resource.kind,
    // The UID keeps the status from reaching a successor of the same name.
    metadata: { name, namespace, uid, resourceVersion },
    status,
  };
  try {
    const options = { fieldManager: FIELD_MANAGER_OPERATOR, subresource: 'status' } as const;
    // Kubernetes keeps the spec, whatever is sent.
    cache.upsert(await kube.replace(resource, namespace, body as KubeObject as T, options));
    return true;
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false;
    throw error;
  }
}

export const buildNormalEvent = (reason: string, message: string): EventInput => ({ type: 'Normal', reason, message });
export const buildWarningEvent = (reason: string, message: string): EventInput => ({
  type: 'Warning',
  reason,
  message,
});

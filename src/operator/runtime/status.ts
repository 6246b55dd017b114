/** Writes the status of an object, and of its conditions keeps the times at which they changed. */

import type { Reflector } from '../../kube/reflector.ts';
import type { Kube, KubeObject, Resource, Stored } from '../../kube/types.ts';
import { kubeTime } from '../../lib/clock.ts';
import { type Condition, findCondition } from '../../resources/common/conditions.ts';
import { API_VERSION, FIELD_MANAGER_OPERATOR } from '../../resources/common/names.ts';
import { isReason } from './controller.ts';
import { same } from './same.ts';

/** One condition as it is decided: when it changed and for which generation is added when the status is written. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** What a named check answers: nothing when all is well. */
export interface Finding {
  reason: string;
  message: string;
  /** True when it is too early to say, e.g. because a resource has not been looked at yet. */
  unknown?: boolean;
}

/** Conditions for `verdicts`, in their order; a condition whose status did not change keeps its transition time. */
export const conditionsOf = (
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

/** The status without what others keep there (server-side apply leaves that alone). */
const ownPart = <S extends { conditions?: Condition[] }>(status: S | undefined, own: readonly Condition[]) => ({
  ...status,
  acknowledgedSession: undefined,
  conditions: own.map(({ type }) => findCondition(status?.conditions, type)),
});

/** True when `next` says what `current` already says. */
export const sameStatus = <S extends { conditions?: Condition[] }>(current: S | undefined, next: S): boolean =>
  same(ownPart(current, next.conditions ?? []), ownPart(next, next.conditions ?? []));

/**
 * Writes the operator's part of a status, unless it already says so. What others keep there stays (server-side apply).
 * Answers false when nothing was written; an object that has gone in the meantime needs no status.
 */
export async function writeStatus<T extends KubeObject<unknown, { conditions?: Condition[] }>>(
  { kube }: { kube: Kube },
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

/**
 * Decides when a write that Kubernetes has refused is tried again. Others mend what refuses it (a quota, a policy, a label of the
 * namespace, a class that is missing), and nothing tells the operator. So each refusal is tried again, after a pause that grows with the
 * time that it has lasted. An edit or a request is tried at once. The tries of one namespace never come all at once, whatever their
 * number. After an operator has begun anew, it knows no more than the status does. Pure: no I/O, no clock.
 */

import type { KubeError } from '../../kube/types.ts';
import { passesSoon } from './controller.ts';

/** A write that may be refused, e.g. the creation of a stream's pod. */
export interface Attempt {
  /** Key of the object that it is done for. */
  key: string;
  namespace: string;
  /** The action, its edit and its request. Another version than the one that was refused is tried at once. */
  version: string;
}

export interface Refusal {
  /** Why, in the words of Kubernetes. */
  message: string;
  retryAt: Date;
  /** It should pass by itself within seconds, so no status reports it. */
  passesSoon: boolean;
}

/** A refusal in the status of an object. */
export interface KnownRefusal {
  message: string;
  since: Date;
}

interface Kept {
  attempt: Attempt;
  message: string;
  sinceMs: number;
  retryAtMs: number;
  /** It has a place among the tries of its namespace, at `retryAtMs`. */
  hasPlace: boolean;
  passesSoon: boolean;
}

const SHORTEST_MS = 3_000;
/** A setting of the namespace most often mends a write that is Forbidden. */
const LONGEST_MS = 60_000;
/** Invalid is what Kubernetes says of a field that it will never accept, and by default of a policy, which others may change. */
const LONGEST_INVALID_MS = 600_000;
/** A pause is this part of the time that the refusal has lasted. */
const PART = 1 / 3;
/** A pause is longer or shorter by up to this part, so that what was refused together is not tried together. It never exceeds the longest. */
const SPREAD = 0.25;

/** A refusal that passes by itself is tried again after this, for as long as it may take by what is known. */
const PASSING = { pauseMs: 1_000, longestMs: 30_000 };

/** `random` is in [0, 1). */
export function computePauseMs(
  { lastedMs, longestMs }: { lastedMs: number; longestMs: number },
  random: number,
): number {
  const pauseMs = Math.min(longestMs / (1 + SPREAD), Math.max(SHORTEST_MS, lastedMs * PART));
  return Math.round(pauseMs * (1 - SPREAD + 2 * SPREAD * random));
}

/** Time between two tries of a namespace once BURST of them were done at once. */
const GAP_MS = 100;
const BURST = 10;

/** Places in time for what is done in each namespace: at most BURST at once, one in GAP_MS over time. */
function createPlaces() {
  /** Namespace → when its last place is used up (the generic cell rate algorithm). */
  const usedUp = new Map<string, number>();
  /** Takes the next place from `nowMs` on, and returns its time. */
  return (namespace: string, nowMs: number): number => {
    const before = Math.max(nowMs, usedUp.get(namespace) ?? 0);
    usedUp.set(namespace, before + GAP_MS);
    return Math.max(nowMs, before - (BURST - 1) * GAP_MS);
  };
}

export type Retries = ReturnType<typeof createRetries>;

/** `enqueueAfter` is called with the key of each object whose refusal may be over sooner than was thought. */
export function createRetries(enqueueAfter: (key: string, ms: number) => void, random: () => number = Math.random) {
  /** Namespace → key → its refusal. */
  const refusals = new Map<string, Map<string, Kept>>();
  const takeRetryPlace = createPlaces();
  /** A try that somebody asked for does not wait for the others. */
  const takeAskedPlace = createPlaces();

  const keep = (kept: Kept): void => {
    const { namespace, key } = kept.attempt;
    const ofNamespace = refusals.get(namespace) ?? new Map<string, Kept>();
    refusals.set(namespace, ofNamespace.set(key, kept));
  };
  const forget = (namespace: string, key: string): boolean => {
    const ofNamespace = refusals.get(namespace);
    const wasThere = ofNamespace?.delete(key) ?? false;
    if (ofNamespace?.size === 0) refusals.delete(namespace);
    return wasThere;
  };
  const show = (kept: Kept): Refusal => ({
    message: kept.message,
    retryAt: new Date(kept.retryAtMs),
    passesSoon: kept.passesSoon,
  });

  /** After a restart, the tries of all that was refused before are spread over the longest pause that each may have reached. */
  function recall(attempt: Attempt, { message, since }: KnownRefusal, nowMs: number): Kept {
    const pauseMs = computePauseMs({ lastedMs: nowMs - since.getTime(), longestMs: LONGEST_MS }, random());
    const retryAtMs = nowMs + pauseMs * random();
    return { attempt, message, sinceMs: since.getTime(), retryAtMs, hasPlace: false, passesSoon: false };
  }

  return {
    /** The refusal for which `attempt` has to wait; undefined where it may be done now. `known`: what the status tells of it. */
    find(attempt: Attempt, now: Date, known?: KnownRefusal): Refusal | undefined {
      const { namespace, key, version } = attempt;
      const nowMs = now.getTime();
      let kept = refusals.get(namespace)?.get(key);
      if (!kept && known) {
        kept = recall(attempt, known, nowMs);
        keep(kept);
      }
      if (!kept) return undefined;
      const isAsked = kept.attempt.version !== version;
      if (!isAsked && nowMs < kept.retryAtMs) return show(kept);
      if (!isAsked && kept.hasPlace) return undefined;
      const placeMs = (isAsked ? takeAskedPlace : takeRetryPlace)(namespace, nowMs);
      if (placeMs <= nowMs) return undefined;
      const sinceMs = isAsked ? nowMs : kept.sinceMs;
      const waiting = { ...kept, attempt, sinceMs, retryAtMs: placeMs, hasPlace: true };
      keep(waiting);
      return show(waiting);
    },

    /** Kubernetes has refused `attempt` in these words. */
    add(attempt: Attempt, { reason }: Pick<KubeError, 'reason'>, message: string, now: Date): Refusal {
      const nowMs = now.getTime();
      const before = refusals.get(attempt.namespace)?.get(attempt.key);
      const sinceMs = before?.attempt.version === attempt.version ? before.sinceMs : nowMs;
      const longestMs = reason === 'Invalid' ? LONGEST_INVALID_MS : LONGEST_MS;
      const lastedMs = nowMs - sinceMs;
      const passes = passesSoon(message) && lastedMs < PASSING.longestMs;
      const retryAtMs = nowMs + (passes ? PASSING.pauseMs : computePauseMs({ lastedMs, longestMs }, random()));
      const kept = { attempt, message, sinceMs, retryAtMs, hasPlace: false, passesSoon: passes };
      keep(kept);
      return show(kept);
    },

    /** A write for `key` was done. The same cause may have refused others of its namespace, which are tried soon. */
    succeed(namespace: string, key: string, now: Date): void {
      if (!forget(namespace, key)) return;
      const nowMs = now.getTime();
      for (const kept of refusals.get(namespace)?.values() ?? []) {
        if (kept.hasPlace) continue;
        const placeMs = takeRetryPlace(namespace, nowMs);
        if (placeMs >= kept.retryAtMs) break;
        keep({ ...kept, retryAtMs: placeMs, hasPlace: true });
        enqueueAfter(kept.attempt.key, placeMs - nowMs);
      }
    },

    /** The object is gone, or nothing is to be written for it any more. */
    forget(namespace: string, key: string): void {
      forget(namespace, key);
    },
  };
}

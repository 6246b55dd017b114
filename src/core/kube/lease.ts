/**
 * Elects a leader with a Lease: one of several candidates leads, and it stops before another begins. election.ts holds
 * the rules; this file carries them out.
 */
import { type Clock, sleep, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { LEASES, type LeaseSpec } from './core.ts';
import { buildHeldLease, buildReleasedLease, type LeaseSighting, recordSighting, waitMs } from './election.ts';
import { readNamespaceState } from './namespace.ts';
import { hasReason, type Kube, KubeError } from './types.ts';

export interface LeaseTimes {
  /** The time that others wait after the last change they saw: whole seconds, as the Lease requires. */
  durationMs: number;
  /** A leader that could not renew for this long steps down; less than `durationMs`. */
  renewDeadlineMs: number;
  /** Pause between two renewals, and the longest pause between two reads of a candidate. */
  retryPeriodMs: number;
}

export interface ElectorOptions {
  namespace: string;
  /** Name of the Lease. */
  name: string;
  /** Unique to this process, e.g. the pod's name and something random. */
  identity: string;
  times: LeaseTimes;
  log: Logger;
  clock?: Clock;
}

export interface Elector {
  /** Starts to compete for the Lease. To be called once. */
  start(): void;
  /** Resolves when the Lease is ours. */
  readonly acquired: Promise<void>;
  /** Resolves with the reason, in a sentence, when we lose the Lease. Not after `release`. */
  readonly lost: Promise<string>;
  /** Computed from the clock, so that a process that was suspended knows at once that its time has run out. */
  isLeading(): boolean;
  /** Stops competing. A Lease of ours is handed back, unless `keep` says that others must wait until it expires. */
  release(options?: { keep?: boolean }): Promise<void>;
}

/** Candidates wait only seconds for the holder, so a hand-back that fails need not be forced. */
const RELEASE_ATTEMPTS = 3;

export function createElector(kube: Kube, options: ElectorOptions): Elector {
  const { namespace, name, identity, times, clock = systemClock } = options;
  const log = options.log.child({ lease: `${namespace}/${name}` });
  const acquired = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<string>();
  const stop = new AbortController();
  /** A request that hangs must leave time for another one, over another connection, before the deadline. */
  const patienceMs = times.renewDeadlineMs / 3;
  let state: 'waiting' | 'leading' | 'over' = 'waiting';
  let seen: LeaseSighting | undefined;
  let leadsUntilMs = Number.NEGATIVE_INFINITY;
  let deadline: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const isLeading = () => state === 'leading' && clock.monotonicMs() < leadsUntilMs;

  const lose = (reason: string): void => {
    if (state !== 'leading') return;
    state = 'over';
    clearTimeout(deadline);
    stop.abort(new Error(reason));
    lost.resolve(reason);
  };

  /** Timers may fire a little early, and the clock is what counts. */
  const watchDeadline = (): void => {
    clearTimeout(deadline);
    deadline = setTimeout(
      () => {
        if (isLeading()) watchDeadline();
        else lose(`The lease could not be renewed for ${times.renewDeadlineMs / 1000} s.`);
      },
      Math.max(0, leadsUntilMs - clock.monotonicMs()),
    );
  };

  const readLease = async (): Promise<{ version: string; spec: LeaseSpec } | undefined> => {
    try {
      const { metadata, spec } = await kube.get(LEASES, namespace, name);
      return { version: metadata.resourceVersion, spec: spec ?? {} };
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined;
      throw error;
    }
  };

  /** Nothing can be created in a namespace that is being deleted, so nobody else can acquire a Lease that is gone from it. */
  const isNamespaceEnding = async (): Promise<boolean> => (await readNamespaceState(kube, namespace)) === 'ending';

  /** Writes the Lease if it is still as we saw it. */
  const write = async (spec: LeaseSpec, version: string | undefined): Promise<LeaseSighting> => {
    const metadata = { name, ...(version === undefined ? {} : { resourceVersion: version }) };
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    const stored =
      version === undefined
        ? await kube.create(LEASES, namespace, object)
        : await kube.replace(LEASES, namespace, object);
    return { version: stored.metadata.resourceVersion, spec: stored.spec, atMs: clock.monotonicMs() };
  };

  /**
   * Tries once: a read, and a write if the rules allow it. A leader writes without a read, since the API server detects
   * changes by the version. `current` turns false when nobody waits for this try any more. Its result is then ignored,
   * and the next read shows its outcome.
   */
  const attempt = async (current: () => boolean): Promise<void> => {
    const lead = (sinceMs: number): void => {
      if (!current()) return;
      leadsUntilMs = sinceMs + times.renewDeadlineMs;
      watchDeadline();
    };
    const take = async (version: string | undefined): Promise<void> => {
      const sentMs = clock.monotonicMs();
      const sighting = await write(buildHeldLease(identity, seen?.spec, clock.now(), times.durationMs), version);
      if (!current()) return;
      seen = sighting;
      if (state === 'waiting') {
        state = 'leading';
        log.info({ identity, transitions: sighting.spec.leaseTransitions }, 'this process leads');
        acquired.resolve();
      }
      lead(sentMs);
    };
    if (state === 'leading' && seen) {
      const sentMs = clock.monotonicMs();
      try {
        return await take(seen.version);
      } catch (error) {
        // The Role goes with the namespace too, for every candidate. The leader is still needed: objects wait for its finalizers.
        if (hasReason(error, 'NotFound', 'Forbidden') && (await isNamespaceEnding())) return lead(sentMs);
        if (!hasReason(error, 'Conflict', 'NotFound')) throw error;
      }
    }
    const found = await readLease();
    if (!current()) return;
    const before = seen;
    seen = recordSighting(seen, found, clock.monotonicMs());
    const holder = seen?.spec.holderIdentity;
    if (state === 'leading' && holder !== identity)
      return lose(`The holder of the lease changed to ${holder || 'nobody'}.`);
    if (seen !== before && holder && state === 'waiting') log.debug({ holder }, 'another process leads');
    if (waitMs(seen, identity, clock.monotonicMs(), times.durationMs) === 0) await take(found?.version);
  };

  /** Returns whether the try succeeded; a try that takes too long is abandoned. */
  const tryOnce = async (): Promise<boolean> => {
    let current = true;
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    const timer = setTimeout(resolve, patienceMs, 'late');
    const trying = attempt(() => current && state !== 'over');
    // Nobody handles the failure of an abandoned try.
    trying.catch(() => {});
    try {
      if ((await Promise.race([trying, late])) !== 'late') return true;
      log.warn({ patienceMs, state }, 'the API server does not respond to requests for the lease');
    } catch (err) {
      // Another candidate was faster, or wrote in between: nothing is wrong.
      if (hasReason(err, 'Conflict', 'AlreadyExists')) return true;
      log.warn({ err, state }, 'the lease could not be read or written');
    } finally {
      current = false;
      clearTimeout(timer);
    }
    return false;
  };

  /** The pause until the next try. Random, so that candidates do not all ask in the same moment. */
  const pauseMs = (went: boolean): number => {
    const { retryPeriodMs, durationMs } = times;
    if (state === 'leading') return went ? retryPeriodMs : retryPeriodMs / 4;
    const ownPace = retryPeriodMs * (0.5 + 0.4 * Math.random());
    const left = waitMs(seen, identity, clock.monotonicMs(), durationMs);
    return left > 0 ? Math.min(ownPace, left) : ownPace;
  };

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const went = await tryOnce();
      if (!stop.signal.aborted) await sleep(pauseMs(went), stop.signal).catch(() => {});
    }
  };

  const handBack = async (): Promise<void> => {
    for (let number = 1; number <= RELEASE_ATTEMPTS; number++) {
      try {
        const found = await readLease();
        if (found?.spec.holderIdentity !== identity) return;
        await write(buildReleasedLease(found.spec, clock.now()), found.version);
        log.info('the lease is released');
        return;
      } catch (err) {
        if (!hasReason(err, 'Conflict')) return log.warn({ err }, 'the lease could not be released; it expires');
      }
    }
  };

  return {
    start: () => {
      running ??= run();
    },
    acquired: acquired.promise,
    lost: lost.promise,
    isLeading,
    async release({ keep = false } = {}) {
      clearTimeout(deadline);
      // A request in flight counts too: it may have acquired the Lease.
      const mayBeOurs = running !== undefined && state !== 'over';
      state = 'over';
      stop.abort(new Error('released'));
      await running;
      if (mayBeOurs && !keep) await handBack();
    },
  };
}

/**
 * Returns a client whose writes throw KubeError 'NotLeading' while `mayWrite` is false. `settled` resolves when no
 * write is pending.
 */
export function guardWrites(kube: Kube, mayWrite: () => boolean): { kube: Kube; settled(): Promise<void> } {
  const underWay = new Set<Promise<unknown>>();
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (!mayWrite()) throw new KubeError(0, 'NotLeading', 'This process is not the leader, so it writes nothing.');
    const writing = send();
    underWay.add(writing);
    try {
      return await writing;
    } finally {
      underWay.delete(writing);
    }
  };
  return {
    kube: {
      ...kube,
      create: (...args) => write(() => kube.create(...args)),
      replace: (...args) => write(() => kube.replace(...args)),
      mergePatch: (...args) => write(() => kube.mergePatch(...args)),
      apply: (...args) => write(() => kube.apply(...args)),
      delete: (...args) => write(() => kube.delete(...args)),
      raw: (method, ...args) => (method === 'GET' ? kube.raw(method, ...args) : write(() => kube.raw(method, ...args))),
    },
    settled: async () => {
      await Promise.allSettled(underWay);
    },
  };
}

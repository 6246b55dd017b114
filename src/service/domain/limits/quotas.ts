/**
 * Enforces the limits of accounts (limits.ts) on writes. Far from a limit, a request proceeds and counts this server's concurrent
 * writes. Near a limit, an account's requests take turns: a queue orders them on this server, and a lease across servers.
 * Concurrent requests therefore cannot all take the last place, and most requests wait for nobody.
 */

import type { KubeObject, Stored } from '../../../core/kube/types.ts';
import type { Leases } from '../../db/leases.ts';
import { AppError } from '../../lib/errors.ts';
import {
  type AccountClass,
  formatLimit,
  LIMIT_ROWS,
  type LimitClaim,
  type LimitName,
  type Limits,
  limitExceeded,
} from '../../settings/limits.ts';
import type { OwnedResources } from './owned-resources.ts';
import type { LimitUsage, Noun } from './usage.ts';

/** Longest wait for a turn; a turn takes a few writes. */
const PATIENCE_MS = 15_000;
/** Time for the watch to deliver an object that another server created. */
const SEEN_MS = 1_000;
/**
 * Requests take turns within the last part of a limit, and where this many requests of the same size would exceed it. Servers see
 * each other's objects long before either margin is used up.
 */
const NEAR = 0.2;
const AT_ONCE = 50;

/** Remaining part of a limit after the request. */
export type RemainingOf = (name: LimitName) => number;

export interface LimitedRequest {
  accountId: string;
  /** Evaluated once for each check of the limits. */
  claims: () => readonly LimitClaim[];
}

export interface QuotasDeps {
  limits: Limits;
  findClass: (accountId: string) => Promise<AccountClass>;
  leases: Leases;
  usage: LimitUsage;
  /** Returns the bytes that this server has room for in the records of all accounts; by default without end. */
  getRoom?: () => number;
  /** Services by prefix of their ids; they wait for the writes of other servers. */
  kinds: Readonly<Record<string, Pick<OwnedResources<Stored<KubeObject>>, 'caughtUp'>>>;
}

export type Quotas = ReturnType<typeof createQuotas>;

/** Runs tasks with the same name one after the other. */
function createQueues() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.catch(() => undefined).then(work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}

/** Sums the writes of this server that the caches may not contain yet. */
function createPending() {
  const sums = new Map<string, number>();
  const buildKey = (accountId: string, name: LimitName) => `${accountId} ${name}`;
  const add = (accountId: string, name: LimitName, amount: number) => {
    const key = buildKey(accountId, name);
    const sum = (sums.get(key) ?? 0) + amount;
    if (sum > 0) sums.set(key, sum);
    else sums.delete(key);
  };
  return {
    getSum: (accountId: string, name: LimitName) => sums.get(buildKey(accountId, name)) ?? 0,
    async during<T>(accountId: string, claims: readonly LimitClaim[], work: () => Promise<T>): Promise<T> {
      for (const { name, wanted } of claims) add(accountId, name, Math.max(0, wanted));
      try {
        return await work();
      } finally {
        for (const { name, wanted } of claims) add(accountId, name, -Math.max(0, wanted));
      }
    },
  };
}

/** Describes the last write; the next holder of the lease waits for it. */
const describeWrite = (made: unknown): string | undefined => {
  const { metadata } = made as { metadata?: { name?: string; resourceVersion?: string } };
  return metadata?.resourceVersion && `${metadata.name} ${metadata.resourceVersion}`;
};

export function createQuotas({ limits, findClass, leases, usage, kinds, ...deps }: QuotasDeps) {
  const { getRoom = () => Number.POSITIVE_INFINITY } = deps;
  const inTurn = createQueues();
  const pending = createPending();

  const refuseBeyond = (column: AccountClass, { name, used, wanted }: LimitClaim): void => {
    const allowed = limits[column][name];
    if (used + wanted > allowed)
      throw limitExceeded({ name, used, wanted, allowed, class: column, full: limits.full[name] });
  };

  /** Every account has room for what a trial may have, so that a few large ones keep nobody else out. */
  const refuseWithoutRoom = (column: AccountClass, { name, used, wanted }: LimitClaim): void => {
    if (name !== 'recordBytes' || used + wanted <= limits.trial.recordBytes || wanted <= getRoom()) return;
    const words = `${formatLimit(name, wanted)} more records, as this server has no room for more of them`;
    throw new AppError(
      'quota_exceeded',
      `The account has ${formatLimit(name, used)} of records, and cannot have ${words}. ${LIMIT_ROWS[name].free}`,
      { extras: { limit: name, used, allowed: used, class: column } },
    );
  };

  /** Returns the rest of each limit after all claims. Throws the error of the first limit that is exceeded. */
  const computeLeft = (column: AccountClass, { accountId, claims }: LimitedRequest) => {
    const now = claims();
    const left = new Map<LimitName, number>();
    for (const { name, used: counted, wanted } of now) {
      const used = counted + pending.getSum(accountId, name);
      // A change that takes nothing is always possible, even after the account's limits shrank.
      if (wanted > 0) {
        refuseBeyond(column, { name, used, wanted });
        refuseWithoutRoom(column, { name, used, wanted });
      }
      left.set(name, limits[column][name] - used);
    }
    const isNear = now.some(
      ({ name, wanted }) =>
        wanted > 0 && (left.get(name) ?? 0) < Math.max(NEAR * limits[column][name], AT_ONCE * wanted),
    );
    return { now, isNear, left: (name: LimitName) => left.get(name) ?? Number.POSITIVE_INFINITY };
  };

  const takeTurn = async (accountId: string) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      return await leases.take(`quota ${accountId}`, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new AppError('upstream_unavailable', 'Other requests of this account are still running. Try again.');
    }
  };

  /** Runs `make` if the account has room for its claims. */
  const within = async <T>(asked: LimitedRequest, make: (left: RemainingOf) => Promise<T>): Promise<T> => {
    const { accountId } = asked;
    const column = await findClass(accountId);
    const first = computeLeft(column, asked);
    if (!first.isNear) return pending.during(accountId, first.now, () => make(first.left));
    return inTurn(accountId, async () => {
      const lease = await takeTurn(accountId);
      let note = lease.note;
      try {
        const [name = '', resourceVersion] = note?.split(' ') ?? [];
        const kind = kinds[name.split('-')[0] ?? ''];
        if (kind && resourceVersion) await kind.caughtUp(accountId, { name, resourceVersion }, SEEN_MS);
        const made = await make(computeLeft(column, asked).left);
        note = describeWrite(made) ?? note;
        return made;
      } finally {
        await lease.release(note);
      }
    });
  };

  return {
    limits,
    findClass,

    allowed: async (accountId: string, name: LimitName): Promise<number> => limits[await findClass(accountId)][name],

    /** Throws the error of the limit if `used` and `wanted` together exceed it. */
    check: async (accountId: string, claim: LimitClaim): Promise<void> =>
      refuseBeyond(await findClass(accountId), claim),

    /**
     * Creates an object of a noun; `draft` is the client's input. It takes the place of `replaced` others. Throws the error of the
     * limit that is exceeded: of the noun, of the bytes of all records, or of `more`.
     */
    make: <T>(
      accountId: string,
      noun: Noun,
      draft: unknown,
      make: (left: RemainingOf) => Promise<T>,
      more?: () => readonly LimitClaim[],
      replaced: () => number = () => 0,
    ): Promise<T> => within({ accountId, claims: () => usage.claims(accountId, noun, draft, more, replaced()) }, make),

    /** Runs a change that needs more of some limits. */
    take: <T>(accountId: string, claims: () => readonly LimitClaim[], change: () => Promise<T>): Promise<T> =>
      within({ accountId, claims }, change),

    /** Restarts work on an existing object. Throws the error of the first of `claims` that has no room. */
    begin: <T>(
      accountId: string,
      claims: () => readonly LimitClaim[],
      begin: (left: RemainingOf) => Promise<T>,
    ): Promise<T> => within({ accountId, claims }, begin),

    /** Runs a change that needs `bytes` more (or less, if negative) in the database of Kubernetes. */
    grow: <T>(accountId: string, bytes: number, change: () => Promise<T>): Promise<T> =>
      within(
        { accountId, claims: () => [{ name: 'recordBytes', used: usage.recordBytes(accountId), wanted: bytes }] },
        change,
      ),

    /** Creates something outside of Kubernetes; `count` returns the number of existing ones. */
    makeCounted: async <T>(
      accountId: string,
      name: LimitName,
      count: () => Promise<number>,
      make: () => Promise<T>,
    ): Promise<T> =>
      inTurn(accountId, async () => {
        const column = await findClass(accountId);
        const lease = await takeTurn(accountId);
        try {
          refuseBeyond(column, { name, used: await count(), wanted: 1 });
          return await make();
        } finally {
          await lease.release(lease.note);
        }
      }),
  };
}

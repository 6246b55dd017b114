/**
 * Decides which Jobs may begin: imports and renditions have places of their own, and the accounts of all namespaces share each kind
 * (fair-share.ts). One Job makes one rendition, however many uploads of a namespace want it.
 */

import type { Job } from '../../kube/core.ts';
import { ACCOUNT_LABEL } from '../../resources/common/names.ts';
import { joinKey, splitKey } from '../runtime/controller.ts';
import { type Claim, nextClaims, type Places, Turns } from './fair-share.ts';
import { type Help, shareHelpers } from './helpers.ts';
import { findPriority, getWorkKey, type MakingTask, readTask, type WantedHelpers, type WantedJob } from './job.ts';
import { hasEnded } from './progress.ts';

/**
 * An import mostly waits for a network, a rendition takes a processor: neither may hold the other's places. A Job that has imported
 * its upload and still makes a rendition counts as one of those.
 */
export const POOLS = ['import', 'rendition'] as const;
export type Pool = (typeof POOLS)[number];

const findPool = ({ action }: MakingTask): Pool => action;

/**
 * An account of a namespace, as `namespace/account`; tenants take turns. The uploads of a namespace that have no account are one together,
 * as `namespace/`.
 */
type Tenant = string;

const findTenant = (namespace: string | undefined, account: string | undefined): Tenant =>
  joinKey(namespace, account ?? '');
const hasAccount = (tenant: Tenant): boolean => !tenant.endsWith('/');

/** `workKey` begins with the namespace, each of which may have a storage of its own; so does the name of a Job where all are known. */
interface Ticket extends Claim {
  account: Tenant;
  uploadKey: string;
  wantedJob: WantedJob;
}

/** A Job that runs, or may begin and is not in the cache yet. */
interface Holder {
  pool: Pool;
  tenant: Tenant;
  workKey: string;
}

/** Why a wanted Job has to wait: for a place, or for another Job that makes the same thing or may be clearing it away. */
export type Wait = 'queued' | 'same';

export interface AdmissionOptions {
  /** Jobs at a time. */
  limits: Readonly<Record<Pool, number>>;
  /** All Jobs that are known. */
  jobs: () => readonly Job[];
  /** Whether the upload of an import's Job has its media already. */
  isImported: (job: Job) => boolean;
  /** Whether a Job that runs at this moment may delete what is under a storage key. */
  isSwept: (namespace: string, key: string) => boolean;
  /** Helpers of one rendition at most. */
  mostHelpers: number;
  /** Pods that make renditions and that the nodes have processors for. */
  countWorkers: () => number;
}

/** Helpers that were granted to a rendition. */
interface Granted extends Help {
  pods: number;
}

/** An upload that wants Jobs. */
export interface Asker {
  /** `namespace/name` of the upload. */
  key: string;
  account: string | undefined;
  /** When the upload was made (RFC 3339): an account's older uploads go first. */
  since: string;
}

function findHolder(job: Job, isImported: AdmissionOptions['isImported']): Holder | undefined {
  if (hasEnded(job)) return undefined;
  const task = readTask(job);
  if (!task || task.action === 'sweep' || task.action === 'range') return undefined;
  const pool = task.action === 'import' && isImported(job) ? 'rendition' : findPool(task);
  const { namespace, labels } = job.metadata;
  return {
    pool,
    tenant: findTenant(namespace, labels?.[ACCOUNT_LABEL]),
    workKey: joinKey(namespace, getWorkKey(task)),
  };
}

function* flatten<T>(lists: Iterable<readonly T[]>): Generator<T> {
  for (const list of lists) yield* list;
}

export class Admission {
  readonly #options: AdmissionOptions;
  /** By pool, then by account, then by upload. */
  readonly #waiting = new Map<Pool, Map<Tenant, Map<string, Ticket[]>>>();
  /** Jobs that are allowed and may not be in the cache yet, by upload and by Job name. */
  readonly #begun = new Map<string, Map<string, Holder>>();
  /** Helpers, by upload. */
  readonly #helped = new Map<string, Granted[]>();
  readonly #turns: Readonly<Record<Pool, Turns>> = { import: new Turns(), rendition: new Turns() };

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  #holders(): Holder[] {
    const holders = new Map<string, Holder>();
    for (const job of this.#options.jobs()) {
      const holder = findHolder(job, this.#options.isImported);
      if (holder) holders.set(joinKey(job.metadata.namespace, job.metadata.name), holder);
    }
    for (const [uploadKey, begun] of this.#begun)
      for (const [name, holder] of begun) holders.set(joinKey(splitKey(uploadKey)[0], name), holder);
    return [...holders.values()];
  }

  #places(pool: Pool, holders: readonly Holder[]): Places<Ticket> {
    const waiting = [...(this.#waiting.get(pool) ?? [])];
    const running = holders.flatMap((holder) => (holder.pool === pool ? [holder.tenant] : []));
    const [first = '', ...others] = new Set([...waiting.map(([tenant]) => tenant), ...running]);
    // Uploads without an account share the whole limit while nobody else is there.
    const areAlone = others.length === 0 && !hasAccount(first);
    const share = (tenant: Tenant) => (areAlone ? undefined : tenant);
    return {
      limit: this.#options.limits[pool],
      running: running.map(share),
      waiting: new Map(waiting.map(([tenant, uploads]) => [share(tenant), flatten(uploads.values())])),
      busy: new Set(holders.map((holder) => holder.workKey)),
      isSwept: (key) => this.#options.isSwept(...splitKey(key)),
      turns: { get: (tenant) => this.#turns[pool].get(tenant ?? first) },
    };
  }

  #next(): Ticket[] {
    const holders = this.#holders();
    return POOLS.flatMap((pool) => nextClaims(this.#places(pool, holders)));
  }

  #wait(ticket: Ticket): void {
    const pool = findPool(ticket.wantedJob.task);
    const tenants = this.#waiting.get(pool) ?? new Map<Tenant, Map<string, Ticket[]>>();
    this.#waiting.set(pool, tenants);
    const uploads = tenants.get(ticket.account) ?? new Map<string, Ticket[]>();
    tenants.set(ticket.account, uploads);
    uploads.set(ticket.uploadKey, [...(uploads.get(ticket.uploadKey) ?? []), ticket]);
  }

  /**
   * An upload asks for all the Jobs it needs. Those it may make now are its own until `settle`; the others wait, and `due`
   * names the upload when that may have changed. Its earlier request is forgotten.
   */
  ask(
    { key, account, since }: Asker,
    wantedJobs: readonly WantedJob[],
  ): { allowed: WantedJob[]; waiting: Map<string, Wait> } {
    const [namespace] = splitKey(key);
    this.#unwait(key);
    if (wantedJobs.length === 0) return { allowed: [], waiting: new Map() };
    const own = wantedJobs.map(
      (wantedJob): Ticket => ({
        uploadKey: key,
        wantedJob,
        account: findTenant(namespace, account),
        since,
        urgent: wantedJob.urgent,
        preview: findPriority(wantedJob) === 'preview',
        name: wantedJob.name,
        workKey: joinKey(namespace, getWorkKey(wantedJob.task)),
      }),
    );
    for (const ticket of own) this.#wait(ticket);
    const next = new Set(this.#next());
    const allowed = own.filter((ticket) => next.has(ticket));
    const left = own.filter((ticket) => !next.has(ticket));
    this.#unwait(key);
    for (const ticket of left) this.#wait(ticket);
    if (allowed.length > 0) this.#begin(key, allowed);
    const made = new Set([...this.#holders(), ...next].map((one) => one.workKey));
    return {
      allowed: allowed.map(({ wantedJob }) => wantedJob),
      waiting: new Map(left.map((ticket) => [ticket.name, made.has(ticket.workKey) ? 'same' : 'queued'])),
    };
  }

  #begin(uploadKey: string, tickets: readonly Ticket[]): void {
    const begun = new Map<string, Holder>();
    for (const { name, account: tenant, workKey, wantedJob } of tickets) {
      const pool = findPool(wantedJob.task);
      begun.set(name, { pool, tenant, workKey });
      this.#turns[pool].take(tenant, this.#waiting.get(pool)?.keys() ?? []);
    }
    this.#begun.set(uploadKey, begun);
  }

  /** Storage keys of what is made by Jobs that the cache may not have yet. */
  begun(): string[] {
    return [...this.#begun.values()].flatMap((begun) =>
      [...begun.values()].map((holder) => splitKey(holder.workKey)[1]),
    );
  }

  /** The Jobs of an upload have been made, or could not be: from here on the cache of Jobs counts. */
  settle(uploadKey: string): void {
    this.#begun.delete(uploadKey);
  }

  /** The number of helpers of each rendition, by the namespace and the name of their Job. */
  #shareHelpers(): Map<string, number> {
    const helps = [...this.#helped].flatMap(([key, granted]) =>
      granted.map((help) => ({ ...help, name: joinKey(splitKey(key)[0], help.name) })),
    );
    if (helps.length === 0) return new Map();
    const holders = this.#holders();
    const running = [
      ...holders.flatMap(({ pool, tenant }) => (pool === 'rendition' ? [tenant] : [])),
      ...nextClaims(this.#places('rendition', holders)).map(({ account }) => account),
    ];
    const { limits, mostHelpers: most, countWorkers } = this.#options;
    const free = Math.min(limits.rendition, countWorkers()) - running.length;
    return shareHelpers({ free, most, running }, helps);
  }

  /**
   * An upload asks for helpers of all its renditions that can have some. Returns their number by the name of their Job; `due` names the
   * upload when another number is right, e.g. since a Job is to have the place. Its earlier request is forgotten.
   */
  lend({ key, account, since }: Asker, wanted: readonly WantedHelpers[]): Map<string, number> {
    this.#helped.delete(key);
    if (wanted.length === 0) return new Map();
    const [namespace] = splitKey(key);
    const tenant = findTenant(namespace, account);
    const helps = wanted.map(({ name, urgent, left }) => ({ name, account: tenant, urgent, since, left }));
    this.#helped.set(
      key,
      helps.map((help) => ({ ...help, pods: 0 })),
    );
    const shares = this.#shareHelpers();
    const granted = helps.map((help) => ({ ...help, pods: shares.get(joinKey(namespace, help.name)) ?? 0 }));
    this.#helped.set(key, granted);
    return new Map(granted.map(({ name, pods }) => [name, pods]));
  }

  /** Keys of the uploads that should have another number of helpers than they were granted. */
  #listMisgranted(): string[] {
    const shares = this.#shareHelpers();
    return [...this.#helped].flatMap(([key, granted]) => {
      const [namespace] = splitKey(key);
      return granted.some(({ name, pods }) => shares.get(joinKey(namespace, name)) !== pods) ? [key] : [];
    });
  }

  /** An upload waits for nothing any more, and has no helpers. */
  leave(uploadKey: string): void {
    this.#unwait(uploadKey);
    this.#helped.delete(uploadKey);
  }

  #unwait(uploadKey: string): void {
    for (const [pool, tenants] of this.#waiting) {
      for (const [tenant, uploads] of tenants)
        if (uploads.delete(uploadKey) && uploads.size === 0) tenants.delete(tenant);
      if (tenants.size === 0) this.#waiting.delete(pool);
    }
  }

  /** Keys of the uploads whose turn has come, or whose number of helpers is to change. */
  due(): string[] {
    const next = this.#waiting.size > 0 ? this.#next() : [];
    return [...new Set([...next.map(({ uploadKey }) => uploadKey), ...this.#listMisgranted()])];
  }
}

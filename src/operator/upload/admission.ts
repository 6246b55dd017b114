/**
 * Decides which Jobs may begin: imports and renditions have places of their own, and accounts share each kind (fair-share.ts).
 * One Job makes one rendition, however many uploads want it.
 */

import type { Job } from '../../kube/core.ts';
import { ACCOUNT_LABEL } from '../../resources/common/names.ts';
import { splitKey } from '../runtime/controller.ts';
import { type Claim, nextClaims, type Places, Turns } from './fair-share.ts';
import { getWorkKey, type MakingTask, readTask, type WantedJob } from './job.ts';
import { hasEnded } from './progress.ts';

/**
 * An import mostly waits for a network, a rendition takes a processor: neither may hold the other's places. A Job that has imported
 * its upload and still makes a rendition counts as one of those.
 */
export const POOLS = ['import', 'rendition'] as const;
export type Pool = (typeof POOLS)[number];

const findPool = ({ action }: MakingTask): Pool => action;

interface Ticket extends Claim {
  uploadKey: string;
  wantedJob: WantedJob;
}

/** A Job that runs, or may begin and is not in the cache yet. */
interface Holder {
  pool: Pool;
  account: string | undefined;
  workKey: string;
}

/** Why a wanted Job has to wait: for a place, or for another Job that makes the same thing or may be clearing it away. */
export type Wait = 'queued' | 'same';

export interface AdmissionOptions {
  /** Jobs at a time in a namespace. */
  limits: Readonly<Record<Pool, number>>;
  /** All Jobs that are known. */
  jobs: () => readonly Job[];
  /** Whether the upload of an import's Job has its media already. */
  isImported: (job: Job) => boolean;
  /** Whether a Job that runs at this moment may delete what is under a storage key. */
  isSwept: (namespace: string, key: string) => boolean;
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
  return { pool, account: job.metadata.labels?.[ACCOUNT_LABEL], workKey: getWorkKey(task) };
}

function* flatten<T>(lists: Iterable<readonly T[]>): Generator<T> {
  for (const list of lists) yield* list;
}

export class Admission {
  readonly #options: AdmissionOptions;
  /** By namespace and pool, then by account, then by upload. */
  readonly #waiting = new Map<string, Map<string | undefined, Map<string, Ticket[]>>>();
  /** Jobs that are allowed and may not be in the cache yet, by upload and by Job name. */
  readonly #begun = new Map<string, Map<string, Holder>>();
  /** The uploads whose turn it is, by namespace and pool. */
  readonly #turns = new Map<string, Turns>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  #holders(namespace: string): Holder[] {
    const holders = new Map<string, Holder>();
    for (const job of this.#options.jobs()) {
      const holder = job.metadata.namespace === namespace ? findHolder(job, this.#options.isImported) : undefined;
      if (holder) holders.set(job.metadata.name, holder);
    }
    for (const [uploadKey, begun] of this.#begun) {
      if (splitKey(uploadKey)[0] === namespace) for (const [name, holder] of begun) holders.set(name, holder);
    }
    return [...holders.values()];
  }

  #turnsOf(namespace: string, pool: Pool): Turns {
    const key = `${namespace}/${pool}`;
    const turns = this.#turns.get(key) ?? new Turns();
    this.#turns.set(key, turns);
    return turns;
  }

  #places(namespace: string, pool: Pool, holders: readonly Holder[]): Places<Ticket> {
    const waiting = [...(this.#waiting.get(`${namespace}/${pool}`) ?? [])];
    return {
      limit: this.#options.limits[pool],
      running: holders.flatMap((holder) => (holder.pool === pool ? [holder.account] : [])),
      waiting: new Map(waiting.map(([account, uploads]) => [account, flatten(uploads.values())])),
      busy: new Set(holders.map((holder) => holder.workKey)),
      isSwept: (key) => this.#options.isSwept(namespace, key),
      turns: this.#turnsOf(namespace, pool),
    };
  }

  #next(namespace: string): Ticket[] {
    const holders = this.#holders(namespace);
    return POOLS.flatMap((pool) => nextClaims(this.#places(namespace, pool, holders)));
  }

  #wait(namespace: string, ticket: Ticket): void {
    const key = `${namespace}/${findPool(ticket.wantedJob.task)}`;
    const accounts = this.#waiting.get(key) ?? new Map<string | undefined, Map<string, Ticket[]>>();
    this.#waiting.set(key, accounts);
    const uploads = accounts.get(ticket.account) ?? new Map<string, Ticket[]>();
    accounts.set(ticket.account, uploads);
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
    this.leave(key);
    if (wantedJobs.length === 0) return { allowed: [], waiting: new Map() };
    const own = wantedJobs.map(
      (wantedJob): Ticket => ({
        uploadKey: key,
        wantedJob,
        account,
        since,
        urgent: wantedJob.urgent,
        name: wantedJob.name,
        workKey: getWorkKey(wantedJob.task),
      }),
    );
    for (const ticket of own) this.#wait(namespace, ticket);
    const next = new Set(this.#next(namespace));
    const allowed = own.filter((ticket) => next.has(ticket));
    const left = own.filter((ticket) => !next.has(ticket));
    this.leave(key);
    for (const ticket of left) this.#wait(namespace, ticket);
    if (allowed.length > 0) this.#begin(key, allowed);
    const made = new Set([...this.#holders(namespace), ...next].map((one) => one.workKey));
    return {
      allowed: allowed.map(({ wantedJob }) => wantedJob),
      waiting: new Map(left.map((ticket) => [ticket.name, made.has(ticket.workKey) ? 'same' : 'queued'])),
    };
  }

  #begin(uploadKey: string, tickets: readonly Ticket[]): void {
    const [namespace] = splitKey(uploadKey);
    const begun = new Map<string, Holder>();
    for (const { name, account, workKey: made, wantedJob } of tickets) {
      const pool = findPool(wantedJob.task);
      begun.set(name, { pool, account, workKey: made });
      const others = this.#waiting.get(`${namespace}/${pool}`)?.keys() ?? [];
      this.#turnsOf(namespace, pool).take(account, others);
    }
    this.#begun.set(uploadKey, begun);
  }

  /** Storage keys of what is made by Jobs that the cache may not have yet. */
  begun(): string[] {
    return [...this.#begun.values()].flatMap((begun) => [...begun.values()].map((holder) => holder.workKey));
  }

  /** The Jobs of an upload have been made, or could not be: from here on the cache of Jobs counts. */
  settle(uploadKey: string): void {
    this.#begun.delete(uploadKey);
  }

  /** An upload waits for nothing any more. */
  leave(uploadKey: string): void {
    const [namespace] = splitKey(uploadKey);
    for (const pool of POOLS) {
      const accounts = this.#waiting.get(`${namespace}/${pool}`);
      for (const [account, uploads] of accounts ?? [])
        if (uploads.delete(uploadKey) && uploads.size === 0) accounts?.delete(account);
      if (accounts?.size === 0) this.#waiting.delete(`${namespace}/${pool}`);
    }
  }

  /** Keys of the uploads whose turn has come. */
  due(): string[] {
    const namespaces = new Set([...this.#waiting.keys()].map((key) => splitKey(key)[0]));
    const next = [...namespaces].flatMap((namespace) => this.#next(namespace));
    return [...new Set(next.map(({ uploadKey }) => uploadKey))];
  }
}

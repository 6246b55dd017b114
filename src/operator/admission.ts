/**
 * Which Jobs may begin: so many at a time as is allowed, one for each rendition however many uploads ask for it, those that
 * a started stream waits for first. A waiting room, not a scheduler: who has to wait is looked at again when its turn comes.
 */
import type { Job } from '../kube/resources.ts';
import { splitKey } from './caches.ts';
import { type Wish, workKey, workKeyOf } from './job.ts';
import { hasEnded } from './progress.ts';

/** A wish in the waiting room. */
interface Ticket {
  uploadKey: string;
  wish: Wish;
  /** When the upload was made (RFC 3339): who came first goes first. */
  since: string;
}

/** Why a wish has to wait: for room, or for another Job that makes the same thing or may be clearing it away. */
export type Wait = 'queued' | 'same';

/** What other Jobs keep from being worked on at this moment. */
interface Occupied {
  /** Jobs that may still begin. */
  free: number;
  /** What is being made already. */
  keys: ReadonlySet<string>;
  /** Whether a storage key may be cleared away at this moment. */
  isSwept: (key: string) => boolean;
}

const before = (a: Ticket, b: Ticket): number =>
  Number(b.wish.urgent) - Number(a.wish.urgent) ||
  a.since.localeCompare(b.since) ||
  a.wish.name.localeCompare(b.wish.name);

/** Those of the waiting whose turn it is, in order. */
function turns(waiting: Iterable<Ticket>, { free, keys, isSwept }: Occupied): Ticket[] {
  const taken = new Set(keys);
  const next: Ticket[] = [];
  if (free <= 0) return next;
  for (const ticket of [...waiting].sort(before)) {
    if (next.length >= free) break;
    const key = workKey(ticket.wish.task);
    if (taken.has(key) || isSwept(key)) continue;
    taken.add(key);
    next.push(ticket);
  }
  return next;
}

export interface AdmissionOptions {
  /** Jobs at a time in a namespace. */
  limit: number;
  /** All Jobs that are known. */
  jobs: () => readonly Job[];
  /** Whether a Job that runs at this moment may delete what is under a storage key. */
  isSwept: (namespace: string, key: string) => boolean;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #waiting = new Map<string, Ticket[]>();
  /** What is allowed and may not be in the cache of Jobs yet, by upload: Job name → what it makes. */
  readonly #begun = new Map<string, Map<string, string>>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  #occupied(namespace: string): Occupied {
    const begun = new Map<string, string>();
    for (const job of this.#options.jobs()) {
      const key = job.metadata.namespace === namespace && !hasEnded(job) ? workKeyOf(job) : undefined;
      if (key !== undefined) begun.set(job.metadata.name, key);
    }
    for (const [uploadKey, wishes] of this.#begun) {
      if (splitKey(uploadKey)[0] === namespace) for (const [name, key] of wishes) begun.set(name, key);
    }
    return {
      free: this.#options.limit - begun.size,
      keys: new Set(begun.values()),
      isSwept: (key) => this.#options.isSwept(namespace, key),
    };
  }

  #ticketsIn(namespace: string): Ticket[] {
    return [...this.#waiting].flatMap(([key, tickets]) => (splitKey(key)[0] === namespace ? tickets : []));
  }

  /**
   * An upload asks for all the Jobs it needs. Those it may make now are its own until `settle`; the others wait, and `due`
   * names the upload when that may have changed. What it asked for before is forgotten.
   */
  ask(uploadKey: string, since: string, wishes: readonly Wish[]): { allowed: Wish[]; waiting: Map<string, Wait> } {
    const [namespace] = splitKey(uploadKey);
    this.leave(uploadKey);
    if (wishes.length === 0) return { allowed: [], waiting: new Map() };
    const own = wishes.map((wish): Ticket => ({ uploadKey, wish, since }));
    const occupied = this.#occupied(namespace);
    const next = new Set(turns([...this.#ticketsIn(namespace), ...own], occupied));
    const allowed = own.filter((ticket) => next.has(ticket));
    const left = own.filter((ticket) => !next.has(ticket));
    if (left.length > 0) this.#waiting.set(uploadKey, left);
    if (allowed.length > 0) {
      this.#begun.set(uploadKey, new Map(allowed.map(({ wish }) => [wish.name, workKey(wish.task)])));
    }
    const keys = new Set([...occupied.keys, ...[...next].map(({ wish }) => workKey(wish.task))]);
    const reason = ({ task }: Wish): Wait => (keys.has(workKey(task)) ? 'same' : 'queued');
    return {
      allowed: allowed.map(({ wish }) => wish),
      waiting: new Map(left.map(({ wish }) => [wish.name, reason(wish)])),
    };
  }

  /** What is being made by Jobs that the cache may not have yet. */
  begun(): string[] {
    return [...this.#begun.values()].flatMap((wishes) => [...wishes.values()]);
  }

  /** The Jobs of an upload have been made, or could not be: from here on the cache of Jobs counts. */
  settle(uploadKey: string): void {
    this.#begun.delete(uploadKey);
  }

  /** An upload waits for nothing any more. */
  leave(uploadKey: string): void {
    this.#waiting.delete(uploadKey);
  }

  /** Keys of the uploads whose turn has come. */
  due(): string[] {
    const namespaces = new Set([...this.#waiting.keys()].map((key) => splitKey(key)[0]));
    const next = [...namespaces].flatMap((of) => turns(this.#ticketsIn(of), this.#occupied(of)));
    return [...new Set(next.map(({ uploadKey }) => uploadKey))];
  }
}

/**
 * Shares places among accounts: the account with the fewest running Jobs takes the next place, an account holds at most its
 * share, and the rest stays free for accounts that come later. Pure: no I/O, no clock.
 */

/** A Job that waits for a place. */
export interface Claim {
  /** The account that owns the upload; undefined for uploads that were made with kubectl. */
  account: string | undefined;
  /** A stream that may go on air waits for the Job. */
  urgent: boolean;
  /** A person waits for a preview. */
  preview?: boolean;
  /** When the upload was made (RFC 3339). */
  since: string;
  /** Name of the Job. */
  name: string;
  /** Storage key of what the Job makes: two Jobs must not make it at once. */
  workKey: string;
}

/**
 * How often an account may be passed over because another account's stream waits: an urgent claim counts as one place less. A preview
 * counts as half a place less, and so wins each tie.
 */
const URGENT_BONUS = 1;
const PREVIEW_BONUS = 0.5;

const computeBonus = ({ urgent, preview }: Claim): number => (urgent ? URGENT_BONUS : preview ? PREVIEW_BONUS : 0);

/**
 * The places that one account may hold. An account must leave places for others even when nobody else waits: a Job may run
 * for hours, and nothing takes a place back. Uploads without an account share the whole limit while there is no account.
 */
export function computeShare(account: string | undefined, limit: number, hasAccounts: boolean): number {
  if (limit === 1 || (account === undefined && !hasAccounts)) return limit;
  return Math.ceil(limit / 2);
}

/**
 * Remembers which accounts had more than their turn (start-time fair queueing, Goyal et al. 1996): each place that an account
 * takes moves its next turn back by one, and an account that was away begins at the present turn. Without it an account whose
 * Jobs are short and urgent would win each tie against an account that waits.
 */
export class Turns {
  #now = 0;
  readonly #next = new Map<string | undefined, number>();

  get(account: string | undefined): number {
    return this.#next.get(account) ?? this.#now;
  }

  /** An account takes a place while these accounts wait, itself among them or not. */
  take(account: string | undefined, waiting: Iterable<string | undefined>): void {
    const behind = new Set(waiting);
    // An account that waits keeps the turn it came with, however far the others get.
    for (const one of behind) this.#next.set(one, this.get(one));
    const turn = this.get(account);
    this.#now = Math.max(this.#now, Math.min(turn, ...[...behind].map((one) => this.get(one))));
    this.#next.set(account, turn + 1);
    for (const [one, next] of this.#next) if (next <= this.#now && !behind.has(one)) this.#next.delete(one);
  }
}

export interface Places<C extends Claim> {
  limit: number;
  /** The accounts of the Jobs that run, once for each Job. */
  running: readonly (string | undefined)[];
  /** By account. An account that has its share may have thousands of claims: they are skipped. */
  waiting: ReadonlyMap<string | undefined, Iterable<C>>;
  /** Storage keys that running Jobs make. */
  busy: ReadonlySet<string>;
  /** Whether what is under a storage key may be deleted at this moment. */
  isSwept: (workKey: string) => boolean;
  turns: Pick<Turns, 'get'>;
}

/** By code units: ten thousand claims are compared each time that one of them asks. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byAge = (a: Claim, b: Claim): number => byText(a.since, b.since) || byText(a.name, b.name);
const withinAccount = (a: Claim, b: Claim): number => computeBonus(b) - computeBonus(a) || byAge(a, b);

interface Queue<C extends Claim> {
  claims: C[];
  /** The claim that goes first; undefined while it has to be found. */
  head?: C | undefined;
  running: number;
  turn: number;
  share: number;
}

/** The queues of the accounts that may have another place, without what cannot begin now. */
function listQueues<C extends Claim>({ limit, running, waiting, turns, busy, isSwept }: Places<C>): Queue<C>[] {
  const hasAccounts = [...waiting.keys(), ...running].some((account) => account !== undefined);
  return [...waiting].flatMap(([account, all]) => {
    const own = running.filter((one) => one === account).length;
    const share = computeShare(account, limit, hasAccounts);
    if (own >= share) return [];
    const claims = [...all].filter(({ workKey }) => !busy.has(workKey) && !isSwept(workKey));
    return claims.length === 0 ? [] : [{ claims, running: own, turn: turns.get(account), share }];
  });
}

/** The first claim of a queue: found rather than sorted, since few places are free and thousands may wait. */
function findHead<C extends Claim>(queue: Queue<C>, taken: ReadonlySet<string>): C | undefined {
  if (queue.head && !taken.has(queue.head.workKey)) return queue.head;
  queue.claims = queue.claims.filter(({ workKey }) => !taken.has(workKey));
  const [one, ...others] = queue.claims;
  queue.head = one && others.reduce((first, claim) => (withinAccount(claim, first) < 0 ? claim : first), one);
  return queue.head;
}

/** The claims that take the free places, in order. Of two accounts with as many Jobs, the one whose turn is earlier goes first. */
export function nextClaims<C extends Claim>(places: Places<C>): C[] {
  const { limit, running } = places;
  const next: C[] = [];
  if (running.length >= limit) return next;
  const taken = new Set<string>();
  const queues = listQueues(places);
  while (running.length + next.length < limit) {
    const heads = queues.flatMap((queue) => {
      const claim = queue.running < queue.share ? findHead(queue, taken) : undefined;
      return claim ? [{ queue, claim, turn: queue.turn - computeBonus(claim) }] : [];
    });
    heads.sort((a, b) => a.queue.running - b.queue.running || a.turn - b.turn || byAge(a.claim, b.claim));
    const [first] = heads;
    if (!first) break;
    next.push(first.claim);
    taken.add(first.claim.workKey);
    first.queue.running++;
    first.queue.turn++;
  }
  return next;
}

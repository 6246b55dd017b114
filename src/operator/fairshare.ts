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
  /** When the upload was made (RFC 3339). */
  since: string;
  /** Name of the Job. */
  name: string;
  /** Storage key of what the Job makes: two Jobs must not make it at once. */
  workKey: string;
}

/** How often an account may be passed over because another account's stream waits: an urgent claim counts as one place less. */
const URGENT_BONUS = 1;

/**
 * The places that one account may hold. An account must leave places for others even when nobody else waits: a Job may run
 * for hours, and nothing takes a place back. Uploads without an account share the whole limit while there is no account.
 */
export function shareOf(account: string | undefined, limit: number, hasAccounts: boolean): number {
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

  of(account: string | undefined): number {
    return this.#next.get(account) ?? this.#now;
  }

  /** An account takes a place while these accounts wait, itself among them or not. */
  take(account: string | undefined, waiting: Iterable<string | undefined>): void {
    const behind = new Set(waiting);
    // An account that waits keeps the turn it came with, however far the others get.
    for (const one of behind) this.#next.set(one, this.of(one));
    const turn = this.of(account);
    this.#now = Math.max(this.#now, Math.min(turn, ...[...behind].map((one) => this.of(one))));
    this.#next.set(account, turn + 1);
    for (const [one, next] of this.#next) if (next <= this.#now && !behind.has(one)) this.#next.delete(one);
  }
}

export interface Places<C extends Claim> {
  limit: number;
  /** The accounts of the Jobs that run, once for each Job. */
  running: readonly (string | undefined)[];
  waiting: Iterable<C>;
  /** Storage keys that running Jobs make. */
  busy: ReadonlySet<string>;
  /** Whether what is under a storage key may be deleted at this moment. */
  isSwept: (workKey: string) => boolean;
  turns: Pick<Turns, 'of'>;
}

const withinAccount = (a: Claim, b: Claim): number =>
  Number(b.urgent) - Number(a.urgent) || a.since.localeCompare(b.since) || a.name.localeCompare(b.name);

interface Queue<C extends Claim> {
  account: string | undefined;
  claims: C[];
  running: number;
  turn: number;
  share: number;
}

function queuesOf<C extends Claim>({ limit, running, waiting, turns }: Places<C>): Queue<C>[] {
  const queues = new Map<string | undefined, C[]>();
  for (const claim of waiting) {
    const claims = queues.get(claim.account);
    if (claims) claims.push(claim);
    else queues.set(claim.account, [claim]);
  }
  const hasAccounts = [...queues.keys(), ...running].some((account) => account !== undefined);
  return [...queues].map(([account, claims]) => ({
    account,
    claims: claims.sort(withinAccount),
    running: running.filter((one) => one === account).length,
    turn: turns.of(account),
    share: shareOf(account, limit, hasAccounts),
  }));
}

/** The claims that take the free places, in order. Of two accounts with as many Jobs, the one whose turn is earlier goes first. */
export function nextClaims<C extends Claim>(places: Places<C>): C[] {
  const { limit, running, busy, isSwept } = places;
  const next: C[] = [];
  if (running.length >= limit) return next;
  const taken = new Set(busy);
  const queues = queuesOf(places);
  const head = ({ claims }: Queue<C>): C | undefined => {
    while (claims[0] && (taken.has(claims[0].workKey) || isSwept(claims[0].workKey))) claims.shift();
    return claims[0];
  };
  while (running.length + next.length < limit) {
    const heads = queues.flatMap((queue) => {
      const claim = queue.running < queue.share ? head(queue) : undefined;
      return claim ? [{ queue, claim, turn: queue.turn - (claim.urgent ? URGENT_BONUS : 0) }] : [];
    });
    heads.sort(
      (a, b) =>
        a.queue.running - b.queue.running ||
        a.turn - b.turn ||
        a.claim.since.localeCompare(b.claim.since) ||
        a.claim.name.localeCompare(b.claim.name),
    );
    const [first] = heads;
    if (!first) break;
    next.push(first.claim);
    taken.add(first.claim.workKey);
    first.queue.claims.shift();
    first.queue.running++;
    first.queue.turn++;
  }
  return next;
}

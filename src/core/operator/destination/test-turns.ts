/**
 * Shares the places of destinations' tests among accounts: an account holds at most its share, and of those that wait the account with
 * the fewest tests is next. Pure: no I/O, no clock.
 */

interface Waiting {
  account: string;
  sinceMs: number;
  /** When it last asked: a test that stops asking loses its place. */
  askedMs: number;
}

export interface TestTurnsOptions {
  /** Tests at the same time, of all accounts. */
  total: number;
  /** Of one account. */
  each: number;
  /** Milliseconds without a request after which a test no longer waits. */
  patienceMs: number;
}

export class TestTurns {
  readonly #options: TestTurnsOptions;
  /** Key of a destination → its account. */
  readonly #running = new Map<string, string>();
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: TestTurnsOptions) {
    this.#options = options;
  }

  /** Counts a test that runs, also one that another operator began. */
  hold(key: string, account: string): void {
    this.#waiting.delete(key);
    this.#running.set(key, account);
  }

  /** Takes a place for a test, if it is its turn; otherwise it waits and has to ask again. */
  take(key: string, account: string, nowMs: number): boolean {
    if (this.#running.has(key)) return true;
    const sinceMs = this.#waiting.get(key)?.sinceMs ?? nowMs;
    this.#waiting.set(key, { account, sinceMs, askedMs: nowMs });
    if (!this.#next(nowMs).has(key)) return false;
    this.hold(key, account);
    return true;
  }

  /** There is no test of it any more. */
  leave(key: string): void {
    this.#running.delete(key);
    this.#waiting.delete(key);
  }

  /** Tests that wait and have a place now: each place goes to the account with the fewest, and then to who came first. */
  #next(nowMs: number): Set<string> {
    const { total, each, patienceMs } = this.#options;
    const counts = new Map<string, number>();
    for (const account of this.#running.values()) counts.set(account, (counts.get(account) ?? 0) + 1);
    for (const [key, { askedMs }] of this.#waiting) if (nowMs - askedMs > patienceMs) this.#waiting.delete(key);
    const lines = new Map<string, [key: string, sinceMs: number][]>();
    for (const [key, { account, sinceMs }] of this.#waiting) {
      const line = lines.get(account) ?? [];
      lines.set(account, line);
      line.push([key, sinceMs]);
    }
    for (const line of lines.values()) line.sort(([, a], [, b]) => a - b);
    const next = new Set<string>();
    for (let free = total - this.#running.size; free > 0; free -= 1) {
      const [account, line] =
        [...lines]
          .filter(([name, { length }]) => length > 0 && (counts.get(name) ?? 0) < each)
          .sort(([a, [first]], [b, [other]]) => {
            const byCount = (counts.get(a) ?? 0) - (counts.get(b) ?? 0);
            return byCount || (first?.[1] ?? 0) - (other?.[1] ?? 0);
          })[0] ?? [];
      const first = line?.shift();
      if (account === undefined || !first) break;
      next.add(first[0]);
      counts.set(account, (counts.get(account) ?? 0) + 1);
    }
    return next;
  }
}

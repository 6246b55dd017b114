/**
 * Shares a number of places among owners, such as accounts or source addresses. No owner takes more than its share, and
 * a free place goes to the owner with the fewest. The length of the queue is limited and shared as well. Pure: no I/O.
 */

/** Owners whose last turn is remembered. */
const MAX_REMEMBERED = 10_000;

/** `limit` is the name of the limit that was reached, or `total` where all places are taken by others. */
export class SlotsFull extends Error {
  override readonly name = 'SlotsFull';
  readonly limit: string;
  constructor(limit: string) {
    super(`The limit of ${limit} was reached.`);
    this.limit = limit;
  }
}

export interface FairSlotsOptions {
  total: number;
  /** Name of a kind of owner → places of each owner of this kind. The first kind is the one that places are shared by. */
  each: Readonly<Record<string, number>>;
  /** Limits of the queue; without them no caller waits. */
  waiting?: {
    total: number;
    /** For each owner of the first kind. */
    each: number;
    /** Milliseconds; then the wait ends in SlotsFull. */
    ms: number;
  };
}

interface QueueEntry {
  /** In the order of `each`. */
  owners: readonly string[];
  giveUp: (() => void) | undefined;
  /** Places of the owner of the first kind. */
  most: number;
  enter?: () => void;
  /** Ends the wait in SlotsFull. */
  leave?: () => void;
}

/** Name of a kind of owner → who it is. */
export type Owners = Readonly<Record<string, string>>;

export interface TakeOptions {
  /**
   * Called at most once, when another owner with fewer places waits for one. The holder should release its place soon.
   * Without this function the place is kept for as long as its holder likes.
   */
  giveUp?: () => void;
  /** Places of this owner of the first kind, where they differ from `each`. */
  most?: number;
}

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #kinds: readonly string[];
  readonly #held = new Set<QueueEntry>();
  readonly #counts = new Map<string, number>();
  /** When each owner had its last turn, counted in turns. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #waiting: QueueEntry[] = [];

  constructor(options: FairSlotsOptions) {
    this.#options = options;
    this.#kinds = Object.keys(options.each);
  }

  /** Places that are taken now. */
  get taken(): number {
    return this.#held.size;
  }

  /** Resolves to a function that gives the place back; it may be called twice. Rejects with SlotsFull. */
  async take(owners: Owners, options: TakeOptions = {}): Promise<() => void> {
    const entry = this.#entryOf(owners, options);
    const obstacle = this.#obstacle(entry);
    if (obstacle === undefined) return this.#enter(entry);
    const { waiting } = this.#options;
    const [first] = entry.owners;
    const own = this.#waiting.filter(({ owners: [other] }) => other === first).length;
    if (!waiting || own >= waiting.each) throw new SlotsFull(obstacle);
    if (this.#waiting.length >= waiting.total && !this.#shortenLine(own)) throw new SlotsFull('total');
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    entry.leave = () => {
      clearTimeout(timer);
      this.#waiting = this.#waiting.filter((other) => other !== entry);
      reject(new SlotsFull(this.#obstacle(entry) ?? 'total'));
    };
    const timer = setTimeout(entry.leave, waiting.ms);
    entry.enter = () => {
      clearTimeout(timer);
      resolve(this.#enter(entry));
    };
    this.#waiting.push(entry);
    if (obstacle === 'total') this.#askToGiveUp(entry);
    return promise;
  }

  /** As `take`, without waiting. Throws SlotsFull. */
  takeNow(owners: Owners, options: TakeOptions = {}): () => void {
    const entry = this.#entryOf(owners, options);
    const obstacle = this.#obstacle(entry);
    if (obstacle === undefined) return this.#enter(entry);
    if (obstacle === 'total') this.#askToGiveUp(entry);
    throw new SlotsFull(obstacle);
  }

  /** Ends the last wait of the owner with the most, if that makes the shares of the line more equal: `own` have come before. */
  #shortenLine(own: number): boolean {
    const counts = new Map<string | undefined, number>();
    let longest: QueueEntry | undefined;
    for (const entry of this.#waiting) {
      const [first] = entry.owners;
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const entry of this.#waiting)
      if (!longest || (counts.get(entry.owners[0]) ?? 0) >= (counts.get(longest.owners[0]) ?? 0)) longest = entry;
    if (!longest || (counts.get(longest.owners[0]) ?? 0) <= own + 1) return false;
    longest.leave?.();
    return true;
  }

  #entryOf(owners: Owners, { giveUp, most = this.#options.each[this.#kinds[0] ?? ''] ?? 0 }: TakeOptions): QueueEntry {
    return { owners: this.#kinds.map((kind) => `${kind} ${owners[kind] ?? ''}`), giveUp, most };
  }

  #countOf(key: string | undefined): number {
    return this.#counts.get(key ?? '') ?? 0;
  }

  #obstacle({ owners, most }: QueueEntry): string | undefined {
    const getLimit = (kind: string, at: number) => (at === 0 ? most : (this.#options.each[kind] ?? 0));
    const full = this.#kinds.find((kind, at) => this.#countOf(owners[at]) >= getLimit(kind, at));
    return full ?? (this.#held.size >= this.#options.total ? 'total' : undefined);
  }

  #enter(entry: QueueEntry): () => void {
    this.#held.add(entry);
    // A forgotten owner counts as one that never had a turn.
    if (this.#turns.size > MAX_REMEMBERED) this.#turns.clear();
    this.#turn++;
    for (const key of entry.owners) {
      this.#counts.set(key, this.#countOf(key) + 1);
      this.#turns.set(key, this.#turn);
    }
    return () => {
      if (!this.#held.delete(entry)) return;
      for (const key of entry.owners) {
        const left = this.#countOf(key) - 1;
        if (left > 0) this.#counts.set(key, left);
        else this.#counts.delete(key);
      }
      this.#admit();
    };
  }

  /** Admits the owner with the fewest places, among equals the one with the oldest turn, and then the first. */
  #admit(): void {
    const fewest = (a: QueueEntry, b: QueueEntry): number =>
      a.owners.reduce((order, mine, at) => {
        const other = b.owners[at] ?? '';
        const byTurn = (this.#turns.get(mine) ?? 0) - (this.#turns.get(other) ?? 0);
        return order || this.#countOf(mine) - this.#countOf(other) || byTurn;
      }, 0);
    for (;;) {
      const next = this.#waiting
        .filter((entry) => this.#obstacle(entry) === undefined)
        .reduce<QueueEntry | undefined>((best, entry) => (best && fewest(best, entry) <= 0 ? best : entry), undefined);
      if (!next) return;
      this.#waiting = this.#waiting.filter((entry) => entry !== next);
      next.enter?.();
    }
  }

  /** Asks the owner with the most places for the one that it took last, if that makes the shares more equal. */
  #askToGiveUp({ owners: [mine] }: QueueEntry): void {
    let found: QueueEntry | undefined;
    for (const entry of this.#held) {
      if (!entry.giveUp) continue;
      if (!found || this.#countOf(entry.owners[0]) >= this.#countOf(found.owners[0])) found = entry;
    }
    if (!found || this.#countOf(found.owners[0]) <= this.#countOf(mine) + 1) return;
    const { giveUp } = found;
    found.giveUp = undefined;
    giveUp?.();
  }
}

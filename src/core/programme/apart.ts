/**
 * Orders a shuffled round so that other items play between two of one artist, as far as the list allows. The order depends on the seed and
 * the round alone, and each item is placed once, so a list of one artist is played as well. Pure: no I/O, no clock.
 */

/** Which items are alike, and how many others are to play between two of these. */
export interface Apart {
  least: number;
  /** Number of the artist of each item; 0 where there is none. */
  groups: readonly number[];
}

/** An item without an artist is alike to itself alone. */
const groupOf = ({ groups }: Apart, item: number): number => groups[item] || -1 - item;

function countGroups(apart: Apart, order: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of order) {
    const group = groupOf(apart, item);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}

/** Tells how close a group is to its neighbours while a round is placed, and when it has to be placed lest it has no room. */
class Spacing {
  readonly #apart: Apart;
  readonly #size: number;
  readonly #counts: Map<number, number>;
  /** Number of groups with so many items left, or more. */
  readonly #withMany: number[] = [];
  /** Groups with two items left, or more. */
  readonly #repeated: Set<number>;
  readonly #lastAt: Map<number, number>;
  readonly #nextAt: Map<number, number>;
  #placed = 0;
  /** Groups with items left that follow the round, too. */
  #followed: number;

  constructor(apart: Apart, order: readonly number[], before: readonly number[], after: readonly number[]) {
    this.#apart = apart;
    this.#size = order.length;
    this.#counts = countGroups(apart, order);
    this.#repeated = new Set([...this.#counts].flatMap(([group, count]) => (count > 1 ? [group] : [])));
    for (const count of this.#counts.values())
      for (let many = 1; many <= count; many++) this.#withMany[many] = (this.#withMany[many] ?? 0) + 1;
    this.#lastAt = new Map(before.map((item, index) => [groupOf(apart, item), index - before.length]));
    const following = after.map((item, index): [number, number] => [groupOf(apart, item), order.length + index]);
    this.#nextAt = new Map(following.toReversed());
    this.#followed = [...this.#nextAt.keys()].filter((group) => this.#counts.has(group)).length;
  }

  distance(group: number): number {
    return this.#placed - (this.#lastAt.get(group) ?? Number.NEGATIVE_INFINITY);
  }

  /** Places at which it may still be. */
  #countRoom(group: number): number {
    const nextAt = this.#nextAt.get(group) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.#size, nextAt - this.#apart.least) - this.#placed;
  }

  isFree(group: number): boolean {
    return this.distance(group) > this.#apart.least && this.#countRoom(group) > 0;
  }

  /** Lists the groups whose rest would be too close with any other item now. */
  findUrgent(): Set<number> {
    const most = this.#withMany.length - 1;
    const needed = (most - 1) * (this.#apart.least + 1) + (this.#withMany[2] ?? 0);
    const repeated = most > 1 && needed >= this.#size - this.#placed ? this.#repeated : [];
    return new Set([...repeated, ...this.#nextAt.keys()].filter((group) => this.#isUrgent(group)));
  }

  #isUrgent(group: number): boolean {
    const count = this.#counts.get(group) ?? 0;
    const others = this.#nextAt.has(group) ? this.#followed : (this.#withMany[count] ?? 0);
    if (count === 0 || !this.isFree(group)) return false;
    return (count - 1) * (this.#apart.least + 1) + others >= this.#countRoom(group);
  }

  place(group: number): void {
    const count = this.#counts.get(group) ?? 1;
    this.#lastAt.set(group, this.#placed++);
    this.#counts.set(group, count - 1);
    this.#withMany[count] = (this.#withMany[count] ?? 1) - 1;
    if (this.#withMany.at(-1) === 0) this.#withMany.pop();
    if (count === 2) this.#repeated.delete(group);
    if (count === 1 && this.#nextAt.has(group)) this.#followed--;
  }
}

/** Places items between those that have played before and those that follow. */
function spread(order: readonly number[], apart: Apart, before: readonly number[], after: readonly number[]): number[] {
  const spacing = new Spacing(apart, order, before, after);
  const left = order.map((item) => ({ item, group: groupOf(apart, item) }));
  const find = (): number => {
    const urgent = spacing.findUrgent();
    const wanted = left.findIndex(({ group }) => (urgent.size > 0 ? urgent.has(group) : spacing.isFree(group)));
    if (wanted >= 0) return wanted;
    let farthest = 0;
    for (const [index, { group }] of left.entries())
      if (spacing.distance(group) > spacing.distance(left[farthest]?.group ?? group)) farthest = index;
    return farthest;
  };
  return order.flatMap(() =>
    left.splice(find(), 1).map(({ item, group }) => {
      spacing.place(group);
      return item;
    }),
  );
}

/** Counts the items that are too close to one that is alike. */
function countClose(apart: Apart, order: readonly number[]): number {
  const lastAt = new Map<number, number>();
  let close = 0;
  for (const [at, item] of order.entries()) {
    const group = groupOf(apart, item);
    if (at - (lastAt.get(group) ?? Number.NEGATIVE_INFINITY) <= apart.least) close++;
    lastAt.set(group, at);
  }
  return close;
}

/**
 * Returns the items of a shuffled round in their order. `permute` shuffles a round as if no two items were alike. The last items of each round
 * are those that it has without the rounds before it, so that a round can be computed from two.
 */
export function orderApart(apart: Apart, permute: (round: number) => number[], round: number): number[] {
  const { least } = apart;
  const own = spread(permute(round), apart, [], []);
  const count = own.length;
  if (round === 0 || count < 3) return own;
  const before = spread(permute(round - 1), apart, [], []).slice(-least);
  if (count > 2 * least) {
    const tail = own.slice(count - least);
    const joined = [...spread(own.slice(0, count - least), apart, before, tail), ...tail];
    const isBetter = countClose(apart, [...before, ...joined]) < countClose(apart, [...before, ...own]);
    if (isBetter || (own[0] === before.at(-1) && joined[0] !== own[0])) return joined;
  }
  const [first = 0, second = 0, ...rest] = own;
  return first === before.at(-1) ? [second, first, ...rest] : own;
}

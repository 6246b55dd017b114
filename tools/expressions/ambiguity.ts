/**
 * Finds regular expressions whose matching may take more than linear time. A backtracking engine tries each way in which an expression reads a
 * text. Two loops that can read the same piece, one behind the other, give quadratic time; a loop that reads one piece in two ways gives exponential
 * time (Weideman and others, "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers", 2016). A search begins
 * anew at each character, which is a loop as well. No text is tried, so the answer is the same on each machine. Pure: no I/O, no clock.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { CharSet } from 'refa';
import { toUnicodeSet } from 'regexp-ast-analysis';

/** A repetition of at most so many is no loop: the time stays linear in the length of the text. */
const MAX_BOUNDED = 256;
/** A repetition of something that varies in length multiplies its ways with each time. */
const MAX_BOUNDED_OF_LOOPS = 3;
/** Enough to see two repetitions beside each other. */
const COPIES = 2;
/** More ways from one place to the next need not be told apart. */
const MANY = 2;

const LINE_FEED = { min: 10, max: 10 };

export type Ambiguity = 'exponential' | 'polynomial';

type Counts = Map<number, number>;

/** A part of an expression as an automaton: each place reads one character (Glushkov). */
interface Part {
  /** It may read nothing. */
  isNullable: boolean;
  /** It may read nothing whatever the text is. */
  isFree: boolean;
  /** Places that read its first character, with the number of ways to each. */
  first: Counts;
  last: Counts;
  /** Places behind which it may end whatever follows. */
  ends: Set<number>;
}

function add(counts: Counts, others: Iterable<[number, number]>, times = 1): void {
  for (const [place, ways] of others) counts.set(place, Math.min(MANY, (counts.get(place) ?? 0) + ways * times));
}

const nothing = (isFree = true): Part => ({
  isNullable: true,
  isFree,
  first: new Map(),
  last: new Map(),
  ends: new Set(),
});

class Automaton {
  readonly chars: CharSet[] = [];
  readonly next: Counts[] = [];
  /** Places where a match, or a look around, is over whatever follows. */
  readonly accepting = new Set<number>();
  readonly #all: CharSet;
  readonly #empty: CharSet;
  readonly #flags: AST.Flags;

  constructor({ pattern, flags }: AST.RegExpLiteral) {
    this.#flags = flags;
    const max = flags.unicode || flags.unicodeSets ? 0x10ffff : 0xffff;
    this.#all = CharSet.all(max);
    this.#empty = CharSet.empty(max);
    const whole = this.#either(pattern.alternatives);
    const search = this.#place(this.#all);
    const parts = flags.sticky ? whole : this.#join(this.#loop(search), whole);
    for (const place of parts.ends) this.accepting.add(place);
  }

  /** Returns the ways from a place to others. Where a match is over whatever follows, no other way is tried. */
  waysFrom(place: number): Counts {
    return new Map([...(this.next[place] ?? [])].filter(([to]) => !this.accepting.has(to)));
  }

  #place(chars: CharSet): Part {
    const place = this.chars.push(chars) - 1;
    this.next.push(new Map());
    const counts: [number, number][] = [[place, 1]];
    return { isNullable: false, isFree: false, first: new Map(counts), last: new Map(counts), ends: new Set([place]) };
  }

  #connect(last: Counts, first: Counts): void {
    for (const [place, ways] of last) add(this.next[place] ?? new Map(), first, ways);
  }

  #join(a: Part, b: Part): Part {
    this.#connect(a.last, b.first);
    const joined: Part = {
      isNullable: a.isNullable && b.isNullable,
      isFree: a.isFree && b.isFree,
      first: new Map(a.first),
      last: new Map(b.last),
      ends: new Set(b.isFree ? [...a.ends, ...b.ends] : b.ends),
    };
    if (a.isNullable) add(joined.first, b.first);
    if (b.isNullable) add(joined.last, a.last);
    return joined;
  }

  #loop(part: Part): Part {
    this.#connect(part.last, part.first);
    return { ...part, isNullable: true, isFree: true };
  }

  #either(alternatives: readonly AST.Alternative[], isBackward = false): Part {
    const parts = alternatives.map(({ elements }) =>
      (isBackward ? elements.toReversed() : elements)
        // Behind a loop over all characters, the end of the text is always found.
        .filter((element, at, all) => !(this.#isEnd(element) && this.#readsAll(all[at - 1])))
        .map((element) => this.#read(element, isBackward))
        .reduce((all, part) => this.#join(all, part), nothing()),
    );
    const either = { ...nothing(false), isNullable: false };
    for (const part of parts) {
      either.isNullable ||= part.isNullable;
      either.isFree ||= part.isFree;
      add(either.first, part.first);
      add(either.last, part.last);
      for (const place of part.ends) either.ends.add(place);
    }
    return either;
  }

  #isEnd(element: AST.Element): boolean {
    return element.type === 'Assertion' && element.kind === 'end' && !this.#flags.multiline;
  }

  #readsAll(element: AST.Element | undefined): boolean {
    if (element?.type === 'Group' || element?.type === 'CapturingGroup')
      return element.alternatives.some(({ elements }) => elements.length === 1 && this.#readsAll(elements[0]));
    if (element?.type !== 'Quantifier' || element.max !== Number.POSITIVE_INFINITY) return false;
    const { type } = element.element;
    if (type !== 'CharacterClass' && type !== 'CharacterSet') return false;
    return toUnicodeSet(element.element as AST.CharacterClass, this.#flags).chars.isAll;
  }

  #repeat({ element, min, max }: AST.Quantifier, isBackward: boolean): Part {
    if (max === 0) return nothing();
    const limit = varies(element) ? MAX_BOUNDED_OF_LOOPS : MAX_BOUNDED;
    if (max > limit) {
      const part = this.#read(element, isBackward);
      const isPossiblyEmpty = min === 0 || part.isNullable;
      return { ...this.#loop(part), isNullable: isPossiblyEmpty, isFree: min === 0 || part.isFree };
    }
    const optional = (part: Part): Part => ({ ...part, isNullable: true, isFree: true });
    const parts = Array.from({ length: Math.min(max, COPIES) }, () => this.#read(element, isBackward));
    const last = parts.length - 1;
    if (last >= min) parts[last] = optional(parts[last] as Part);
    // Each is optional together with those behind it, so that there is one way to read so many.
    return parts.reduceRight((rest, part, n) => (n < min ? this.#join(part, rest) : optional(this.#join(part, rest))));
  }

  #read(element: AST.Element, isBackward: boolean): Part {
    switch (element.type) {
      case 'Assertion':
        return this.#assert(element);
      case 'Backreference':
        return this.#loop(this.#place(this.#all));
      case 'CapturingGroup':
      case 'Group':
        return this.#either(element.alternatives, isBackward);
      case 'Quantifier':
        return this.#repeat(element, isBackward);
      default:
        return this.#place(toUnicodeSet(element, this.#flags).chars);
    }
  }

  /** A look around is a way of its own, which leads nowhere else. Nothing is read through a beginning or an end. */
  #assert(element: AST.Assertion): Part {
    if (element.kind === 'word') return nothing(false);
    // A line begins behind the end of another one.
    if (element.kind === 'start' && this.#flags.multiline) return this.#place(this.#empty.union([LINE_FEED]));
    if (element.kind === 'lookahead' || element.kind === 'lookbehind') {
      const body = this.#either(element.alternatives, element.kind === 'lookbehind');
      for (const place of body.ends) this.accepting.add(place);
      return { ...nothing(false), first: body.first };
    }
    return this.#place(this.#empty);
  }
}

/** Whether an element may read texts of many lengths. */
function varies(element: AST.Element): boolean {
  if (element.type === 'Quantifier') return element.max !== element.min || varies(element.element);
  if (element.type !== 'Group' && element.type !== 'CapturingGroup') return element.type === 'Backreference';
  return element.alternatives.some(({ elements }) => elements.some(varies));
}

/** Searches a graph from `start`; `edges` yields the neighbours of a node. */
function reach<N>(start: readonly N[], key: (node: N) => string, edges: (node: N) => Iterable<N>): Map<string, N> {
  const found = new Map(start.map((node) => [key(node), node]));
  const open = [...start];
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const neighbour of edges(node)) {
      const name = key(neighbour);
      if (found.has(name)) continue;
      found.set(name, neighbour);
      open.push(neighbour);
    }
  return found;
}

/** Numbers the strongly connected parts: place → part; undefined for a place that is in no loop. */
function findLoops(next: readonly Counts[]): (number | undefined)[] {
  const reached = next.map((_, from) => {
    const start = [...(next[from]?.keys() ?? [])];
    return new Set(reach(start, String, (place) => next[place]?.keys() ?? []).values());
  });
  return next.map((_, place) =>
    reached[place]?.has(place)
      ? next.findIndex((_, other) => reached[place]?.has(other) && reached[other]?.has(place))
      : undefined,
  );
}

/** Says how the time of an expression may grow; undefined for linear time. Throws SyntaxError. */
export function findAmbiguity(source: string, flags: string): Ambiguity | undefined {
  const automaton = new Automaton(new RegExpParser().parseLiteral(`/${new RegExp(source, flags).source}/${flags}`));
  const { chars } = automaton;
  const next = chars.map((_, place) => automaton.waysFrom(place));
  const loops = findLoops(next);
  const overlaps = new Map<string, boolean>();
  const overlap = (...places: number[]): boolean => {
    const name = places.join();
    let does = overlaps.get(name);
    if (does === undefined) {
      const all = places.map((place) => chars[place] as CharSet);
      does = !all.reduce((a, b) => a.intersect(b)).isEmpty;
      overlaps.set(name, does);
    }
    return does;
  };
  const steps = (place: number, within?: number): number[] =>
    [...(next[place]?.keys() ?? [])].filter((to) => within === undefined || loops[to] === within);

  function isExponential(loop: number, place: number): boolean {
    type Pair = readonly [number, number];
    const forward = ([a, b]: Pair): Pair[] =>
      steps(a, loop).flatMap((x) => steps(b, loop).flatMap((y) => (overlap(x, y) ? [[x, y] as const] : [])));
    const key = (pair: Pair) => pair.join();
    const pairs = reach<Pair>([[place, place]], key, forward);
    const home = key([place, place]);
    return [...pairs.values()].some((pair) => {
      const [a, b] = pair;
      if (a !== b) return reach([pair], key, forward).has(home);
      return steps(a, loop).some((to) => (next[a]?.get(to) ?? 0) > 1);
    });
  }

  function isPolynomial(from: number, to: number): boolean {
    type Triple = readonly [number, number, number];
    const forward = ([a, b, c]: Triple): Triple[] =>
      steps(a, loops[from]).flatMap((x) =>
        steps(c, loops[to])
          .filter((z) => overlap(x, z))
          .flatMap((z) => steps(b).flatMap((y) => (overlap(x, y, z) ? [[x, y, z] as const] : []))),
      );
    const goal = [from, to, to].join();
    return reach<Triple>([[from, from, to]], (triple) => triple.join(), forward).has(goal);
  }

  const looping = [...chars.keys()].filter((place) => loops[place] !== undefined);
  for (const place of looping) {
    const isFirst = loops[place] === place;
    if (isFirst && isExponential(place, place)) return 'exponential';
  }
  for (const from of looping)
    for (const to of looping) if (loops[from] !== loops[to] && isPolynomial(from, to)) return 'polynomial';
  return undefined;
}

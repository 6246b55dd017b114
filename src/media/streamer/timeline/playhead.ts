/**
 * The radio clock: where a looping track stands is a function of its epoch, its items, its seed and the time. A replaced
 * pod computes where to go on, and nothing has to write a position down.
 * Pure: no I/O, no clock.
 */
import { TICKS_PER_SECOND } from './ticks.ts';

export interface Loop {
  mode: 'sequential' | 'shuffle';
  seed: number;
  /** Ticks that each item plays; 0 for one that cannot be played now. */
  durations: readonly number[];
}

/** A place in a loop: the round (0 is the first), the turn in it, and ticks into that turn's item. */
export interface Position {
  round: number;
  turn: number;
  offsetTicks: number;
}

/** splitmix32: a well-mixed 32-bit number from another, so that (seed, round, turn) can be asked in any order. */
function mix(value: number): number {
  let x = (value + 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** Fisher-Yates, with numbers that depend on nothing but seed and round. */
function permutation(count: number, seed: number, round: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  let state = mix(mix(seed | 0) + Math.imul(round, 0x9e3779b1));
  for (let i = count - 1; i > 0; i--) {
    state = mix(state + i);
    const j = state % (i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

/**
 * The items of a round in the order they play. A shuffled round plays every item once and never begins with the item the
 * round before ended with: the first two change places then, which leaves the last as it is, so a round can be computed
 * without those before it. Two items can only take turns.
 */
export function orderOf(loop: Pick<Loop, 'mode' | 'seed' | 'durations'>, round: number): number[] {
  const count = loop.durations.length;
  if (loop.mode === 'sequential' || count < 2) return Array.from({ length: count }, (_, i) => i);
  if (count === 2) return permutation(2, loop.seed, 0);
  const order = permutation(count, loop.seed, round);
  const before = round > 0 ? permutation(count, loop.seed, round - 1)[count - 1] : undefined;
  if (order[0] === before) [order[0], order[1]] = [order[1] as number, order[0] as number];
  return order;
}

/** Item index of a position; undefined for an empty loop. */
export const itemAt = (loop: Loop, position: Pick<Position, 'round' | 'turn'>): number | undefined =>
  orderOf(loop, position.round)[position.turn];

/** Where the loop stands `elapsedTicks` after its epoch; before the epoch that is its beginning. Undefined when nothing plays. */
export function positionAt(loop: Loop, elapsedTicks: number): Position | undefined {
  const total = loop.durations.reduce((sum, ticks) => sum + ticks, 0);
  if (total <= 0) return undefined;
  const elapsed = Math.max(0, Math.floor(elapsedTicks));
  const round = Math.floor(elapsed / total);
  let offsetTicks = elapsed - round * total;
  for (const [turn, item] of orderOf(loop, round).entries()) {
    const ticks = loop.durations[item] ?? 0;
    if (offsetTicks < ticks) return { round, turn, offsetTicks };
    offsetTicks -= ticks;
  }
  return undefined;
}

/** The next turn, from its beginning. */
export function following(loop: Loop, position: Pick<Position, 'round' | 'turn'>): Position {
  const last = position.turn + 1 >= loop.durations.length;
  return { round: position.round + (last ? 1 : 0), turn: last ? 0 : position.turn + 1, offsetTicks: 0 };
}

/** Ticks from the loop's epoch to the beginning of a turn. */
export function ticksBefore(loop: Loop, { round, turn }: Pick<Position, 'round' | 'turn'>): number {
  const total = loop.durations.reduce((sum, ticks) => sum + ticks, 0);
  const earlier = orderOf(loop, round).slice(0, turn);
  return round * total + earlier.reduce((sum, item) => sum + (loop.durations[item] ?? 0), 0);
}

/**
 * The loop after one of its items has turned out to play for another time, and the ticks by which its epoch moves so that
 * what plays at `at` stays where it is: whoever reckons anew, with what is known now, then comes to the same place.
 * Undefined when nothing changes, or when the rounds that have been played would put the epoch before the calendar.
 */
export function learn(
  loop: Loop,
  item: number,
  ticks: number,
  at: Pick<Position, 'round' | 'turn'>,
): { loop: Loop; shiftTicks: number } | undefined {
  if (loop.durations[item] === ticks) return undefined;
  const after = { ...loop, durations: loop.durations.with(item, ticks) };
  const before = ticksBefore(after, at);
  return before > MAX_TICKS_BEFORE ? undefined : { loop: after, shiftTicks: ticksBefore(loop, at) - before };
}

/** As many rounds of a longer list would put its epoch before the calendar: they are counted anew then. */
const MAX_TICKS_BEFORE = 20 * 365 * 86_400 * TICKS_PER_SECOND;

/**
 * Where a newly published loop goes on when the item ends that is playing in `round` of the old one: behind that item
 * (`playing` is its index in the new loop), or, where it is not listed any more, with the item that the clock says, from
 * its beginning. Undefined when nothing plays.
 */
export function resume(
  loop: Loop,
  elapsedTicks: number,
  before: { playing: number | undefined; round: number },
): Position | undefined {
  const now = positionAt(loop, elapsedTicks);
  if (!now) return undefined;
  const { playing } = before;
  const near = (position: Position) =>
    ticksBefore(loop, position) > MAX_TICKS_BEFORE ? { ...position, round: 0 } : position;
  if (playing === undefined) return near({ ...now, offsetTicks: 0 });
  const { round } = near({ round: before.round, turn: 0, offsetTicks: 0 });
  return following(loop, { round, turn: orderOf(loop, round).indexOf(playing) });
}

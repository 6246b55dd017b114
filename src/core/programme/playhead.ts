/**
 * Computes the playhead: the position of a looping track is a function of its epoch, its items, its seed and the time. A
 * replacement pod computes where to go on, and nothing stores a position.
 * Pure: no I/O, no clock.
 */
import { setNewest } from '../lib/newest.ts';
import { type Apart, orderApart } from './apart.ts';
import { TICKS_PER_SECOND } from './ticks.ts';

export interface Loop {
  mode: 'sequential' | 'shuffle';
  seed: number;
  /** Ticks that each item plays; 0 while an item cannot be played. */
  durations: readonly number[];
  /** Keeps items of one artist apart where it is shuffled. */
  apart?: Apart | undefined;
}

/** A position in a loop: the round (0 is the first), the turn in the round, and ticks into that turn's item. */
export interface TrackPlayhead {
  round: number;
  turn: number;
  offsetTicks: number;
}

/** Hashes a 32-bit number (splitmix32), so that any (seed, round, turn) can be computed without the ones before it. */
function mix(value: number): number {
  let x = (value + 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** Shuffles (Fisher-Yates) with numbers that depend on seed and round alone. */
function permute(count: number, seed: number, round: number): number[] {
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
 * Returns the items of a round in the order they play. A shuffled round plays every item once and never begins with the last
 * item of the round before. Swapping the first two items ensures that and keeps the last one, so that a round can be
 * computed without the ones before it. Two items can only alternate.
 */
export function orderRound(
  loop: Pick<Loop, 'mode' | 'seed' | 'durations' | 'apart'>,
  round: number,
): readonly number[] {
  const count = loop.durations.length;
  if (loop.mode === 'sequential' || count < 2) return Array.from({ length: count }, (_, i) => i);
  if (count === 2) return permute(2, loop.seed, 0);
  return recallShuffled(count, loop, round);
}

function shuffle(count: number, { seed, apart }: Pick<Loop, 'seed' | 'apart'>, round: number): number[] {
  if (apart) return orderApart(apart, (nth) => permute(count, seed, nth), round);
  const order = permute(count, seed, round);
  const before = round > 0 ? permute(count, seed, round - 1)[count - 1] : undefined;
  if (order[0] === before) [order[0], order[1]] = [order[1] as number, order[0] as number];
  return order;
}

const MAX_RECALLED = 4;
const recalled = new WeakMap<object, Map<string, readonly number[]>>();
/** In place of an Apart, for all loops without one. */
const PLAIN = {};

/** A round of hundreds of items takes a while to shuffle, and each turn asks for it. */
function recallShuffled(count: number, loop: Pick<Loop, 'seed' | 'apart'>, round: number): readonly number[] {
  const owner = loop.apart ?? PLAIN;
  const known = recalled.get(owner) ?? new Map<string, readonly number[]>();
  recalled.set(owner, known);
  const key = `${count} ${loop.seed} ${round}`;
  const order = known.get(key) ?? shuffle(count, loop, round);
  setNewest(known, key, order, MAX_RECALLED);
  return order;
}

/** Returns the index of the item at a playhead; undefined for an empty loop. */
export const findItem = (loop: Loop, position: Pick<TrackPlayhead, 'round' | 'turn'>): number | undefined =>
  orderRound(loop, position.round)[position.turn];

/** Returns the playhead `elapsedTicks` after the epoch, or the loop's beginning before it. Undefined when nothing plays. */
export function computePlayhead(loop: Loop, elapsedTicks: number): TrackPlayhead | undefined {
  const total = loop.durations.reduce((sum, ticks) => sum + ticks, 0);
  if (total <= 0) return undefined;
  const elapsed = Math.max(0, Math.floor(elapsedTicks));
  const round = Math.floor(elapsed / total);
  let offsetTicks = elapsed - round * total;
  for (const [turn, item] of orderRound(loop, round).entries()) {
    const ticks = loop.durations[item] ?? 0;
    if (offsetTicks < ticks) return { round, turn, offsetTicks };
    offsetTicks -= ticks;
  }
  return undefined;
}

/** Returns the beginning of the next turn. */
export function advance(loop: Loop, position: Pick<TrackPlayhead, 'round' | 'turn'>): TrackPlayhead {
  const last = position.turn + 1 >= loop.durations.length;
  return { round: position.round + (last ? 1 : 0), turn: last ? 0 : position.turn + 1, offsetTicks: 0 };
}

/** A turn of a loop with its place on the loop's clock: `startTicks` are counted from the loop's epoch. */
export interface LoopTurn {
  round: number;
  turn: number;
  /** Index of the item. */
  item: number;
  startTicks: number;
  endTicks: number;
}

/** Yields the turns from a playhead on, for ever, without those that take no time. Yields nothing of a loop in which nothing plays. */
export function* walk(loop: Loop, from: Pick<TrackPlayhead, 'round' | 'turn'>): Generator<LoopTurn, void> {
  if (!loop.durations.some((ticks) => ticks > 0)) return;
  let startTicks = countTicksBefore(loop, from);
  for (let round = from.round, first = from.turn; ; round++, first = 0) {
    for (const [turn, item] of orderRound(loop, round).entries()) {
      const ticks = loop.durations[item] ?? 0;
      if (turn < first || ticks <= 0) continue;
      yield { round, turn, item, startTicks, endTicks: startTicks + ticks };
      startTicks += ticks;
    }
  }
}

/** Counts the ticks from the loop's epoch to the beginning of a turn. */
export function countTicksBefore(loop: Loop, { round, turn }: Pick<TrackPlayhead, 'round' | 'turn'>): number {
  const total = loop.durations.reduce((sum, ticks) => sum + ticks, 0);
  const earlier = orderRound(loop, round).slice(0, turn);
  return round * total + earlier.reduce((sum, item) => sum + (loop.durations[item] ?? 0), 0);
}

/**
 * Corrects the duration of an item, and returns the ticks by which the epoch moves so that the item at `at` does not jump. A
 * pod that knows the new duration from its start then computes the same playhead. Undefined when nothing changes, or when
 * the rounds played so far would put the epoch before the calendar.
 */
export function correctDuration(
  loop: Loop,
  item: number,
  ticks: number,
  at: Pick<TrackPlayhead, 'round' | 'turn'>,
): { loop: Loop; shiftTicks: number } | undefined {
  if (loop.durations[item] === ticks) return undefined;
  const after = { ...loop, durations: loop.durations.with(item, ticks) };
  const before = countTicksBefore(after, at);
  return before > MAX_TICKS_BEFORE ? undefined : { loop: after, shiftTicks: countTicksBefore(loop, at) - before };
}

/** The same number of rounds of a longer list could put the epoch before the calendar. Rounds then count from 0 again. */
const MAX_TICKS_BEFORE = 20 * 365 * 86_400 * TICKS_PER_SECOND;

/**
 * Returns the playhead of a newly published loop for the moment when the current item ends: behind that item (`playing` is
 * its index in the new loop, `round` its round in the old one). If the new loop does not list the item, it is the beginning
 * of the item that the clock points to. Undefined when nothing plays.
 */
export function resumeAfter(
  loop: Loop,
  elapsedTicks: number,
  before: { playing: number | undefined; round: number },
): TrackPlayhead | undefined {
  const now = computePlayhead(loop, elapsedTicks);
  if (!now) return undefined;
  const { playing } = before;
  const limitRound = (playhead: TrackPlayhead) =>
    countTicksBefore(loop, playhead) > MAX_TICKS_BEFORE ? { ...playhead, round: 0 } : playhead;
  if (playing === undefined) return limitRound({ ...now, offsetTicks: 0 });
  const { round } = limitRound({ round: before.round, turn: 0, offsetTicks: 0 });
  return advance(loop, { round, turn: orderRound(loop, round).indexOf(playing) });
}

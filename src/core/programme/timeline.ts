/**
 * Computes what plays when: a fold over the turns of a programme, from the place where it stood at a known moment. The streamer
 * plays by the same turns (playhead.ts), so what is announced and what is on air cannot differ. docs/programme.md describes the
 * terms. Pure: no I/O, no clock.
 */
import { computePlayhead, countTicksBefore, type TrackPlayhead, walk } from './playhead.ts';
import { hasRules, MAX_TURNS, type RuledLoop, type Standing, startStanding, type Turn, takeTurns } from './rules.ts';
import { TICKS_PER_MS, ticksToMs } from './ticks.ts';

/** A list as it is played, with what is known of the lengths of its items. */
export interface Programme extends RuledLoop {
  /** Items whose length is an estimate, by index. */
  estimated: ReadonlySet<number>;
}

/** Where a programme stood at a known moment: a turn, and when that began, in milliseconds. */
export interface ProgrammeAnchor extends Pick<TrackPlayhead, 'round' | 'turn'> {
  atMs: number;
  /** The state of the rules; without it they begin then. */
  standing?: Standing | undefined;
}

/** An item's turn on air. The end of one is the start of the next. */
export interface PlannedTurn {
  round: number;
  turn: number;
  /** Index of the rule that placed it; null for an item of the list itself. */
  rule: number | null;
  /** Index of the item, in the list of the rule where it has one. */
  item: number;
  startMs: number;
  endMs: number;
}

/** Returns the anchor of a loop that began at its epoch. */
export const anchorAt = (epochMs: number): ProgrammeAnchor => ({ round: 0, turn: 0, atMs: epochMs });

/** Returns where the fold of an anchor begins, and the moment of its tick 0. */
export function enter(programme: Programme, anchor: ProgrammeAnchor): { standing: Standing; epochMs: number } {
  const standing = anchor.standing ?? startStanding(programme, anchor.atMs, anchor);
  return { standing, epochMs: anchor.atMs - ticksToMs(standing.ticks) };
}

/** Returns a turn of a fold with its times. */
export function planTurn({ round, turn, rule, item, startTicks, endTicks }: Turn, epochMs: number): PlannedTurn {
  return { round, turn, rule, item, startMs: epochMs + ticksToMs(startTicks), endMs: epochMs + ticksToMs(endTicks) };
}

/** Yields the turns from an anchor on, each with the state of the rules before it. Rules have no way to enter later. */
function* foldRules(
  programme: Programme,
  anchor: ProgrammeAnchor,
): Generator<{ planned: PlannedTurn; before: Standing }, void> {
  const { standing, epochMs } = enter(programme, anchor);
  let folded = 0;
  for (const turn of takeTurns(programme, standing, epochMs)) {
    if (++folded > MAX_TURNS) return;
    yield { planned: planTurn(turn, epochMs), before: turn.before };
  }
}

/** Yields the turns that end after `fromMs`, for ever, in their order. */
function* turnsFrom(programme: Programme, anchor: ProgrammeAnchor, fromMs: number): Generator<PlannedTurn, void> {
  if (hasRules(programme)) {
    for (const { planned } of foldRules(programme, anchor)) if (planned.endMs > fromMs) yield planned;
    return;
  }
  const anchorTicks = countTicksBefore(programme, anchor);
  const toMs = (ticks: number) => anchor.atMs + ticksToMs(ticks - anchorTicks);
  const first = computePlayhead(programme, anchorTicks + (fromMs - anchor.atMs) * TICKS_PER_MS);
  if (!first) return;
  for (const { round, turn, item, startTicks, endTicks } of walk(programme, first)) {
    const planned = { round, turn, rule: null, item, startMs: toMs(startTicks), endMs: toMs(endTicks) };
    // The turn before begins in this millisecond where half of one is rounded up.
    if (planned.endMs > fromMs) yield planned;
  }
}

/**
 * Returns an anchor from which the turn on air at a moment is near: `kept` turns before it, as far as the given one reaches back. The
 * turns from it on are those of the given one.
 */
export function moveAnchor(programme: Programme, anchor: ProgrammeAnchor, atMs: number, kept: number): ProgrammeAnchor {
  const passed: ProgrammeAnchor[] = [];
  for (const { planned, before } of foldRules(programme, anchor)) {
    const { round, turn } = before;
    if (passed.push({ round, turn, atMs: planned.startMs, standing: before }) > kept + 1) passed.shift();
    if (planned.endMs > atMs) break;
  }
  return passed[0] ?? anchor;
}

/**
 * Yields the turns that begin in [fromMs, toMs), in their order. Each begins in one part of a split, so the timelines of the parts,
 * one behind the other, are that of the whole. Before its first round a programme plays nothing.
 */
export function* timeline(
  programme: Programme,
  anchor: ProgrammeAnchor,
  fromMs: number,
  toMs: number,
): Generator<PlannedTurn, void> {
  for (const planned of turnsFrom(programme, anchor, fromMs)) {
    if (planned.startMs >= toMs) return;
    if (planned.startMs >= fromMs) yield planned;
  }
}

/** Returns the turn on air at a moment; undefined before the first round, and where nothing plays. */
export function findTurn(programme: Programme, anchor: ProgrammeAnchor, atMs: number): PlannedTurn | undefined {
  const { value } = turnsFrom(programme, anchor, atMs).next();
  return value && value.startMs <= atMs ? value : undefined;
}

/**
 * Returns the moment until which the timeline from an anchor is exact: the start of the first item whose length is an estimate.
 * Undefined where all of it is exact.
 */
export function findExactUntil(programme: Programme, anchor: ProgrammeAnchor): number | undefined {
  if (hasRules(programme)) return findRuledExactUntil(programme, anchor);
  const isEstimate = (item: number) => programme.estimated.has(item) && (programme.durations[item] ?? 0) > 0;
  if (!programme.durations.some((_, item) => isEstimate(item))) return undefined;
  const anchorTicks = countTicksBefore(programme, anchor);
  for (const { item, startTicks } of walk(programme, anchor))
    if (isEstimate(item)) return anchor.atMs + ticksToMs(startTicks - anchorTicks);
  return undefined;
}

function findRuledExactUntil(programme: Programme, anchor: ProgrammeAnchor): number | undefined {
  const { rules = [], estimated } = programme;
  if (estimated.size === 0 && !rules.some((rule) => rule.estimated?.size)) return undefined;
  for (const { planned } of foldRules(programme, anchor)) {
    const { rule, item, startMs } = planned;
    if ((rule === null ? estimated : rules[rule]?.estimated)?.has(item)) return startMs;
  }
  return undefined;
}

/** Returns the last turns that began before `beforeMs` and not before `sinceMs`, the latest first. */
export function listTurnsBefore(
  programme: Programme,
  anchor: ProgrammeAnchor,
  { sinceMs, beforeMs, count }: { sinceMs: number; beforeMs: number; count: number },
): PlannedTurn[] {
  if (hasRules(programme)) return [...timeline(programme, anchor, sinceMs, beforeMs)].slice(-count).reverse();
  const found: PlannedTurn[] = [];
  for (let at = beforeMs - 1; found.length < count && at >= sinceMs; ) {
    const planned = findTurn(programme, anchor, at);
    if (!planned || planned.startMs < sinceMs) break;
    found.push(planned);
    at = planned.startMs - 1;
  }
  return found;
}

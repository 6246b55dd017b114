/**
 * Finds what the fold decided of a rule at a moment. It folds to the turn on air, and follows the decisions from there until that of the
 * rule is made. It decides nothing itself. Pure: no I/O, no clock.
 */
import {
  EARLY_MS,
  findClose,
  type JudgedTurn,
  judgeTurns,
  MAX_TURNS,
  type Rule,
  type Standing,
  takeTurns,
} from './rules.ts';
import { enter, type PlannedTurn, type Programme, type ProgrammeAnchor, planTurn } from './timeline.ts';

/** A decision on a rule. */
export interface RuleDecision {
  /**
   * `played`: has a turn. `late`, `empty`: was due and left out. `taken`: another window has its time. `waiting`: is not due. `nothing`: no
   * item of the list can be played. `far`: the fold does not reach so far.
   */
  kind: 'played' | 'late' | 'empty' | 'taken' | 'waiting' | 'nothing' | 'far';
  /** Moment at which the rule was due, or its window opened. */
  dueMs?: number | undefined;
  /** Moment at which it was decided. */
  atMs?: number | undefined;
  /** The turn of the rule. */
  turn?: PlannedTurn | undefined;
  /** The turn on air meanwhile, or that has the time. */
  by?: PlannedTurn | undefined;
  /** The next moment at which it is due, where one is known. */
  nextMs?: number | undefined;
  /** Number of items of lists that are to play before it, of a rule that counts them. */
  itemsLeft?: number | undefined;
  /** Start of its last turn before. */
  lastMs?: number | undefined;
  /** The window that is open, or the next one. */
  window?: { startMs: number; endMs: number } | undefined;
}

/** Decisions that are followed behind the turn on air: a rule that is due is played or left out long before. */
const MAX_FOLLOWED = 5000;

interface Asked {
  programme: Programme;
  rule: number;
  atMs: number;
}

interface Followed extends Asked {
  /** Moment of tick 0. */
  epochMs: number;
  /** The turn before, which took time. */
  previous: PlannedTurn | undefined;
}

/** Reads the decision on the rule from one turn; undefined where a later one decides. */
function readTurn(turn: JudgedTurn, { programme, rule, atMs, epochMs, previous }: Followed): RuleDecision | undefined {
  const planned = planTurn(turn, epochMs);
  const isBefore = planned.startMs <= atMs;
  const isAsked = (dueMs: number) => isBefore || dueMs <= atMs + EARLY_MS;
  const judged = turn.judged.find((one) => one.rule === rule);
  const dropped = turn.dropped.find((one) => one.rule === rule);
  const isOwn = turn.rule === rule;
  const dueMs = isOwn ? (turn.before.next?.dueMs ?? planned.startMs) : judged?.dueMs;
  const common = { atMs: planned.startMs, by: previous };
  if (isOwn && dueMs !== undefined && isAsked(dueMs) && dropped?.reason !== 'empty') {
    // An item that cannot be played takes no time: the next one is its turn.
    return turn.endTicks > turn.startTicks ? { kind: 'played', dueMs, ...common, turn: planned } : undefined;
  }
  if (dropped)
    return isAsked(dropped.dueMs)
      ? { kind: dropped.reason, dueMs: dropped.dueMs, ...common }
      : { kind: 'waiting', nextMs: dropped.dueMs };
  if (isOwn) return { kind: 'waiting', nextMs: dueMs };
  if (!judged) return undefined;
  if (judged.state === 'waiting') {
    const { nextMs } = judged;
    if (isBefore && nextMs !== undefined && nextMs <= atMs + EARLY_MS) return undefined;
    return { kind: 'waiting', nextMs, itemsLeft: countItemsLeft(turn, programme, rule) };
  }
  if (dueMs !== undefined && !isAsked(dueMs)) return { kind: 'waiting', nextMs: dueMs };
  if (judged.state === 'empty') return { kind: 'empty', dueMs, ...common };
  const isTaken = isWindow(programme, rule) && turn.rule !== null && isWindow(programme, turn.rule);
  return isTaken ? { kind: 'taken', dueMs, ...common, by: planned } : undefined;
}

const isWindow = ({ rules = [] }: Programme, rule: number): boolean => rules[rule]?.windowMs !== undefined;

function countItemsLeft({ before }: JudgedTurn, { rules = [] }: Programme, rule: number): number | undefined {
  const each = rules[rule]?.eachItems;
  const own = before.rules[rule];
  return each === undefined || !own ? undefined : own.items + each - before.items;
}

function findWindow(rule: Rule | undefined, startMs: number | undefined): RuleDecision['window'] {
  if (rule?.windowMs === undefined || startMs === undefined) return undefined;
  return { startMs, endMs: findClose(rule, startMs) };
}

/** Follows the turns from a place of the fold on, until one decides on the rule. */
function follow(asked: Followed, from: Standing): RuleDecision {
  let { previous } = asked;
  let followed = 0;
  let decided: RuleDecision | undefined;
  for (const turn of judgeTurns(asked.programme, from, asked.epochMs)) {
    const decision = readTurn(turn, { ...asked, previous });
    if (decision?.kind === 'played') return decision;
    // Behind a turn that takes no time, the same border has another one.
    decided ??= decision;
    if (decided && turn.endTicks > turn.startTicks) return decided;
    if (++followed > MAX_FOLLOWED) break;
    if (turn.endTicks > turn.startTicks) previous = planTurn(turn, asked.epochMs);
  }
  return decided ?? { kind: 'waiting' };
}

/** Returns what the fold from an anchor decided of a rule at a moment, which is not before the anchor. */
export function judgeRule(programme: Programme, anchor: ProgrammeAnchor, rule: number, atMs: number): RuleDecision {
  const { standing, epochMs } = enter(programme, anchor);
  let from = standing;
  let folded = 0;
  let previous: PlannedTurn | undefined;
  let lastMs: number | undefined;
  for (const turn of takeTurns(programme, standing, epochMs)) {
    if (++folded > MAX_TURNS) return { kind: 'far' };
    const planned = planTurn(turn, epochMs);
    if (planned.endMs > atMs) {
      const decision = follow({ programme, rule, atMs, epochMs, previous }, from);
      const window = findWindow(programme.rules?.[rule], decision.dueMs ?? decision.nextMs);
      return { ...decision, lastMs, window };
    }
    if (turn.rule === rule) lastMs = planned.startMs;
    from = turn.after;
    previous = planned;
  }
  return { kind: 'nothing' };
}

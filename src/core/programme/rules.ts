/**
 * Plays a list by its rules: decides at each border what comes next, and how long that plays. A turn depends on where the list stands
 * (Standing) and on the time alone, so the guide and the streamer take the same ones. docs/programme.md describes the terms.
 * Pure: no I/O, no clock.
 */
import { advance, computePlayhead, countTicksBefore, type Loop, orderRound, type TrackPlayhead } from './playhead.ts';
import { msToTicks, ticksToMs } from './ticks.ts';

/** A rule with the items that it plays. */
export interface Rule {
  name: string;
  loop: Loop;
  everyMs?: number | undefined;
  eachItems?: number | undefined;
  /** Returns the first moment after one: of a rule with times, and of one with windows. */
  nextMs?: ((afterMs: number) => number | undefined) | undefined;
  /** Length of a window. */
  windowMs?: number | undefined;
  cuts: boolean;
  lateMs: number;
  after: 'Resume' | 'Next' | 'Restart';
  count: number;
  /** Items whose length is an estimate, by index. */
  estimated?: ReadonlySet<number>;
}

export interface RuledLoop extends Loop {
  rules?: readonly Rule[];
  /** A cut lands on a multiple of so many ticks of its item: keyframes. */
  gridTicks?: number;
}

/** A decision on the next item: one of a rule, or of the list itself (null). */
export interface RuleChoice {
  rule: number | null;
  /** Items of the rule that are still to play, this one among them. */
  left: number;
  /** Moment at which the rule was due. */
  dueMs?: number | undefined;
  /** Items of the rule that could not be played before this one. */
  tries?: number | undefined;
}

export interface RuleStanding extends TrackPlayhead {
  /** The rule has played by then, or its moments until then are over. */
  fromMs: number;
  /** Number of items of lists at its last turn. */
  items: number;
}

/** Where a list stands at a border: the next turn of the list itself, and what the rules have to know. */
export interface Standing extends TrackPlayhead {
  /** Ticks since the epoch. */
  ticks: number;
  /** Number of items of lists that have played. */
  items: number;
  /** By index of the rule. */
  rules: readonly RuleStanding[];
  /** Indexes of the rules that have played since the last item of a list: none plays twice without one. */
  played?: readonly number[] | undefined;
  /** The next item, where that is decided. */
  next?: RuleChoice | undefined;
}

export interface Dropped {
  rule: number;
  dueMs: number;
  reason: 'late' | 'empty';
}

/** The state of a rule at a border. The turn says which of those that are due has it. */
export interface JudgedRule {
  rule: number;
  /** `rested`: due, and it has played since the last item of a list. `empty`: a window without an item that can be played. */
  state: 'due' | 'rested' | 'empty' | 'waiting';
  /** Moment at which it was due, or its window opened. */
  dueMs?: number | undefined;
  /** The next moment at which it is due, of one that is not; undefined where none comes, and where it counts items. */
  nextMs?: number | undefined;
}

/** A turn: an item from `offsetTicks` on. Its place is that in its own list, which is the list of a rule where it has one. */
export interface Turn extends TrackPlayhead {
  /** With what was decided. */
  before: Standing;
  rule: number | null;
  /** Index of the item in its own list. */
  item: number;
  startTicks: number;
  /** The same as the start of an item that cannot be played. */
  endTicks: number;
  isCut: boolean;
  after: Standing;
  /** Rules that were due and are not played. */
  dropped: readonly Dropped[];
}

/** A turn with what was decided of each rule before it. Nothing is of a turn that was decided earlier. */
export interface JudgedTurn extends Turn {
  judged: readonly JudgedRule[];
}

/** Moments this close count as reached: borders are rounded, and often fall on a moment exactly. */
export const EARLY_MS = 100;
/** The longest delay by a cut that lands on the next keyframe. */
const CUT_MS = 5000;
const NONE: readonly RuleStanding[] = [];

/** A list that begins. */
export function startStanding({ rules = [] }: RuledLoop, atMs: number, from?: Partial<Standing>): Standing {
  const { round = 0, turn = 0, offsetTicks = 0, ticks = 0 } = from ?? {};
  const own = rules.map(() => ({ round: 0, turn: 0, offsetTicks: 0, fromMs: atMs, items: 0 }));
  return { round, turn, offsetTicks, ticks, items: 0, rules: own.length === 0 ? NONE : own };
}

const totals = new WeakMap<Loop, boolean>();

/** Whether a list has an item that can be played. */
function hasItems(loop: Loop): boolean {
  const known = totals.get(loop) ?? loop.durations.some((ticks) => ticks > 0);
  totals.set(loop, known);
  return known;
}

/** The delay with which a rule is still played. */
const allowedMs = ({ lateMs, cuts }: Rule): number => lateMs + (cuts ? CUT_MS : EARLY_MS);

interface Asked {
  loop: RuledLoop;
  standing: Standing;
  atMs: number;
  dropped: Dropped[];
  /** Takes what is decided of each rule, for who asks why. */
  judged?: JudgedRule[] | undefined;
}

/** Returns the moment at which a rule that plays between items is due; undefined where it is not. Notes what is too late. */
function findDue(rule: Rule, index: number, own: RuleStanding, { standing, atMs, dropped }: Asked) {
  let { fromMs } = own;
  const soonMs = atMs + EARLY_MS;
  const nextDue = () => (rule.everyMs === undefined ? rule.nextMs?.(fromMs) : fromMs + rule.everyMs);
  if (rule.eachItems !== undefined)
    return { fromMs, dueMs: standing.items - own.items >= rule.eachItems ? atMs : undefined, nextMs: undefined };
  let dueMs = nextDue();
  if (dueMs !== undefined && atMs - dueMs > allowedMs(rule)) {
    dropped.push({ rule: index, dueMs, reason: 'late' });
    const latestMs = atMs - allowedMs(rule);
    const missed = rule.everyMs === undefined ? 0 : Math.floor((latestMs - dueMs) / rule.everyMs);
    fromMs = rule.everyMs === undefined ? Math.max(dueMs, latestMs) : dueMs + missed * rule.everyMs;
    dueMs = nextDue();
  }
  return dueMs !== undefined && dueMs <= soonMs
    ? { fromMs, dueMs, nextMs: undefined }
    : { fromMs, dueMs: undefined, nextMs: dueMs };
}

/** Returns the start of the window that is open; undefined where none is. Notes one that was over before it could play. */
function findOpen(rule: Rule, index: number, own: RuleStanding, { atMs, dropped }: Asked) {
  const { windowMs = 0, nextMs } = rule;
  const soonMs = atMs + EARLY_MS;
  const missedMs = nextMs?.(own.fromMs);
  let { fromMs } = own;
  if (missedMs !== undefined && missedMs + windowMs <= soonMs) {
    dropped.push({ rule: index, dueMs: missedMs, reason: 'late' });
    fromMs = soonMs - windowMs;
  }
  const openMs = nextMs?.(soonMs - windowMs);
  return openMs !== undefined && openMs <= soonMs
    ? { fromMs, dueMs: openMs, nextMs: undefined }
    : { fromMs, dueMs: undefined, nextMs: openMs };
}

/** Decides what plays at a border. The first rule that is due has the turn; the first window that is open has the list. */
function choose(asked: Asked): { choice: RuleChoice; rules: readonly RuleStanding[] } {
  const { loop, standing, dropped, judged } = asked;
  let rules = standing.rules;
  let inserted: RuleChoice | undefined;
  let list: RuleChoice = { rule: null, left: 1 };
  const settle = (index: number, own: RuleStanding, fromMs: number) => {
    if (own.fromMs !== fromMs) rules = rules.with(index, { ...own, fromMs });
  };
  for (const [index, rule] of (loop.rules ?? []).entries()) {
    const own = rules[index];
    if (!own) continue;
    if (rule.windowMs !== undefined) {
      const { fromMs, dueMs, nextMs } = findOpen(rule, index, own, asked);
      settle(index, own, fromMs);
      const isEmpty = dueMs !== undefined && !hasItems(rule.loop);
      judged?.push({ rule: index, state: isEmpty ? 'empty' : dueMs === undefined ? 'waiting' : 'due', dueMs, nextMs });
      if (list.rule === null && dueMs !== undefined && !isEmpty) list = { rule: index, left: 1, dueMs };
      continue;
    }
    const { fromMs, dueMs, nextMs } = findDue(rule, index, own, asked);
    settle(index, own, fromMs);
    const isRested = dueMs !== undefined && standing.played?.includes(index) === true;
    judged?.push({ rule: index, state: isRested ? 'rested' : dueMs === undefined ? 'waiting' : 'due', dueMs, nextMs });
    if (inserted || dueMs === undefined || isRested) continue;
    if (rule.loop.durations.length > 0) inserted = { rule: index, left: rule.count, dueMs };
    else {
      dropped.push({ rule: index, dueMs, reason: 'empty' });
      rules = rules.with(index, { ...own, fromMs: Math.max(dueMs, fromMs), items: standing.items });
    }
  }
  return { choice: inserted ?? list, rules };
}

/** Returns the moment until which a window stays open; windows that overlap are one. */
export function findClose({ windowMs = 0, nextMs }: Rule, openMs: number): number {
  let endMs = openMs + windowMs;
  for (let merged = 0, at = openMs; merged < 1000; merged++) {
    const next = nextMs?.(at);
    if (next === undefined || next > endMs) break;
    at = next;
    endMs = next + windowMs;
  }
  return endMs;
}

interface Cut {
  /** Ticks of the item at which it ends. */
  atTicks: number;
  after: Rule['after'];
}

/** Returns the first cut of an item of a list that begins now; undefined where it plays to its end. */
function findCut(
  { loop, standing, atMs }: Asked,
  choice: RuleChoice,
  offsetTicks: number,
  ticks: number,
): Cut | undefined {
  const { rules = [], gridTicks = 1 } = loop;
  let first: Cut | undefined;
  const land = (cutMs: number): number => {
    const wanted = offsetTicks + Math.max(0, msToTicks(cutMs - atMs));
    const least = Math.floor(offsetTicks / gridTicks + 1) * gridTicks;
    return Math.max(least, Math.ceil(wanted / gridTicks) * gridTicks);
  };
  const offer = (cutMs: number | undefined, rule: Rule, after = rule.after) => {
    if (cutMs === undefined) return;
    const atTicks = land(cutMs);
    const isTooLate = rule.windowMs === undefined && atMs + ticksToMs(atTicks - offsetTicks) - cutMs > allowedMs(rule);
    if (atTicks < ticks && !isTooLate && atTicks < (first?.atTicks ?? Number.POSITIVE_INFINITY))
      first = { atTicks, after };
  };
  for (const [index, rule] of rules.entries()) {
    const own = standing.rules[index];
    if (!rule.cuts || !own || !hasItems(rule.loop)) continue;
    if (rule.everyMs !== undefined) offer(own.fromMs + rule.everyMs, rule);
    else if (rule.windowMs === undefined) offer(rule.nextMs?.(own.fromMs), rule);
    else if (choice.rule === index) offer(findClose(rule, choice.dueMs ?? atMs), rule, 'Next');
    else if (choice.rule === null || index < choice.rule) offer(rule.nextMs?.(atMs + EARLY_MS), rule);
  }
  return first;
}

const orders = new WeakMap<Loop, { round: number; order: readonly number[] }>();

/** Returns the order of a round, and keeps that of the newest: each turn needs it. */
function findOrder(loop: Loop, round: number): readonly number[] {
  const known = orders.get(loop);
  if (known?.round === round) return known.order;
  const order = orderRound(loop, round);
  orders.set(loop, { round, order });
  return order;
}

const findIndex = (loop: Loop, { round, turn }: TrackPlayhead): number => findOrder(loop, round)[turn] ?? 0;

/** Where a list goes on behind its item, or in it. */
function goOn(loop: Loop, at: TrackPlayhead, cut: Cut | undefined): TrackPlayhead {
  if (!cut || cut.after === 'Next') return advance(loop, at);
  return { round: at.round, turn: at.turn, offsetTicks: cut.after === 'Resume' ? cut.atTicks : 0 };
}

/** Takes an item of the list itself, or of a window. */
function takeListItem(asked: Asked, choice: RuleChoice, isWhole: boolean): Turn {
  const { loop, standing: before, dropped } = asked;
  const own = choice.rule === null ? undefined : before.rules[choice.rule];
  const list = choice.rule === null ? loop : (loop.rules?.[choice.rule]?.loop ?? loop);
  const { round, turn, offsetTicks: wanted } = own ?? before;
  const item = findIndex(list, { round, turn, offsetTicks: 0 });
  const ticks = list.durations[item] ?? 0;
  // An edit may have made it shorter.
  const offsetTicks = wanted < ticks ? wanted : 0;
  const cut = isWhole || ticks === 0 ? undefined : findCut(asked, choice, offsetTicks, ticks);
  const endTicks = before.ticks + (cut?.atTicks ?? ticks) - offsetTicks;
  const at = goOn(list, { round, turn, offsetTicks }, cut);
  const isOver = ticks > 0 && !(cut && cut.after !== 'Next');
  const after: Standing = {
    ...before,
    ticks: endTicks,
    items: before.items + (isOver ? 1 : 0),
    ...(ticks > 0 && { played: undefined }),
    ...(own
      ? { rules: before.rules.with(choice.rule ?? 0, { ...own, ...at, fromMs: choice.dueMs ?? own.fromMs }) }
      : at),
    next: undefined,
  };
  const place = { round, turn, offsetTicks, item, startTicks: before.ticks, endTicks };
  return { ...place, before, rule: choice.rule, isCut: cut !== undefined, after, dropped };
}

/** Takes an item of a rule that plays between items. It is never cut. */
function takeInserted(asked: Asked, choice: RuleChoice & { rule: number }, rule: Rule, own: RuleStanding): Turn {
  const { standing: before, atMs, dropped } = asked;
  const { round, turn } = own;
  const item = findIndex(rule.loop, own);
  const ticks = rule.loop.durations[item] ?? 0;
  const { left, dueMs = atMs } = choice;
  const tries = (choice.tries ?? 0) + 1;
  const isGivenUp = ticks === 0 && tries >= rule.loop.durations.length;
  if (isGivenUp) dropped.push({ rule: choice.rule, dueMs, reason: 'empty' });
  const then = ticks > 0 ? { rule: choice.rule, left: left - 1, dueMs } : { rule: choice.rule, left, dueMs, tries };
  const endTicks = before.ticks + ticks;
  const fromMs = rule.everyMs === undefined ? dueMs : atMs;
  const played = { ...own, ...advance(rule.loop, own), fromMs, items: before.items };
  const after: Standing = {
    ...before,
    ticks: endTicks,
    rules: before.rules.with(choice.rule, played),
    played: before.played?.includes(choice.rule) ? before.played : [...(before.played ?? []), choice.rule],
    next: then.left > 0 && !isGivenUp ? then : undefined,
  };
  const place = { round, turn, offsetTicks: 0, item, startTicks: before.ticks, endTicks };
  return { ...place, before, rule: choice.rule, isCut: false, after, dropped };
}

/**
 * Takes the turn that begins where a list stands. `epochMs` is the moment of tick 0. The turn of an item that cannot be played takes no time.
 * `isWhole`: nothing cuts it.
 */
export const takeTurn = (loop: RuledLoop, standing: Standing, epochMs: number, isWhole = false): Turn =>
  decideTurn(loop, standing, epochMs, isWhole);

function decideTurn(
  loop: RuledLoop,
  standing: Standing,
  epochMs: number,
  isWhole: boolean,
  judged?: JudgedRule[],
): Turn {
  const atMs = epochMs + ticksToMs(standing.ticks);
  const dropped: Dropped[] = [];
  const decided = standing.next
    ? { choice: standing.next, rules: standing.rules }
    : choose({ loop, standing, atMs, dropped, judged });
  const { choice, rules } = decided;
  const asked = { loop, standing: { ...standing, rules, next: choice }, atMs, dropped };
  const rule = choice.rule === null ? undefined : loop.rules?.[choice.rule];
  const own = choice.rule === null ? undefined : rules[choice.rule];
  if (choice.rule === null || !rule || !own || rule.windowMs !== undefined) return takeListItem(asked, choice, isWhole);
  return takeInserted(asked, { ...choice, rule: choice.rule }, rule, own);
}

/** Takes one turn after the other, those that take no time too. Ends where nothing plays. */
function* takeAll<T extends Turn>(loop: RuledLoop, standing: Standing, take: (at: Standing) => T): Generator<T, void> {
  const items =
    loop.durations.length + (loop.rules ?? []).reduce((sum, rule) => sum + rule.loop.durations.length + 1, 0);
  for (let at = standing, empty = 0; empty <= items; ) {
    const turn = take(at);
    empty = turn.endTicks > turn.startTicks ? 0 : empty + 1;
    yield turn;
    at = turn.after;
  }
}

/** Yields the turns of a list with their times, for ever, without those that take no time. Ends where nothing plays. */
export function* takeTurns(loop: RuledLoop, standing: Standing, epochMs: number): Generator<Turn, void> {
  for (const turn of takeAll(loop, standing, (at) => takeTurn(loop, at, epochMs)))
    if (turn.endTicks > turn.startTicks) yield turn;
}

/** Yields the same turns, those that take no time too, each with what was decided of each rule. */
export const judgeTurns = (loop: RuledLoop, standing: Standing, epochMs: number): Generator<JudgedTurn, void> =>
  takeAll(loop, standing, (at) => {
    const judged: JudgedRule[] = [];
    return { ...decideTurn(loop, at, epochMs, false, judged), judged };
  });

/** Whether a list has rules. Where it stands at a moment has no closed form then. */
export const hasRules = ({ rules = [] }: RuledLoop): boolean => rules.length > 0;

/** A fold of rules ends here: a week of items of 4 seconds, and half a second of a processor. */
export const MAX_TURNS = 150_000;

/** Returns the turn on air at a moment, and how much of it has played; undefined where nothing plays. */
export function joinTurn(
  loop: RuledLoop,
  standing: Standing,
  epochMs: number,
  atMs: number,
): { turn: Turn; joinTicks: number } | undefined {
  const elapsed = msToTicks(atMs - epochMs);
  if (!hasRules(loop)) {
    const playhead = computePlayhead(loop, elapsed);
    if (!playhead) return undefined;
    const { round, turn, offsetTicks: joinTicks } = playhead;
    const begun = startStanding(loop, epochMs, { round, turn, ticks: countTicksBefore(loop, playhead) });
    return { turn: takeTurn(loop, begun, epochMs), joinTicks };
  }
  let folded = 0;
  for (const turn of takeTurns(loop, standing, epochMs)) {
    if (epochMs + ticksToMs(turn.endTicks) > atMs) return { turn, joinTicks: Math.max(0, elapsed - turn.startTicks) };
    if (++folded >= MAX_TURNS) return { turn: takeTurn(loop, { ...turn.after, ticks: 0 }, atMs), joinTicks: 0 };
  }
  return undefined;
}

/** The same turn, with its ticks counted from itself on. */
export function rebaseTurn(turn: Turn): Turn {
  const { before, after, startTicks, endTicks } = turn;
  const shift = (standing: Standing): Standing => ({ ...standing, ticks: standing.ticks - startTicks });
  return { ...turn, before: shift(before), after: shift(after), startTicks: 0, endTicks: endTicks - startTicks };
}

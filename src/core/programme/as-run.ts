/**
 * Computes what was on air from the facts of a stream (resources/stream/facts.ts): the fold of each list from one move to the next, and of its
 * turns the part in which a destination took media. docs/programme.md describes the terms. Pure: no I/O, no clock.
 */
import type { Fact } from '../resources/stream/facts.ts';
import type { Place } from '../resources/stream/item-place.ts';
import type { ProgramItem } from '../resources/stream/playing.ts';
import type { PlayedList } from './identity.ts';
import { anchorByPlace, anchorByRules, buildProgramme, type ItemLength } from './on-air.ts';
import { findTurnItem } from './plan.ts';
import { advance, findItem } from './playhead.ts';
import { hasRules, takeTurn } from './rules.ts';
import { ticksToMs } from './ticks.ts';
import { findTurn, type PlannedTurn, type Programme, type ProgrammeAnchor, timeline } from './timeline.ts';

/** From one move of a list to the next. */
export interface Stretch {
  startMs: number;
  /** Infinity for the last one. */
  endMs: number;
  fact: Fact;
  /** Undefined where nobody has recorded it. */
  list: PlayedList | undefined;
  /** False where facts are missing behind this one: nobody knows when it ended. */
  isComplete: boolean;
}

/** An item's turn, and how much of it was on air. */
export interface AiredItem {
  startMs: number;
  endMs: number;
  airedMs: number;
  item: ProgramItem;
  place: Place;
  /** Name of the rule that placed it; null for an item of the list itself. */
  rule: string | null;
  /** It was not on air from its begin to its end. */
  isCut: boolean;
  /** False where its length is an estimate, or facts are missing. */
  isExact: boolean;
}

export interface AirSpan {
  startMs: number;
  endMs: number;
}

/** Returns the length of an item as it is known by now. */
export type FindLength = (item: ProgramItem) => ItemLength | undefined;

/** Borders are rounded, and a pod that takes over rounds them anew: what is shorter is no turn. */
const ROUNDING_MS = 20;
/** A time on air has whole seconds in places, and begins with a keyframe. */
const CUT_MS = 100;
/** A list that is so much off its time moves. */
const DRIFT_MS = 1500;

/**
 * Lists the stretches of one list, by facts in the order of their numbers. A fact that begins before an earlier one holds in the place of that: it
 * knew less of what was to come.
 */
export function listStretches(
  facts: readonly Fact[],
  track: Fact['track'],
  findList: (hash: string) => PlayedList | undefined,
): Stretch[] {
  const stretches: Stretch[] = [];
  let endMs = Number.POSITIVE_INFINITY;
  let nextNumber: number | undefined;
  let isComplete = true;
  for (const fact of facts.toReversed()) {
    isComplete &&= nextNumber === undefined || nextNumber === fact.number + 1;
    nextNumber = fact.number;
    if (fact.track !== track) continue;
    const startMs = Date.parse(fact.from);
    if (startMs < endMs) stretches.push({ startMs, endMs, fact, list: findList(fact.programme), isComplete });
    endMs = Math.min(endMs, startMs);
    isComplete = true;
  }
  return stretches.reverse();
}

/** A turn with the programme that it is of. */
interface PlayedTurn {
  planned: PlannedTurn;
  programme: Programme;
}

const findAnchor = (programme: Programme, { startedAt, standing, ...place }: Fact): ProgrammeAnchor | undefined =>
  hasRules(programme)
    ? anchorByRules(programme, standing, Date.parse(startedAt))
    : anchorByPlace(programme, place, Date.parse(startedAt));

/** Takes the first turn of a fact, and where the list stands behind it. */
function takeFirst(programme: Programme, anchor: ProgrammeAnchor): { planned: PlannedTurn; next: ProgrammeAnchor } {
  const { round, turn, atMs, standing } = anchor;
  if (!standing) {
    const item = findItem(programme, anchor) ?? 0;
    const endMs = atMs + ticksToMs(programme.durations[item] ?? 0);
    const next = { ...advance(programme, anchor), atMs: endMs };
    return { planned: { round, turn, rule: null, item, startMs: atMs, endMs }, next };
  }
  const { rule, item, endTicks, after } = takeTurn(programme, standing, atMs);
  const endMs = atMs + ticksToMs(endTicks);
  const next = { round: after.round, turn: after.turn, atMs: endMs, standing: after };
  return { planned: { round, turn, rule, item, startMs: atMs, endMs }, next };
}

/** Yields the turns of a stretch that play in [fromMs, toMs), in their order. */
function* listTurns({ fact, list }: Stretch, span: AirSpan, findLength: FindLength): Generator<PlayedTurn> {
  if (!list) return;
  const build = (broken: readonly number[]) =>
    buildProgramme(list.track, {
      kind: fact.track,
      seed: list.seed,
      isBroken: (_item, place) => broken.includes(place),
      findLength,
    });
  const programme = build(fact.broken ?? []);
  let anchor = findAnchor(programme, fact);
  if (!anchor) return;
  const untilMs = span.endMs;
  // The item that plays when another one, or itself at its next turn, turns out to be broken plays on. A pod that joins has no such item.
  const first = takeFirst(programme, anchor).planned;
  if (first.endMs === first.startMs && fact.broken && fact.move !== 'Start') {
    const whole = build([]);
    const { planned, next } = takeFirst(whole, anchor);
    if (planned.startMs < untilMs && planned.endMs > span.startMs) yield { planned, programme: whole };
    anchor = next;
  }
  const beginMs = Math.max(span.startMs, anchor.atMs);
  if (beginMs >= untilMs) return;
  const playing = findTurn(programme, anchor, beginMs);
  if (playing && playing.startMs < beginMs) yield { planned: playing, programme };
  for (const planned of timeline(programme, anchor, beginMs, untilMs)) yield { planned, programme };
}

/** Says how much of a turn was on air; undefined where nothing was. */
function measureAir(
  { startMs, endMs }: AirSpan,
  onAir: readonly AirSpan[],
): { startMs: number; endMs: number; airedMs: number } | undefined {
  let found: { startMs: number; endMs: number; airedMs: number } | undefined;
  for (const span of onAir) {
    if (span.startMs >= endMs) break;
    const [begin, end] = [Math.max(startMs, span.startMs), Math.min(endMs, span.endMs)];
    if (begin >= end) continue;
    found = { startMs: found?.startMs ?? begin, endMs: end, airedMs: (found?.airedMs ?? 0) + end - begin };
  }
  return found;
}

function showTurn({ planned, programme }: PlayedTurn, { list, isComplete }: Stretch) {
  if (!list) return undefined;
  const { rule: ruleIndex, item: index } = planned;
  const { item, ...placed } = findTurnItem(list.track, planned);
  if (!item) return undefined;
  const rule = ruleIndex === null ? undefined : programme.rules?.[ruleIndex];
  const { estimated } = rule ?? programme;
  const isExact = isComplete && !estimated?.has(index);
  const wholeMs = ticksToMs((rule?.loop ?? programme).durations[index] ?? 0);
  return { item, ...placed, isExact, wholeMs };
}

/** A turn as it was played: with how late its pod was, and until the list moved. */
interface AirTurn extends PlayedTurn, AirSpan {
  stretch: Stretch;
  /** The next move came before its end. */
  isEnded: boolean;
}

function* listStretchTurns(stretch: Stretch, span: AirSpan, findLength: FindLength): Generator<AirTurn> {
  const { lagMs = 0 } = stretch.fact;
  const planned = {
    startMs: Math.max(span.startMs, stretch.startMs) - lagMs,
    endMs: Math.min(span.endMs, stretch.endMs) - lagMs,
  };
  for (const turn of listTurns(stretch, planned, findLength)) {
    const [begin, end] = [turn.planned.startMs + lagMs, turn.planned.endMs + lagMs];
    const [startMs, endMs] = [Math.max(begin, stretch.startMs), Math.min(end, stretch.endMs)];
    if (endMs - startMs > ROUNDING_MS) yield { ...turn, stretch, startMs, endMs, isEnded: end > endMs };
  }
}

/** Moves at a border of the list: the item before ends by itself. */
const AT_BORDER: readonly Fact['move'][] = ['Edit', 'Renewal'];

/** Whether a turn that the next move ends never began: the item before it was still on air, since a pod is not on its time to the frame. */
const isNotBegun = ({ isEnded, startMs, endMs, stretch }: AirTurn, next: AirTurn): boolean =>
  isEnded && endMs - startMs < DRIFT_MS && startMs > stretch.startMs && AT_BORDER.includes(next.stretch.fact.move);

/** Whether a pod goes on with the turn that another one has begun. */
function isSameTurn(before: AirTurn, { planned, stretch }: AirTurn): boolean {
  const { fact } = before.stretch;
  if (stretch.fact.move !== 'Start' || fact.programme !== stretch.fact.programme) return false;
  const { round, turn, rule, startMs } = before.planned;
  const isSame = planned.round === round && planned.turn === turn && planned.rule === rule;
  return isSame && Math.abs(planned.startMs - startMs) <= ROUNDING_MS;
}

/** Yields the turns of all stretches, each once. */
function* listPlayed(stretches: readonly Stretch[], span: AirSpan, findLength: FindLength): Generator<AirTurn> {
  let before: AirTurn | undefined;
  let last: AirTurn | undefined;
  for (const stretch of stretches) {
    if (stretch.endMs <= span.startMs || stretch.startMs >= span.endMs) continue;
    for (const turn of listStretchTurns(stretch, span, findLength)) {
      if (last && last.stretch !== stretch) {
        if (isNotBegun(last, turn)) {
          if (before?.endMs === last.startMs) before.endMs = turn.startMs;
          last = undefined;
        } else if (isSameTurn(last, turn)) {
          Object.assign(last, { endMs: turn.endMs, isEnded: turn.isEnded, stretch });
          continue;
        }
      }
      if (before) yield before;
      before = last;
      last = turn;
    }
  }
  if (before) yield before;
  if (last) yield last;
}

/**
 * Yields the items that were on air in [startMs, endMs) of a span, in their order: those that began in it, and the one that played at its begin.
 * `onAir` are the times in which a destination took media, in their order, the last of which may end now.
 */
export function* listAired(
  stretches: readonly Stretch[],
  span: AirSpan,
  { onAir, nowMs, findLength }: { onAir: readonly AirSpan[]; nowMs: number; findLength: FindLength },
): Generator<AiredItem, void> {
  const folded = { startMs: span.startMs - DRIFT_MS, endMs: span.endMs + DRIFT_MS };
  for (const turn of listPlayed(stretches, folded, findLength)) {
    const shown = turn.startMs < span.endMs ? showTurn(turn, turn.stretch) : undefined;
    const aired = shown && measureAir(turn, onAir);
    if (!aired || aired.endMs <= span.startMs || aired.startMs >= span.endMs) continue;
    const { wholeMs, ...item } = shown;
    const { endMs } = turn;
    const isPlaying = endMs > nowMs && aired.endMs >= nowMs;
    const missedMs = wholeMs - aired.airedMs - (isPlaying ? endMs - nowMs : 0);
    yield { ...item, ...aired, isCut: missedMs > CUT_MS };
  }
}

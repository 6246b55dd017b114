/**
 * Explains why a rule or an item of a stream plays at a time, or does not: the decision of the fold (judge.ts), with what the program and
 * its uploads say of it. Pure: no I/O, no clock.
 */
import { EXPLANATIONS, type ExplanationCode, findExplanationFix } from '../lib/codes/explanations.ts';
import { isLeftOut } from '../resources/stream/item-place.ts';
import type { ProgramItem, Track } from '../resources/stream/playing.ts';
import type { Upload } from '../resources/upload/resource.ts';
import {
  describeDecision,
  describeMoved,
  describeTaken,
  formatMoment,
  listRules,
  type NamedDecision,
} from './explain-words.ts';
import { judgeRule, type RuleDecision } from './judge.ts';
import { findMovedMoment } from './moments.ts';
import type { OnAirList } from './on-air.ts';
import { findItemAt, type PlannedItem, showPlanned } from './plan.ts';
import { type PlannedTurn, timeline } from './timeline.ts';

/** A rule by its name, or an upload. */
export type ExplainAsked = { rule: string } | { upload: string };

export interface TurnExplanation {
  code: ExplanationCode;
  /** The cause and the fix. */
  message: string;
  /** RFC 3339: when the rule was due, or its window opened. */
  dueAt: string | null;
  /** Its turn at this time. */
  turn: PlannedItem | null;
  /** The item on air until the decision, or that has the time. */
  by: PlannedItem | null;
  /** Start of its last turn before. */
  lastAt: string | null;
  /** When the rule is due next, or the item plays. */
  nextAt: string | null;
  /** The window of the rule that is open, or the next one. */
  window: { startAt: string; endAt: string } | null;
}

export interface ExplainContext {
  findUpload: (name: string) => Pick<Upload, 'spec' | 'status'> | undefined;
}

const DAY_MS = 86_400_000;
/** The next turn of an item is looked for within this time. */
const AHEAD_MS = 14 * DAY_MS;

const toTime = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** Joins what is known of a decision. The message is the cause, and the fix of the code unless another one is given. */
export function buildExplanation(
  code: ExplanationCode,
  cause: string,
  more: Partial<TurnExplanation> & { fix?: string } = {},
): TurnExplanation {
  const { fix = findExplanationFix(code), ...known } = more;
  const nothing = { dueAt: null, turn: null, by: null, lastAt: null, nextAt: null, window: null };
  return { code, message: code === 'played' ? cause : `${cause} ${fix}`, ...nothing, ...known };
}

const CODES: Readonly<Record<Exclude<RuleDecision['kind'], 'waiting'>, ExplanationCode>> = {
  played: 'played',
  late: 'rule_late',
  empty: 'rule_empty',
  taken: 'other_rule',
  nothing: 'nothing_plays',
  far: 'not_known',
};

type Moved = ReturnType<typeof findMovedMoment>;

function findMoved({ when }: NonNullable<Track['rules']>[number], atMs: number): Moved {
  const recurrence = when.window ?? when.at;
  try {
    return recurrence && findMovedMoment(recurrence, atMs);
  } catch {
    return undefined;
  }
}

function findCode({ kind, nextMs }: RuleDecision, { when }: NonNullable<Track['rules']>[number]): ExplanationCode {
  if (kind !== 'waiting') return CODES[kind];
  if (nextMs === undefined && (when.at ?? when.window)) return 'never_due';
  return when.window ? 'outside_window' : 'not_due';
}

function explainRule(list: OnAirList, index: number, atMs: number, { findUpload }: ExplainContext): TurnExplanation {
  const { track, programme, anchor } = list;
  const rule = track.rules?.[index];
  if (!rule) return explainUnknown(list, '');
  const decision = judgeRule(programme, anchor, index, atMs);
  const { kind, dueMs, nextMs, lastMs, window, turn, by } = decision;
  const known = {
    ...{ dueAt: toTime(dueMs), lastAt: toTime(lastMs), nextAt: toTime(nextMs) },
    turn: turn ? showPlanned(list, turn) : null,
    by: by && kind !== 'waiting' ? showPlanned(list, by) : null,
    window: window ? { startAt: toTime(window.startMs) ?? '', endAt: toTime(window.endMs) ?? '' } : null,
  };
  const moved = kind === 'waiting' ? findMoved(rule, atMs) : undefined;
  if (moved) return buildExplanation('clock_change', describeMoved(rule, moved), known);
  const code = findCode(decision, rule);
  const problem = kind === 'empty' ? findProblem(rule.items, findUpload) : undefined;
  if (problem) return buildExplanation(problem.code, problem.cause, known);
  const named: NamedDecision = { ...decision, code, rule, askedMs: atMs, turnItem: known.turn, byItem: known.by };
  const { cause, fix } = describeDecision(named);
  return buildExplanation(code, cause, { ...known, ...(fix !== undefined && { fix }) });
}

function explainUnknown({ track }: OnAirList, name: string): TurnExplanation {
  return buildExplanation('not_listed', `The version on air has no rule "${name}". ${listRules(track.rules ?? [])}`);
}

/** Why none of some items can be played; undefined where there are none, or one can. */
function findProblem(
  items: readonly ProgramItem[],
  findUpload: ExplainContext['findUpload'],
): { code: ExplanationCode; cause: string } | undefined {
  const [first] = items;
  if (!first) return undefined;
  const { spec, status } = findUpload(first.id) ?? {};
  const called = `"${first.name || first.id}"`;
  if (spec?.quarantine)
    return { code: 'upload_quarantined', cause: `${called} is in quarantine: ${spec.quarantine.reason}` };
  if (!spec) return { code: 'upload_not_found', cause: `The upload of ${called} does not exist.` };
  const isReady = status?.renditions?.some(({ key, state }) => state === 'ready' && key === first.rendition);
  const isStalled = status?.conditions?.some(({ type, status: is }) => type === 'Stalled' && is === 'True');
  if (isStalled || (isReady && !isLeftOut(first)))
    return { code: 'media_failed', cause: `${called} could not be played at its last turn, so it takes no time.` };
  return { code: 'media_preparing', cause: `${called} is not prepared yet, so its turn takes no time.` };
}

interface Occurrences {
  /** Indexes in the list, and of the rules that list the upload. */
  own: number[];
  rules: number[];
  items: ProgramItem[];
}

function findOccurrences({ items, rules = [] }: Track, upload: string): Occurrences {
  const indexes = (list: readonly ProgramItem[]) => list.flatMap(({ id }, index) => (id === upload ? index : []));
  const listed = [...items, ...rules.flatMap((rule) => rule.items)].filter(({ id }) => id === upload);
  const naming = rules.flatMap((rule, index) => (indexes(rule.items).length > 0 ? index : []));
  return { own: indexes(items), rules: naming, items: listed };
}

/** Finds the turns of an upload around a moment: the last one within a day before it, and the next one. */
function findTurns(list: OnAirList, isOwn: (turn: PlannedTurn) => boolean, atMs: number) {
  const { programme, anchor, sinceMs, untilMs } = list;
  const toMs = Math.min(atMs + AHEAD_MS, untilMs ?? Number.POSITIVE_INFINITY);
  let lastMs: number | undefined;
  for (const turn of timeline(programme, anchor, Math.max(sinceMs, atMs - DAY_MS), toMs)) {
    if (!isOwn(turn)) continue;
    if (turn.startMs > atMs) return { lastMs, nextMs: turn.startMs };
    lastMs = turn.startMs;
  }
  return { lastMs, nextMs: undefined };
}

/** Whether a duration of some place of an upload is above 0. */
function isPlayable({ programme }: OnAirList, { own, rules }: Occurrences, track: Track, upload: string): boolean {
  const { durations, rules: compiled = [] } = programme;
  if (own.some((index) => (durations[index] ?? 0) > 0)) return true;
  return rules.some((index) =>
    (track.rules?.[index]?.items ?? []).some(
      ({ id }, item) => id === upload && (compiled[index]?.loop.durations[item] ?? 0) > 0,
    ),
  );
}

function explainUpload(list: OnAirList, upload: string, atMs: number, context: ExplainContext): TurnExplanation {
  const { track } = list;
  const found = findOccurrences(track, upload);
  const [item] = found.items;
  if (!item) return buildExplanation('not_listed', `The version on air does not list the upload.`);
  const called = `"${item.name || item.id}"`;
  const isOwn = (turn: PlannedTurn) =>
    (turn.rule === null ? track : track.rules?.[turn.rule])?.items[turn.item]?.id === upload;
  const current = findItemAt(list, atMs);
  const { lastMs, nextMs } = findTurns(list, isOwn, atMs);
  const known = { lastAt: toTime(lastMs), nextAt: toTime(nextMs) };
  if (current && isOwn(current)) {
    const turn = showPlanned(list, current);
    return buildExplanation('played', `${called} plays from ${formatMoment(current.startMs)} on.`, { ...known, turn });
  }
  if (!isPlayable(list, found, track, upload)) {
    const problem = findProblem(found.items, context.findUpload);
    if (problem) return buildExplanation(problem.code, problem.cause, known);
  }
  if (!current) return buildExplanation('nothing_plays', EXPLANATIONS.nothing_plays.meaning, known);
  const [placing] = found.rules;
  if (found.own.length === 0 && placing !== undefined) {
    const decided = explainRule(list, placing, atMs, context);
    if (decided.code !== 'played') return { ...decided, ...known };
  }
  const by = showPlanned(list, current);
  const code = found.own.length > 0 && by.rule !== null ? 'other_rule' : 'not_its_turn';
  return buildExplanation(code, describeTaken(called, by, nextMs), { ...known, by });
}

/** Whether the version on air has the rule, or lists the upload. */
export const isListed = ({ track }: OnAirList, asked: ExplainAsked): boolean =>
  'upload' in asked
    ? findOccurrences(track, asked.upload).items.length > 0
    : (track.rules ?? []).some(({ name }) => name === asked.rule);

/** Explains a moment at which the list is on air and known: `sinceMs` ≤ `atMs` < `untilMs`. */
export function explain(list: OnAirList, asked: ExplainAsked, atMs: number, context: ExplainContext): TurnExplanation {
  if ('upload' in asked) return explainUpload(list, asked.upload, atMs, context);
  const index = list.track.rules?.findIndex(({ name }) => name === asked.rule) ?? -1;
  return index < 0 ? explainUnknown(list, asked.rule) : explainRule(list, index, atMs, context);
}

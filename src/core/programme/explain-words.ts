/** Puts the decisions on a rule into sentences: the cause, and the fix where it has numbers. Pure: no I/O, no clock. */
import { EXPLANATIONS, type ExplanationCode } from '../lib/codes/explanations.ts';
import type { PlayedRule } from '../resources/stream/playing.ts';
import type { RuleDecision } from './judge.ts';
import type { MovedMoment } from './moments.ts';
import type { PlannedItem } from './plan.ts';

export interface NamedDecision extends RuleDecision {
  code: ExplanationCode;
  rule: PlayedRule;
  /** The moment to explain. */
  askedMs: number;
  turnItem: PlannedItem | null;
  byItem: PlannedItem | null;
}

/** To the second. */
export const formatMoment = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const formatSeconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
const callItem = ({ name, rule }: PlannedItem): string =>
  rule === null ? `"${name}"` : `"${name}" of the rule "${rule}"`;

export const listRules = (rules: readonly Pick<PlayedRule, 'name'>[]): string =>
  rules.length === 0
    ? 'It has no rules.'
    : `It has ${rules
        .slice(0, 10)
        .map(({ name }) => `"${name}"`)
        .join(', ')}${rules.length > 10 ? ' and others' : ''}.`;

function describePlayed({ rule, dueMs, turn, turnItem, byItem }: NamedDecision): string {
  const startMs = turn?.startMs ?? 0;
  const plays = `The rule "${rule.name}" plays "${turnItem?.name ?? ''}" from ${formatMoment(startMs)} on`;
  const delayMs = startMs - (dueMs ?? startMs);
  if (rule.when.window || delayMs < 500 || !byItem) return `${plays}.`;
  return `${plays}: it was due at ${formatMoment(dueMs ?? 0)}, and waited ${formatSeconds(delayMs)} for the end of ${callItem(byItem)}.`;
}

function describeLate({ rule, dueMs = 0, atMs = 0, byItem }: NamedDecision): { cause: string; fix: string } {
  const lateMs = atMs - dueMs;
  const by = byItem ? `${callItem(byItem)} played until ${formatMoment(atMs)}` : 'What was on air did not end in time';
  if (rule.when.window)
    return {
      cause: `The window of the rule "${rule.name}" opened at ${formatMoment(dueMs)} and was over before it could play: ${by}.`,
      fix: 'Give the rule a longer window, or set its `start` to `Cut`.',
    };
  const raise = `Raise \`lateSeconds\` of the rule to at least ${Math.ceil(lateMs / 1000)}`;
  // Items that a rule plays between others are never cut.
  const isCut = rule.start === 'Cut' || (byItem !== null && byItem.rule !== null);
  return {
    cause: `The rule "${rule.name}" was due at ${formatMoment(dueMs)} and was left out: ${by}, and the rule may be ${rule.lateSeconds} s late at most.`,
    fix: isCut ? `${raise}.` : `${raise}, or set its \`start\` to \`Cut\`.`,
  };
}

function describeWaiting({ code, rule, askedMs, lastMs, nextMs, itemsLeft, window }: NamedDecision): string {
  const asked = formatMoment(askedMs);
  const last = lastMs === undefined ? '' : ` It played last at ${formatMoment(lastMs)}.`;
  if (code === 'never_due') return `The time of the rule "${rule.name}" never comes.`;
  if (code === 'outside_window' && window)
    return `The window of the rule "${rule.name}" is not open at ${asked}: it opens at ${formatMoment(window.startMs)}, until ${formatMoment(window.endMs)}.${last}`;
  const not = `The rule "${rule.name}" is not due at ${asked}`;
  if (itemsLeft !== undefined && itemsLeft > 0)
    return `${not}: ${itemsLeft} more ${itemsLeft === 1 ? 'item has' : 'items have'} to play first.${last}`;
  return nextMs === undefined ? `${not}.${last}` : `${not}: it is due next at ${formatMoment(nextMs)}.${last}`;
}

/** Returns the cause of a decision, and a fix in the place of that of its code. */
export function describeDecision(decision: NamedDecision): { cause: string; fix?: string } {
  const { kind, rule, byItem } = decision;
  const name = `The rule "${rule.name}"`;
  switch (kind) {
    case 'played':
      return { cause: describePlayed(decision) };
    case 'late':
      return describeLate(decision);
    case 'empty':
      return { cause: `${name} was due at ${formatMoment(decision.dueMs ?? 0)}, and none of its items can be played.` };
    case 'taken':
      return {
        cause: `The window of the rule "${rule.name}" is open, and that of the rule "${byItem?.rule ?? ''}", which stands before it, has the time.`,
      };
    case 'waiting':
      return { cause: describeWaiting(decision) };
    case 'nothing':
      return { cause: EXPLANATIONS.nothing_plays.meaning };
    case 'far':
      return { cause: 'The time is too far ahead: too many items play before it.', fix: 'Ask for an earlier time.' };
  }
}

export function describeMoved({ name, when }: PlayedRule, { local, kind, atMs }: MovedMoment): string {
  const zone = (when.window ?? when.at)?.timeZone ?? 'UTC';
  const moment = formatMoment(atMs);
  const due = when.window ? `the window of the rule "${name}" opens` : `the rule "${name}" is due`;
  if (kind === 'skipped')
    return `Clocks go forward, and skip ${local} in ${zone}: ${due} at ${moment}, the first moment after it.`;
  if (kind === 'repeated')
    return `Clocks go back, and ${local} comes twice in ${zone}: ${due} at ${moment}, the first of them.`;
  return `Clocks change on this day in ${zone}: ${local} is at ${moment}, when ${due}.`;
}

/** Says what has the time of an item. */
export function describeTaken(called: string, by: PlannedItem, nextMs: number | undefined): string {
  const next = nextMs === undefined ? 'has no turn within 14 days' : `plays next at ${formatMoment(nextMs)}`;
  return `${callItem(by)} plays from ${formatMoment(Date.parse(by.startAt))} to ${formatMoment(Date.parse(by.endAt))}; ${called} ${next}.`;
}

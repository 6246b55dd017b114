/** Lists the codes of explanations: why a rule or an item plays at a time, or does not. Pure: no I/O, no clock. */
import type { CodeText } from './code-text.ts';
import { DROPPED_RULES, READINESS_ISSUES } from './streams.ts';

export const EXPLANATIONS = {
  played: {
    meaning: 'It plays at this time, or as soon after it as its rule may.',
    fix: 'Nothing is to do.',
  },
  other_rule: {
    meaning: 'Another rule has the time.',
    fix: 'Move the rule before that one: the first rule has priority.',
  },
  outside_window: {
    meaning: 'The window of the rule is not open.',
    fix: 'Change the window of the rule if it is to play at this time.',
  },
  not_due: {
    meaning: 'The rule is not due.',
    fix: 'Change `when` of the rule if it is to play at this time.',
  },
  clock_change: {
    meaning: 'Clocks change in the time zone of the rule, which moves the time at which it is due.',
    fix: 'Choose a local time that every day has once.',
  },
  never_due: {
    meaning: 'The time of the rule never comes.',
    fix: 'Correct its cron expression or its time zone.',
  },
  not_its_turn: {
    meaning: 'Another item has its turn.',
    fix: 'Change the order of the list, or add a rule that plays the item at this time.',
  },
  not_listed: {
    meaning: 'The version on air has no such rule or item.',
    fix: 'Publish a version of the playlist that has it.',
  },
  nothing_plays: {
    meaning: 'No item of the list can be played: the slate is shown, and rules wait.',
    fix: 'Add an item that can be played.',
  },
  stream_stopped: {
    meaning: 'The owner of the stream has stopped it.',
    fix: 'Start the stream.',
  },
  not_scheduled: {
    meaning: 'The schedule of the stream has it off air.',
    fix: 'Change the schedule of the stream.',
  },
  stream_off_air: {
    meaning: 'The stream is off air, though its schedule wants it on.',
    fix: 'See the readiness of the stream.',
  },
  not_known: {
    meaning: 'Nothing is known of this time.',
    fix: 'Ask for a later time. The as-run of the stream says what was on air before.',
  },
} as const satisfies Readonly<Record<string, CodeText>>;

const { RuleLate, RuleEmpty } = DROPPED_RULES;
const { UploadQuarantined, UploadNotFound, MediaPreparing, MediaFailed } = READINESS_ISSUES;
/** Codes that other places have, too. */
const SHARED = [RuleLate, RuleEmpty, UploadQuarantined, UploadNotFound, MediaPreparing, MediaFailed] as const;

export type ExplanationCode = keyof typeof EXPLANATIONS | (typeof SHARED)[number]['code'];

const TEXTS = new Map<string, CodeText>([
  ...Object.entries(EXPLANATIONS),
  ...SHARED.map((text): [string, CodeText] => [text.code, text]),
]);
export const EXPLANATION_CODES: readonly string[] = [...TEXTS.keys()];
export const isExplanation = (code: string): boolean => TEXTS.has(code);
export const findExplanationFix = (code: ExplanationCode): string => TEXTS.get(code)?.fix ?? '';

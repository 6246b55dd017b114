/**
 * Declares the rules of playlists that were due on air and were left out, as the status of a stream keeps them for those who look later. They
 * are no transitions: a rule that never comes in time would push an outage out of that list. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { DROPPED_RULES } from '../../lib/codes/streams.ts';
import { MAX_RULES } from '../playlist/rule-limits.ts';

/** Both playlists of a stream, each with all the rules that it may have. */
export const MAX_DROPPED_RULES = 2 * MAX_RULES;

export const DROPPED_RULE_REASONS = Object.keys(DROPPED_RULES) as (keyof typeof DROPPED_RULES)[];

export const DroppedRule = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Number of the entry. Each is one higher than the last that was written.',
  }),
  rule: Type.String({ maxLength: 63, description: 'Name of the rule.' }),
  track: Type.Enum(['video', 'audio'], { title: 'DroppedRuleTrack', description: 'Whose playlist has the rule.' }),
  dueAt: Type.String({ format: 'date-time', description: 'When the rule was due, the last time.' }),
  at: Type.String({ format: 'date-time', description: 'When the entry was written.' }),
  reason: Type.Enum(DROPPED_RULE_REASONS, {
    title: 'DroppedRuleReason',
    description: 'RuleLate: its turn came too late. RuleEmpty: nothing in its list could be played.',
  }),
  count: Type.Integer({ minimum: 1, description: 'How many times the rule was left out since `since`.' }),
  since: Type.String({
    format: 'date-time',
    description: 'When the rule was due that the process of the pod left out first: each process counts anew.',
  }),
});
export type DroppedRule = Static<typeof DroppedRule>;

export function describeDroppedRule({ rule, dueAt, reason, count, since }: DroppedRule): string {
  const often =
    count > 1
      ? `${count} times since ${since}, the last time when it was due at ${dueAt}`
      : `when it was due at ${dueAt}`;
  return `The rule "${rule}" was left out ${often}. ${DROPPED_RULES[reason].meaning}`;
}

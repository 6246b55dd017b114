/** The rules of a playlist as the page edits them, and as the API has them. Pure: no I/O, no clock. */
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { LEAST_EVERY_SECONDS, MAX_LATE_SECONDS } from '../../../core/resources/playlist/rule-limits.ts';
import type { Playlist } from '../../../service/client/index.ts';
import { findTimeZone, nameZoneOfToday } from '../../lib/timeZones.ts';
import { type ScheduleValues, scheduleBody, scheduleMistakes, scheduleValues } from '../streams/schedule.ts';

export type RuleRecord = Playlist['rules'][number];
type RuleWhen = 'every' | 'each' | 'at' | 'window';

/** The times of `at` and `window` are those of a schedule. */
export interface RuleValues extends ScheduleValues {
  /** `b3`: the base's fourth; all others are new. */
  key: string;
  name: string;
  source: 'playlist' | 'upload';
  playlistID: string;
  uploadObjectID: string;
  when: RuleWhen;
  every: number | string;
  /** Seconds that `every` counts. */
  unit: string;
  each: number | string;
  start: NonNullable<RuleRecord['start']>;
  after: NonNullable<RuleRecord['after']>;
  count: number | string;
  pick: NonNullable<RuleRecord['pick']>;
  late: number | string;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const MOST_EVERY_SECONDS = 7 * DAY;
const MOST_EACH = 1000;
const MOST_COUNT = 100;
const MOST_NAME = 63;

const toUnit = (seconds: number): number => [HOUR, MINUTE].find((unit) => seconds % unit === 0) ?? 1;

function whenOf({ everySeconds, eachItems, at, window }: RuleRecord['when']): RuleWhen {
  if (everySeconds !== undefined) return 'every';
  if (eachItems !== undefined) return 'each';
  return at || !window ? 'at' : 'window';
}

/** `timeZone` is that of times that a rule does not have yet. */
export function toRuleValues(
  rule: RuleRecord,
  key: string,
  timeZone: string = nameZoneOfToday(findTimeZone()),
): RuleValues {
  const { name, when, playlistID, uploadObjectID, start, after, count, pick, lateSeconds } = rule;
  const { everySeconds = 30 * MINUTE, eachItems = 5, at, window } = when;
  const times = window ?? at;
  const recurrence = times ? { timeZone: 'UTC', durationSeconds: HOUR, ...times } : null;
  const schedule = scheduleValues({ scheduleStartAt: null, scheduleEndAt: null, recurrence }, timeZone);
  const unit = toUnit(everySeconds);
  return {
    ...schedule,
    repeat: schedule.repeat === 'once' ? 'weekly' : schedule.repeat,
    ...{ key, name, source: uploadObjectID === undefined ? 'playlist' : 'upload' },
    ...{ playlistID: playlistID ?? '', uploadObjectID: uploadObjectID ?? '' },
    ...{ when: whenOf(when), every: everySeconds / unit, unit: String(unit), each: eachItems },
    ...{ start: start ?? 'Border', after: after ?? 'Resume', count: count ?? 1, pick: pick ?? 'Next' },
    late: lateSeconds ?? 120,
  };
}

export const newRule = (key: string): RuleValues =>
  toRuleValues({ name: '', when: { everySeconds: 30 * MINUTE } }, key);

function toWhen(values: RuleValues): RuleRecord['when'] {
  const { when, every, unit, each } = values;
  if (when === 'every') return { everySeconds: Number(every) * Number(unit) };
  if (when === 'each') return { eachItems: Number(each) };
  const { cron = '', timeZone = 'UTC', durationSeconds = HOUR } = scheduleBody(values).recurrence ?? {};
  return when === 'at' ? { at: { cron, timeZone } } : { window: { cron, timeZone, durationSeconds } };
}

export function toRule(values: RuleValues): RuleRecord {
  const { name, source, playlistID, uploadObjectID, start, late, after, count, pick } = values;
  return {
    name: name.trim(),
    when: toWhen(values),
    ...(source === 'playlist' ? { playlistID } : { uploadObjectID }),
    ...{ start, lateSeconds: Number(late), after, count: Number(count), pick },
  };
}

/** Returns rules as they are sent. One that is unchanged stays as the API had it: a form writes some times in another way. */
export const toRules = (edited: readonly RuleValues[], base: readonly RuleRecord[]): RuleRecord[] =>
  edited.map((values) => {
    const before = values.key.startsWith('b') ? base[Number(values.key.slice(1))] : undefined;
    const isSame = before && isSameJson(toRuleValues(before, values.key, values.timeZone), values);
    return before && isSame ? before : toRule(values);
  });

export type RuleMistakes = Partial<Record<keyof RuleValues, string>>;

const isWhole = (value: number | string, least: number, most: number): boolean =>
  value !== '' && Number.isInteger(Number(value)) && Number(value) >= least && Number(value) <= most;

function findWhenMistakes(values: RuleValues): RuleMistakes {
  const { when, every, unit, each } = values;
  if (when === 'each') return isWhole(each, 1, MOST_EACH) ? {} : { each: `Enter a number from 1 to ${MOST_EACH}.` };
  if (when === 'every') {
    const seconds = Number(every) * Number(unit);
    if (every === '' || !Number.isInteger(seconds)) return { every: 'Enter a whole number.' };
    if (seconds < LEAST_EVERY_SECONDS) return { every: `Choose at least ${LEAST_EVERY_SECONDS} seconds.` };
    return seconds > MOST_EVERY_SECONDS ? { every: 'Choose at most 7 days.' } : {};
  }
  const { until, hours, minutes, ...times } = scheduleMistakes(values);
  return when === 'at' ? times : { ...times, ...omitUndefined({ until, hours, minutes }) };
}

const omitUndefined = (mistakes: Record<string, string | undefined>): RuleMistakes =>
  Object.fromEntries(Object.entries(mistakes).filter(([, text]) => text !== undefined));

/** Finds mistakes before the request; the server finds the rest. `taken` are the names of the other rules. */
export function findRuleMistakes(values: RuleValues, taken: readonly string[]): RuleMistakes {
  const { source, playlistID, uploadObjectID, count, late, when } = values;
  const name = values.name.trim();
  return {
    ...findWhenMistakes(values),
    ...(taken.includes(name) && { name: 'Another rule has this name.' }),
    ...(name.length > MOST_NAME && { name: `A name has at most ${MOST_NAME} characters.` }),
    ...(name === '' && { name: 'Enter a name.' }),
    ...(source === 'playlist' && playlistID === '' && { playlistID: 'Choose a playlist.' }),
    ...(source === 'upload' && uploadObjectID === '' && { uploadObjectID: 'Choose an upload.' }),
    ...(when !== 'window' && {
      ...(!isWhole(count, 1, MOST_COUNT) && { count: `Enter a number from 1 to ${MOST_COUNT}.` }),
      ...(!isWhole(late, 0, MAX_LATE_SECONDS) && { late: `Enter seconds from 0 to ${MAX_LATE_SECONDS}.` }),
    }),
  };
}

/** By the place of a rule, which mistakes it has; rules without one are not there. */
export function findRulesMistakes(rules: readonly RuleValues[]): Map<number, RuleMistakes> {
  const found = new Map<number, RuleMistakes>();
  for (const [index, values] of rules.entries()) {
    const taken = rules.slice(0, index).map(({ name }) => name.trim());
    const mistakes = findRuleMistakes(values, taken);
    if (Object.keys(mistakes).length > 0) found.set(index, mistakes);
  }
  return found;
}

/** By the API's name below a rule, which field of the form each is. The last one stands for the rest of the rule. */
const FIELDS: Readonly<Record<string, keyof RuleValues>> = {
  name: 'name',
  playlistID: 'playlistID',
  uploadObjectID: 'uploadObjectID',
  'when/at/cron': 'cron',
  'when/window/cron': 'cron',
  'when/at/timeZone': 'timeZone',
  'when/window/timeZone': 'timeZone',
  'when/window/durationSeconds': 'hours',
  'when/everySeconds': 'every',
  'when/eachItems': 'each',
  lateSeconds: 'late',
  count: 'count',
};

/** Names the fields of rules as the API does in its errors. */
export const listRuleFields = (rules: readonly unknown[]): string[] =>
  rules.flatMap((_, index) => Object.keys(FIELDS).map((field) => `rules/${index}/${field}`));

/** Picks the API's complaints about the rule at `index` out of those about the fields of listRuleFields(). */
export function pickRuleMistakes(fields: Readonly<Record<string, string>>, index: number): RuleMistakes {
  const start = `rules/${index}/`;
  const own = Object.entries(fields).filter(([path]) => path.startsWith(start));
  return Object.fromEntries(own.map(([path, text]) => [FIELDS[path.slice(start.length)] ?? 'name', text]));
}

/**
 * Joins two edits of the rules of `base`, which are known by their names: a rule is mine where I changed it or took it out, and theirs
 * otherwise. The order is mine if I made one, and theirs otherwise; each rule of the other's stands behind its predecessor there.
 */
export function joinRules(
  base: readonly RuleRecord[],
  mine: readonly RuleRecord[],
  theirs: readonly RuleRecord[],
): { name: string; isMine: boolean }[] {
  const find = (rules: readonly RuleRecord[], name: string) => rules.find((one) => one.name === name);
  const names = (rules: readonly RuleRecord[], also: readonly RuleRecord[]) =>
    rules.map(({ name }) => name).filter((name) => find(also, name));
  const isReordered = !isSameJson(names(mine, base), names(base, mine));
  const [first, second] = isReordered ? [mine, theirs] : [theirs, mine];
  const order = first.map(({ name }) => name);
  for (const [at, { name }] of second.entries())
    if (!order.includes(name)) order.splice(order.indexOf(second[at - 1]?.name ?? '') + 1, 0, name);
  return order
    .map((name) => ({ name, isMine: !isSameJson(find(mine, name), find(base, name)) }))
    .filter(({ name, isMine }) => find(isMine ? mine : theirs, name) !== undefined);
}

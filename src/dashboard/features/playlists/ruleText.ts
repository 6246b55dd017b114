/** Says in words what a rule of a playlist does, and when it comes. Pure: no I/O, no clock. */
import type { StreamTimeline } from '../../../service/client/index.ts';
import { formatClock, spokenDuration } from '../../lib/format.ts';
import { describeWeekly, formatDays, parseWeekly } from '../streams/schedule.ts';
import type { RuleRecord } from './ruleValues.ts';
import { clips } from './text.ts';

const MOMENTS_SHOWN = 3;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Every day at 18:00`, `Mon–Fri, from 22:00 to 06:00 (next day)`; undefined for times that say more, and without any. */
export function describeTimes({ at, window }: RuleRecord['when']): string | undefined {
  if (window) return describeWeekly({ timeZone: 'UTC', ...window });
  const weekly = at && parseWeekly(at.cron);
  if (!weekly) return undefined;
  return capital(`${formatDays(weekly.days)} at ${formatClock(`1970-01-01T${weekly.time}:00Z`, { timeZone: 'UTC' })}`);
}

/** `words` are those of a cron expression that describeTimes() does not know. */
function describeWhen(when: RuleRecord['when'], words: string | undefined): string {
  const { everySeconds, eachItems, at, window } = when;
  // "Every hour", and not "every 1 hour".
  if (everySeconds !== undefined) return `Every ${spokenDuration(everySeconds).replace(/^1 (\w+)$/, '$1')}`;
  if (eachItems !== undefined) return eachItems === 1 ? 'After every clip' : `After every ${clips(eachItems)}`;
  const times = at ?? window;
  if (!times) return '';
  const long = window ? `, for ${spokenDuration(window.durationSeconds)}` : '';
  const text = describeTimes(when) ?? `${words ?? times.cron}${long}`;
  return `${text} (${times.timeZone ?? 'UTC'})`;
}

const CUT: Record<NonNullable<RuleRecord['after']>, string> = {
  Resume: 'goes on where it was cut',
  Next: 'does not go on',
  Restart: 'begins again',
};

function describeWhat({ uploadObjectID, count = 1, pick, when }: RuleRecord, what: string): string {
  if (when.window) return `${what} in place of the clips of this playlist${pick === 'Shuffle' ? ', shuffled' : ''}`;
  if (uploadObjectID !== undefined) return count === 1 ? what : `${what} ${count} times`;
  return `${count === 1 ? 'one clip' : clips(count)} of ${what}${pick === 'Shuffle' ? ', shuffled' : ''}`;
}

/** `Every 30 minutes, at the end of the clip that plays, one clip of “Jingles”.` */
export function describeRule(rule: RuleRecord, what: string, words?: string): string {
  const { when, start = 'Border', after = 'Resume' } = rule;
  const played = describeWhat(rule, what);
  const time = describeWhen(when, words);
  if (when.eachItems !== undefined) return `${time}, ${played}.`;
  if (start === 'Cut') return `${time}, ${played} at once. The clip that it cuts ${CUT[after]}.`;
  return `${time}, at the end of the clip that plays, ${played}.`;
}

/** Lists the next times at which each rule comes, RFC 3339. Items that a rule plays in a row are one time. */
export function listMoments({ items, from }: StreamTimeline): Map<string, string[]> {
  const moments = new Map<string, string[]>();
  for (const [at, { rule, startAt }] of items.entries()) {
    if (rule === null || rule === items[at - 1]?.rule || Date.parse(startAt) < Date.parse(from)) continue;
    const known = moments.get(rule) ?? [];
    if (known.length < MOMENTS_SHOWN) moments.set(rule, [...known, startAt]);
  }
  return moments;
}

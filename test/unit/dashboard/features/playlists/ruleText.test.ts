/** Tests the sentences on the rules of a playlist, and the times at which they come. */
import { expect, test } from 'vitest';
import { describeRule, listMoments } from '../../../../../src/dashboard/features/playlists/ruleText.ts';
import type { RuleRecord } from '../../../../../src/dashboard/features/playlists/ruleValues.ts';
import type { StreamTimeline } from '../../../../../src/service/client/index.ts';

const say = (when: RuleRecord['when'], more: Partial<RuleRecord> = {}, words?: string) =>
  describeRule({ name: 'r', when, playlistID: 'pls-1', ...more }, '“Jingles”', words);

test('a rule says in one sentence when it comes, how it begins and what it plays', () => {
  expect(say({ everySeconds: 1800 })).toBe(
    'Every 30 minutes, at the end of the clip that plays, one clip of “Jingles”.',
  );
  expect(say({ everySeconds: 3600 }, { count: 2, pick: 'Shuffle' })).toBe(
    'Every hour, at the end of the clip that plays, 2 clips of “Jingles”, shuffled.',
  );
  expect(say({ eachItems: 5 })).toBe('After every 5 clips, one clip of “Jingles”.');
  expect(say({ eachItems: 1 }, { uploadObjectID: 'upl-1', count: 2 })).toBe('After every clip, “Jingles” 2 times.');
});

test('a rule that cuts says what becomes of the clip that it cuts', () => {
  const cut = (after: RuleRecord['after'] & string) => say({ everySeconds: 60 }, { start: 'Cut', after });
  expect(cut('Resume')).toBe(
    'Every minute, one clip of “Jingles” at once. The clip that it cuts goes on where it was cut.',
  );
  expect(cut('Next')).toMatch(/does not go on\.$/);
  expect(cut('Restart')).toMatch(/begins again\.$/);
  // One that counts clips never cuts.
  expect(say({ eachItems: 2 }, { start: 'Cut' })).not.toContain('cuts');
});

test('times are days and a clock where they are that, and the words of the expression otherwise', () => {
  expect(say({ at: { cron: '30 18 * * 1,2,3,4,5', timeZone: 'Europe/Berlin' } })).toMatch(
    /^Mon–Fri at (18:30|6:30 PM) \(Europe\/Berlin\), at the end/,
  );
  expect(say({ at: { cron: '0 * * * *' } }, {}, 'Every hour')).toMatch(/^Every hour \(UTC\), /);
  expect(say({ at: { cron: '0 * * * *' } })).toMatch(/^0 \* \* \* \* \(UTC\), /);
  const window = { cron: '0 22 * * *', durationSeconds: 28_800 };
  expect(say({ window })).toMatch(
    /^Every day, from .+ \(next day\) \(UTC\), .+“Jingles” in place of the clips of this playlist\.$/,
  );
  expect(say({ window: { ...window, cron: '0 */6 * * *' } }, {}, 'Every 6 hours')).toMatch(
    /^Every 6 hours, for 8 hours \(UTC\), /,
  );
});

test('the next three times of each rule are those of the timeline, and what it plays in a row is one of them', () => {
  const at = (minute: number) => new Date(Date.UTC(2027, 0, 1, 12, minute)).toISOString();
  const items = ['a', null, 'a', 'a', null, 'b', null, 'a', null, 'a', null, 'a'].map((rule, minute) => ({
    ...{ startAt: at(minute), endAt: at(minute + 1), durationSeconds: 60, id: 'upl-1', name: 'Clip' },
    ...{ playlistID: null, index: null, rule, exact: true },
  }));
  const shared = { to: at(60), onAir: true, track: 'video' as const, exactUntil: null, nextFrom: null };
  const timeline: StreamTimeline = { ...shared, from: new Date(Date.parse(at(0)) + 30_000).toISOString(), items };
  // The first of them plays already.
  expect(Object.fromEntries(listMoments(timeline))).toEqual({ a: [at(2), at(7), at(9)], b: [at(5)] });
});

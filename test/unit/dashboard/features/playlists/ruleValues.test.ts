/** Tests rules as the page edits them: what is read is sent back as it was, mistakes stand at their field, and two edits are joined. */
import { describe, expect, test } from 'vitest';
import {
  findRuleMistakes,
  findRulesMistakes,
  joinRules,
  listRuleFields,
  newRule,
  pickRuleMistakes,
  type RuleRecord,
  type RuleValues,
  toRule,
  toRules,
  toRuleValues,
} from '../../../../../src/dashboard/features/playlists/ruleValues.ts';

const rule = (name: string, more: Partial<RuleRecord> = {}): RuleRecord => ({
  ...{ name, when: { eachItems: 5 }, uploadObjectID: 'upl-1' },
  ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
  ...more,
});
const { uploadObjectID: _, ...ofList } = rule('list', { playlistID: 'pls-1', pick: 'Shuffle', count: 3 });
const WINDOW = { cron: '0 22 * * *', timeZone: 'Europe/Berlin', durationSeconds: 28_800 };
const RULES: readonly RuleRecord[] = [
  rule('each'),
  ofList,
  rule('every', { when: { everySeconds: 90 }, start: 'Cut', after: 'Restart', lateSeconds: 0 }),
  rule('hourly', { when: { at: { cron: '0 * * * *', timeZone: 'UTC' } } }),
  rule('days', { when: { at: { cron: '30 9 * * 1,3', timeZone: 'Asia/Tokyo' } } }),
  rule('night', { when: { window: WINDOW } }),
  rule('odd', { when: { window: { ...WINDOW, cron: '0 */6 * * *', durationSeconds: 3_661 } } }),
];

describe('a rule in the form', () => {
  test.each(RULES.map((one) => [one.name, one] as const))('%s is what it was', (_name, one) => {
    expect(toRule(toRuleValues(one, 'n0'))).toEqual(one);
    expect(findRuleMistakes(toRuleValues(one, 'n0'), [])).toEqual({});
  });

  test('unchanged, it stays as the API had it, also where the form writes its times in another way', () => {
    const days = rule('days', { when: { at: { cron: '05 09 * * 3,1', timeZone: 'UTC' } } });
    const values = toRuleValues(days, 'b0');
    expect(toRules([values], [days])).toEqual([days]);
    const [changed] = toRules([{ ...values, count: 2 }], [days]);
    expect(changed).toMatchObject({ count: 2, when: { at: { cron: '5 9 * * 1,3' } } });
  });

  const findMistakes = (more: Partial<RuleValues>) =>
    findRuleMistakes({ ...newRule('n0'), name: 'news', playlistID: 'pls-1', ...more }, ['taken']);

  test('needs no more than a name and what it plays', () => {
    expect(findMistakes({})).toEqual({});
    expect(Object.keys(findRuleMistakes(newRule('n0'), [])).sort()).toEqual(['name', 'playlistID']);
  });

  test.each<[string, Partial<RuleValues>, keyof RuleValues]>([
    ['a name of another', { name: ' taken ' }, 'name'],
    ['a long name', { name: 'x'.repeat(64) }, 'name'],
    ['no upload', { source: 'upload' }, 'uploadObjectID'],
    ['too often', { every: 9, unit: '1' }, 'every'],
    ['too seldom', { every: 169, unit: '3600' }, 'every'],
    ['no interval', { every: '' }, 'every'],
    ['no clips in between', { when: 'each', each: 0 }, 'each'],
    ['no day', { when: 'at', days: [] }, 'days'],
    ['no expression', { when: 'at', repeat: 'cron', cron: ' ' }, 'cron'],
    ['a window without an end', { when: 'window', until: '' }, 'until'],
    ['a window without a length', { when: 'window', repeat: 'cron', hours: 0, minutes: 0 }, 'minutes'],
    ['no clips', { count: '' }, 'count'],
    ['too late', { late: 3601 }, 'late'],
  ])('has its mistake at its field: %s', (_name, more, field) => {
    expect(Object.keys(findMistakes(more))).toEqual([field]);
  });

  test('moments have no length that could be wrong', () => {
    expect(findMistakes({ when: 'at', until: '' })).toEqual({});
    expect(findMistakes({ when: 'at', repeat: 'cron', hours: 0, minutes: 0 })).toEqual({});
  });

  test('of two with one name, the later one has the mistake', () => {
    const two = ['n0', 'n1'].map((key) => ({ ...newRule(key), name: 'news', playlistID: 'pls-1' }));
    expect([...findRulesMistakes(two)]).toEqual([[1, { name: 'Another rule has this name.' }]]);
  });

  test('a complaint of the API stands at the field that it is about, and at no other rule', () => {
    const complaint = { 'rules/1/when/at/cron': 'It never comes.' };
    expect(listRuleFields([1, 2])).toContain('rules/1/when/at/cron');
    expect(pickRuleMistakes(complaint, 1)).toEqual({ cron: 'It never comes.' });
    expect(pickRuleMistakes(complaint, 0)).toEqual({});
  });
});

describe('my rules on top of others’', () => {
  const [a, b, c] = [rule('a'), rule('b'), rule('c')];
  const changed = (one: RuleRecord) => ({ ...one, count: 9 });
  const join = (mine: RuleRecord[], theirs: RuleRecord[]) =>
    joinRules([a, b], mine, theirs).map(({ name, isMine }) => `${name}${isMine ? '!' : ''}`);

  test('what each of us added and took out is so', () => {
    expect(join([a, c], [a, b, rule('d')])).toEqual(['a', 'c!', 'd']);
    expect(join([a, b], [b])).toEqual(['b']);
  });

  test('a rule that I changed is mine, and one that they changed is theirs', () => {
    expect(join([changed(a), b], [a, changed(b)])).toEqual(['a!', 'b']);
    expect(join([changed(a), b], [b])).toEqual(['a!', 'b']);
  });

  test('the order is mine where I made one, and theirs otherwise', () => {
    expect(join([b, a], [a, b, c])).toEqual(['b', 'c', 'a']);
    expect(join([a, b], [b, a])).toEqual(['b', 'a']);
  });
});

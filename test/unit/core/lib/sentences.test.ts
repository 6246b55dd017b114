import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brokenRule, CRON, DISPLAY_NAME, LINK, REFERENCE, TIME_ZONE } from '../../../../src/core/lib/sentences.ts';

describe('the patterns', () => {
  const ALL = [...DISPLAY_NAME, ...LINK, ...REFERENCE, CRON, TIME_ZONE].flatMap((rule) => [
    rule.matches ?? [],
    rule.lacks ?? [],
  ]);

  it('mean the same to JavaScript and to CEL: no quotes, no look-around, no back-references', () => {
    for (const pattern of ALL.flat()) {
      expect(pattern).not.toMatch(/'|\(\?[=!<]|\\[1-9]/);
      expect(() => new RegExp(pattern, 'u')).not.toThrow();
    }
  });

  it('match quickly for any input', () => {
    const long = ['*,'.repeat(100), '1-'.repeat(100), ' '.repeat(200), 'a/'.repeat(2000), 'a-.'.repeat(1000)];
    const began = performance.now();
    for (const pattern of ALL.flat()) for (const text of long) new RegExp(pattern).test(`${text}!`);
    // A matcher that backtracks would take hours.
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

describe('cron', () => {
  const pick = (...values: string[]) => fc.constantFrom(...values);
  const number = (low: number, high: number) => fc.integer({ min: low, max: high }).map(String);
  const span = (value: fc.Arbitrary<string>) => {
    const range = fc.tuple(value, value).map((pair) => pair.sort((a, b) => Number(a) - Number(b)).join('-'));
    const stepped = fc.tuple(fc.oneof(fc.constant('*'), range), number(1, 40)).map((pair) => pair.join('/'));
    return fc.oneof(value, range, stepped, pick('*', '?'));
  };
  const field = (item: fc.Arbitrary<string>) =>
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
  const weekday = fc.oneof(number(0, 7), pick('MON', 'tue', 'Sun'));
  const nth = fc.tuple(weekday, pick('#1', '#5', '#L', 'L')).map((pair) => pair.join(''));
  const day = number(1, 31);
  const expression = fc
    .tuple(
      field(span(number(0, 59))),
      field(span(number(0, 23))),
      field(
        fc.oneof(
          span(day),
          pick('L', 'LW'),
          day.map((d) => `${d}W`),
        ),
      ),
      field(span(fc.oneof(number(1, 12), pick('JAN', 'dec')))),
      fc.tuple(pick('', '+'), field(fc.oneof(span(weekday), nth, fc.constant('L')))).map((pair) => pair.join('')),
    )
    .map((fields) => fields.join(' '));
  const isTaken = (text: string): boolean => {
    try {
      return new Cron(text, { mode: '5-part', timezone: 'UTC' }) !== undefined;
    } catch {
      return false;
    }
  };

  it('that can be kept is never refused for its form', () => {
    let taken = 0;
    fc.assert(
      fc.property(expression, (text) => {
        if (!isTaken(text)) return;
        taken += 1;
        expect(brokenRule([CRON], text), text).toBeUndefined();
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  it.each([
    '60 * * * *',
    '* 24 * * *',
    '* * 32 * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '* * * *',
    '* * * * * *',
    '@daily',
    'every day',
    '',
  ])('%j is refused for its form', (text) => {
    expect(brokenRule([CRON], text)).toBe(CRON.sentence);
  });
});

describe('a link', () => {
  it.each([
    'https://example.com',
    'HTTP://example.com:8080/a?b=c#d',
    'http://[::1]:8080/My clip.mp4',
    'https://example.com/a@b?c=d@e',
    'https://bücher.example/ä.mp4',
  ])('%s is taken', (text) => {
    expect(brokenRule(LINK, text)).toBeUndefined();
  });

  it('with a password is refused however it is dressed', () => {
    for (const text of ['http://a:b@c/', 'https://a@c', 'HTTPS://:b@c/', 'http://a:b%40@c/'])
      expect(brokenRule(LINK, text)).toBe('must not contain a user name or password');
  });
});

describe('a time zone', () => {
  it('of the IANA database is never refused for its form', () => {
    for (const zone of [...Intl.supportedValuesOf('timeZone'), 'UTC', 'EST5EDT', 'Etc/GMT+5', 'GB-Eire', 'W-SU'])
      expect(brokenRule([TIME_ZONE], zone), zone).toBeUndefined();
  });
});

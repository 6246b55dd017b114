import { describe, expect, test } from 'vitest';
import { chooseCount, describeRefusal, findWait, isFirstRefusal } from '../../../../src/service/auth/guesses.ts';

describe('the count that a try belongs to', () => {
  test.each([
    [{ address: true, browser: true }, 'none'],
    [{ address: true, browser: false }, 'none'],
    [{ address: false, browser: true }, 'browser'],
    [{ address: false, browser: false }, 'strangers'],
  ] as const)('%o: %s', (known, count) => {
    expect(chooseCount(known)).toBe(count);
  });
});

test('as many tries as allowed pass, each further one waits for the rest of the hour, and one of them is told', () => {
  const tries = Array.from({ length: 30 }, (_one, i) => ({ attempts: i + 1, secondsLeft: 3600 - i }));
  const waits = tries.map((tried) => findWait(tried, 20));
  expect(waits.slice(0, 20)).toEqual(Array(20).fill(undefined));
  expect(waits.slice(20)).toEqual(tries.slice(20).map(({ secondsLeft }) => secondsLeft));
  expect(tries.filter((tried) => isFirstRefusal(tried, 20)).map(({ attempts }) => attempts)).toEqual([21]);
});

test('a refusal names the ways that there are, and no others', () => {
  const all = describeRefusal(90, { hasMail: true, provider: 'Example ID' });
  expect(all).toMatch(/with a passkey, with Example ID or from a browser .*by mail.* 90 seconds\.$/);
  const few = describeRefusal(90, { hasMail: false, provider: undefined });
  expect(few).toContain('with a passkey or from a browser');
  expect(few).not.toContain('mail');
});

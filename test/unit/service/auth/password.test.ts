import { describe, expect, test } from 'vitest';
import { findWeakness, MAX_PASSWORD } from '../../../../src/service/auth/password.ts';

describe('a password', () => {
  test.each([
    ...['correct horse battery', 'пароль для всех', 'a        b c d', 'no-digits-and-no-capitals', '🎬🎬🎞️🎥📺'],
    `${'x7'.repeat(4)}q9!kLp`,
    'long'.padEnd(MAX_PASSWORD, ' words'),
  ])('%s may be had: length counts, and no signs are asked for', (password) => {
    expect(findWeakness(password, 'ada@example.com')).toBeUndefined();
  });

  test.each(['', 'short', 'ninesigns'])('%j is too short', (password) => {
    expect(findWeakness(password)).toMatch(/10 characters or more/);
  });

  test('is refused when it would take long to hash', () => {
    expect(findWeakness('long words '.repeat(30))).toMatch(/at most 256/);
  });

  test.each([
    ...['password123', 'Password-123', 'qwertyuiop', '1234567890', '0987654321', 'abcdefghij', 'aaaaaaaaaa'],
    ...['abcabcabcabc', 'Q1W2E3R4T5', 'loopstream!'],
  ])('%s is tried first, and refused', (password) => {
    expect(findWeakness(password)).toMatch(/easy to guess/);
  });

  test('one’s own address is none', () => {
    expect(findWeakness('Ada.Lovelace@example.com', 'ada.lovelace@example.com')).toMatch(/e-mail address/);
    expect(findWeakness('ada.lovelace1', 'ada.lovelace@example.com')).toMatch(/e-mail address/);
    expect(findWeakness('the engine of ada.lovelace', 'ada.lovelace@example.com')).toBeUndefined();
  });
});

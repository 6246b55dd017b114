import { describe, expect, test } from 'vitest';
import { COMMON_PASSWORDS } from '../../../../src/service/auth/common-passwords.ts';
import { findCommon, findWeakness, MAX_PASSWORD } from '../../../../src/service/auth/password.ts';

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

  test.each(['1234567890', '0987654321', 'abcdefghij', 'aaaaaaaaaa', 'abcabcabcabc'])(
    '%s is a run or a repetition, and refused',
    (password) => expect(findWeakness(password)).toMatch(/easy to guess.*several words/),
  );

  test.each([
    ...['password12345', 'Qwerty2024!', 'password123', 'Password-123', 'qwertyuiop', 'Q1W2E3R4T5', 'loopstream!'],
    ...[
      '!!IloveYou!!',
      '2024Sunshine#',
      'P@ssw0rd2024',
      'passwordpassword',
      'adminadmin1',
      '1029384756',
      'ｐａｓｓｗｏｒｄ１２',
    ],
  ])('%s is a common one with digits and signs, and refused', (password) => {
    expect(findCommon(password, COMMON_PASSWORDS)).toMatch(/easy to guess.*several words/);
  });

  test.each([
    ...['correct horse battery', 'sunshine over the lake', 'my-password-is-a-cat', 'dragon83619402751'],
    ...['пароль для всех', '🎬🎬🎞️🎥📺🎬🎬🎞️', '73190264518', 'x7x7x7x7q9!kLp'],
  ])('%s is not common', (password) => {
    expect(findCommon(password, COMMON_PASSWORDS)).toBeUndefined();
  });

  test('is compared with a list in the form that it is reduced to', () => {
    expect(COMMON_PASSWORDS.size).toBeGreaterThan(7000);
    const words = [...COMMON_PASSWORDS].filter((one) => /^\p{L}.*\p{L}$/u.test(one));
    expect(words.length).toBeGreaterThan(COMMON_PASSWORDS.size - 40);
    const added = words.map((one) => `${one}1!`);
    expect(added.filter((one) => findCommon(one, COMMON_PASSWORDS) === undefined)).toEqual([]);
  });

  test('one’s own address is none', () => {
    expect(findWeakness('Ada.Lovelace@example.com', 'ada.lovelace@example.com')).toMatch(/e-mail address/);
    expect(findWeakness('ada.lovelace1', 'ada.lovelace@example.com')).toMatch(/e-mail address/);
    expect(findWeakness('the engine of ada.lovelace', 'ada.lovelace@example.com')).toBeUndefined();
  });
});

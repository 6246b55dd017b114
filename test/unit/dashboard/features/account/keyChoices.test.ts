import { describe, expect, test } from 'vitest';
import {
  describeScopes,
  listLives,
  pickLife,
  pickScopes,
} from '../../../../../src/dashboard/features/account/keyChoices.ts';

describe('a new key', () => {
  test.each([
    ['read', ['write'], ['read']],
    ['some', ['billing', 'write', 'read'], ['read', 'write', 'billing']],
    ['all', ['read'], undefined],
  ] as const)('with the access %s and the rights %j has the scopes %j', (access, chosen, scopes) => {
    expect(pickScopes(access, chosen)).toEqual(scopes);
  });

  test.each([
    [null, ['30', '90', '365', 'ever'], '90'],
    [365, ['30', '90', '365'], '90'],
    [90, ['30', '90'], '90'],
    [60, ['30', '60'], '60'],
    [7, ['7'], '7'],
    [1, ['1'], '1'],
  ])('of an account that allows %s days offers %j', (maxKeyDays, lives, first) => {
    expect(listLives(maxKeyDays).map(({ value }) => value)).toEqual(lives);
    expect(pickLife(maxKeyDays)).toBe(first);
  });
});

test.each([
  [null, 'full access'],
  [['read'], 'read only'],
  [['write'], 'write'],
  [['read', 'destructive'], 'read, delete'],
  [[], 'no access'],
] as const)('the scopes %j are described as %s', (scopes, words) => {
  expect(describeScopes(scopes)).toBe(words);
});

/** Tests which types of events a reader receives. */
import { describe, expect, test } from 'vitest';
import {
  type AccountEventType,
  EVENT_TYPE_NAMES,
  listReceivedTypes,
  OPT_IN_TYPES,
} from '../../../../../src/service/domain/events/record.ts';
import type { Scope } from '../../../../../src/service/lib/scopes.ts';

const receive = (scopes: Scope[], named?: AccountEventType[]) => listReceivedTypes(new Set(scopes), named);
const PRIVATE: AccountEventType[] = [
  'credit.low',
  'credit.exhausted',
  'invoice.issued',
  'deposit.credited',
  'key.created',
];

describe('a reader', () => {
  test('without the scope billing receives nothing of money and keys, asked for or not', () => {
    expect(receive(['read'], PRIVATE)).toEqual([]);
    expect(receive(['read']).filter((type) => PRIVATE.includes(type))).toEqual([]);
    expect(receive(['read', 'billing'], PRIVATE)).toEqual(PRIVATE);
  });

  test('receives a type that is opt-in only by its name', () => {
    expect(OPT_IN_TYPES).toContain('schedule.upcoming');
    expect(receive(['read', 'billing'])).toEqual(EVENT_TYPE_NAMES.filter((type) => !OPT_IN_TYPES.includes(type)));
    expect(receive(['read'], ['schedule.upcoming', 'stream.live'])).toEqual(['schedule.upcoming', 'stream.live']);
  });
});

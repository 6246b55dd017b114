/**
 * Tests the stored facts of a transfer when it is first seen: its deposit, its rate, and the reason why it is not
 * credited.
 */
import { describe, expect, test } from 'vitest';
import {
  type KnownDeposits,
  type SeenTransfer,
  updateRows,
} from '../../../../../src/service/billing/crypto/payment-rows.ts';
import { MAX_IGNORED } from '../../../../../src/service/billing/crypto/spec.ts';
import type { DepositRow } from '../../../../../src/service/billing/crypto/store.ts';
import { ETHEREUM } from '../../../../kit/make/crypto-settings.ts';

const now = new Date('2027-01-31T12:00:00Z');
const minutes = (count: number) => new Date(now.getTime() + 60_000 * count);
const deposit: DepositRow = {
  id: 'dep-1',
  account_id: 'ada',
  network: 'ethereum',
  asset: 'ETH',
  decimals: 18,
  address: '0xA',
  address_key: '0xa',
  key_id: 'key',
  address_index: 0,
  amount: null,
  credits: null,
  rate: 3000n * 10n ** 8n,
  expires_at: minutes(-10),
  created_at: minutes(-25),
};
const buildKnown = (more: Partial<KnownDeposits> = {}): KnownDeposits => ({
  network: { ...ETHEREUM, assets: [{ asset: 'ETH', decimals: 18, minimum: '1000' }] },
  creditsPerUnit: 10_000n,
  now,
  deposits: new Map([['0xa', deposit]]),
  payments: [],
  ignored: new Map(),
  ...more,
});
const buildSeen = (more: Partial<SeenTransfer> = {}): SeenTransfer => ({
  txid: '0x1',
  index: 'value',
  to: '0xa',
  amount: 10n ** 18n,
  block: { height: 7, hash: '0x7', time: minutes(-11) },
  ...more,
});
const block = (time: Date) => ({ block: { height: 7, hash: '0x7', time } });
const one = (more: Partial<SeenTransfer>, overrides?: Partial<KnownDeposits>) =>
  updateRows([buildSeen(more)], buildKnown(overrides))[0];

describe('a transfer', () => {
  test('in a block from before the quote expired has its rate, however late the scanner is', () => {
    expect(one({})).toMatchObject({
      state: 'confirming',
      late: false,
      rate: deposit.rate,
      at: minutes(-11),
      height: 7,
    });
    expect(one(block(minutes(-9)))).toMatchObject({ state: 'confirming', late: true, rate: null });
  });

  test('is not late because its block says a time to come', () => {
    const open = { ...deposit, expires_at: minutes(1) };
    expect(one(block(minutes(90)), { deposits: new Map([['0xa', open]]) })).toMatchObject({ late: false, at: now });
  });

  test('over another network to the same address is its customer’s, at the rate of its time', () => {
    const network = { ...ETHEREUM, network: 'base', chainId: 8453 };
    expect(one({}, { network })).toMatchObject({
      network: 'base',
      deposit_id: 'dep-1',
      state: 'confirming',
      rate: null,
    });
  });

  test.each<[string, Partial<SeenTransfer>, string]>([
    ['of a token that is not taken', { contract: '0xbad' }, 'wrong_token'],
    ['of less than the minimum', { amount: 999n }, 'dust'],
    ['of less than a credit', { amount: 33_333_333_333n }, 'dust'],
    ['of more than anybody pays', { amount: 10n ** 28n }, 'too_large'],
  ])('%s is ignored, and it is said why', (_what, more, reason) => {
    expect(one(more)).toMatchObject({ state: 'ignored', reason });
  });

  test('to an unknown address, or of nothing, is not stored', () => {
    expect(updateRows([buildSeen({ to: '0xb' }), buildSeen({ amount: 0n })], buildKnown())).toEqual([]);
  });

  test('that has not changed is not stored again; one that moved is', () => {
    const rows = updateRows([buildSeen()], buildKnown());
    expect(updateRows([buildSeen(), buildSeen()], buildKnown({ payments: rows }))).toEqual([]);
    const moved = buildSeen({ block: { height: 8, hash: '0x8', time: minutes(5) } });
    expect(updateRows([moved], buildKnown({ payments: rows }))).toEqual([{ ...rows[0], height: 8, block_hash: '0x8' }]);
  });

  test('of a token that anybody can make is kept a few times', () => {
    const many = Array.from({ length: 50 }, (_, n) => buildSeen({ contract: '0xbad', index: String(n) }));
    expect(updateRows(many, buildKnown({ ignored: new Map([['dep-1', 5]]) }))).toHaveLength(MAX_IGNORED - 5);
    expect(updateRows([...many, buildSeen()], buildKnown({ ignored: new Map([['dep-1', 99]]) }))).toHaveLength(1);
  });
});

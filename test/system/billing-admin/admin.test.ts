/**
 * Tests manual operations of staff: each is done once, has a reason, and is in an audit; and reconciling finds differences.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCredits, runAdmin } from '../../../src/service/billing/audit/admin/command.ts';
import { readStatement } from '../../../src/service/billing/ledger/store.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { query } from '../../kit/real/postgres.ts';

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
  await query(
    it.url,
    `insert into auth."user" (id, email, name, "firstName", "emailVerified", "createdAt", "updatedAt")
      values ('0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', 'ada@example.com', 'Ada', 'Ada', true, now(), now())`,
  );
});
afterAll(async () => it?.stop());

async function admin(...args: string[]) {
  const told = { code: 0, out: '', error: '' };
  told.code = await runAdmin(args, {
    open: () => createDb(createPool(it.url, { searchPath: 'loopstream', max: 2 })),
    currency: 'USD',
    print: (text) => {
      told.out += text;
    },
    complain: (text) => {
      told.error += text;
    },
  });
  return told;
}
const BY = ['--by', 'grace', '--reason', 'welcome'];

describe('credit', () => {
  test('is given by e-mail or id, once for a key, and shown in the statement and the audit', async () => {
    const first = await admin('grant', 'Ada@example.com', '--amount', '1.50', '--key', 'k1', ...BY);
    expect(first).toMatchObject({ code: 0, error: '' });
    expect(first.out).toContain('15000 credits (1.50 USD) for ada@example.com (0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607)');
    const again = JSON.parse(
      (
        await admin(
          'grant',
          '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
          '--credits',
          '15000',
          '--key',
          'k1',
          '--json',
          ...BY,
        )
      ).out,
    );
    expect(again).toMatchObject({
      accountId: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
      done: false,
      credits: '15000',
      balance: '15000',
      key: 'k1',
    });
    const refund = [
      'refund',
      '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
      '--credits',
      '7',
      '--by',
      'grace',
      '--reason',
      'off air on Sunday',
      '--json',
    ];
    expect(JSON.parse((await admin(...refund)).out)).toMatchObject({ done: true, balance: '15007' });

    const { out } = await admin('statement', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607');
    expect(out).toContain('ada@example.com (0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607): 15007 credits');
    expect(out).toMatch(/2 +\S+ +refund +7 +15007 +off air on Sunday/);
    const entries = await readStatement(
      it.db,
      { accountId: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', ascending: true },
      { skip: 0, limit: 9 },
    );
    expect(entries.map(({ kind, credits }) => [kind, credits])).toEqual([
      ['grant', 15_000n],
      ['refund', 7n],
    ]);
    const audit = JSON.parse((await admin('audit', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--json')).out);
    expect(audit).toMatchObject([
      {
        staff: 'grace',
        action: 'refund',
        account_id: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
        credits: '7',
        reason: 'off air on Sunday',
      },
      { staff: 'grace', action: 'grant', credits: '15000', reason: 'welcome' },
    ]);
  });

  test('is not given where it is not said to whom, how much and why', async () => {
    const grant = (...args: string[]) => admin('grant', ...args);
    await expect(grant('--credits', '5', ...BY)).rejects.toThrow('The account is missing');
    await expect(grant('0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--credits', '5')).rejects.toThrow('--reason');
    await expect(grant('0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--credits', '5', '--reason', ' ')).rejects.toThrow(
      '--reason',
    );
    await expect(grant('0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', ...BY)).rejects.toThrow(
      'exactly one of --credits and --amount',
    );
    await expect(grant('0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', 'bob', '--credits', '5', ...BY)).rejects.toThrow(
      'Unexpected argument: bob',
    );
    await expect(admin('gift', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607')).rejects.toThrow('"gift" is not a command');
    await expect(admin()).rejects.toThrow('The command is missing');
    await expect(admin('audit', '--frist', '5')).rejects.toThrow('--frist');
    const nobody = await grant('nobody@example.com', '--credits', '5', ...BY);
    expect(nobody).toMatchObject({ code: 1, out: '' });
    expect(nobody.error).toBe(
      'loopstream: Account nobody@example.com does not exist. Give the id or the e-mail address of an account.\n',
    );
  });

  test.each([
    [{ credits: '10' }, 'USD', 2, 10n],
    [{ amount: '1.5' }, 'USD', 2, 15_000n],
    [{ amount: '0.01' }, 'USD', 2, 100n],
    [{ amount: '150' }, 'JPY', 0, 15_000n],
  ])('%j in %s with %i digits is as many credits as that', (given, currency, digits, credits) => {
    expect(parseCredits(given, currency, digits)).toBe(credits);
  });

  test.each([
    { credits: '-5' },
    { credits: '0' },
    { credits: '1.5' },
    { amount: '1.505' },
    { amount: '1,50' },
    { credits: '1'.repeat(20) },
  ])('%j is refused', (given) => expect(() => parseCredits(given, 'USD', 2)).toThrow('loopstream admin --help'));
});

test('an account is locked and unlocked once, and the reasons are kept', async () => {
  const suspend = () =>
    admin('suspend', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--by', 'grace', '--reason', 'case 4711', '--json');
  expect(JSON.parse((await suspend()).out)).toMatchObject({ done: true, state: 'suspended' });
  expect(JSON.parse((await suspend()).out)).toMatchObject({ done: false, state: 'suspended' });
  expect(
    (await admin('resume', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--by', 'grace', '--reason', 'closed')).out,
  ).toContain('is not suspended');
  expect(
    (await admin('resume', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', '--by', 'grace', '--reason', 'closed')).out,
  ).toContain('as it was before');
  const { out } = await admin('audit', '--limit', '2');
  expect(out).toMatch(
    /grace +resume +0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607 +closed\n.*grace +suspend +0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607 +case 4711/,
  );
});

test.each([
  "update loopstream.admin_audit set reason = 'none'",
  'delete from loopstream.admin_audit',
  'truncate loopstream.admin_audit',
])('the audit refuses: %s', async (statement) => {
  await expect(query(it.url, statement)).rejects.toMatchObject({ code: 'LS001' });
});

describe('reconciling', () => {
  const differences = async () => {
    const { code, out } = await admin('reconcile', '--json');
    return { code, found: JSON.parse(out).differences as Record<string, string>[] };
  };
  const METERED = `insert into loopstream.meter_streams (stream_uid, stream_id, account_id) values ('u1', 'str-1', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607');
    insert into loopstream.meter_sessions (stream_uid, session, seconds, cost, credits, charged_seconds, charges, until)
      values ('u1', 3, 40, 1440000, 40, 40, 2, now())`;
  const charge = (n: number) => ({
    key: `charge:u1:3:${n}`,
    accountId: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
    credits: 20n,
    at: new Date(),
    details: { streamID: 'str-1', seconds: '20' },
  });

  test('finds nothing where all adds up', async () => {
    await query(it.url, METERED);
    await it.ledger.chargeAll([charge(1), charge(2)]);
    await query(
      it.url,
      `insert into loopstream.topups (id, account_id, amount_minor, currency, state, paid_minor, created_at, expires_at)
        values ('top-1', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', 500, 'USD', 'paid', 500, now(), now())`,
    );
    const entries = [{ account: 'cash:card', credits: -50_000n }].concat({
      account: 'customer:0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
      credits: 50_000n,
    });
    const topUp = {
      key: 'topup:top-1',
      kind: 'topup',
      accountId: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
      entries,
      at: new Date(),
    } as const;
    await it.ledger.post({ ...topUp, details: { topUpID: 'top-1' } });
    expect(await differences()).toEqual({ code: 0, found: [] });
    expect((await admin('reconcile')).out).toMatch(/what +checked +differences\nledger +\d+ +0\nmeter +4 +0\n/);
  });

  type Case = [string, () => Promise<unknown>, string, string, string | undefined, string | null, string | null];
  const cases: Case[] = [
    ['a charge that nobody metered', () => it.ledger.charge(charge(3)), 'meter', 'charged credits', 'u1:3', '60', '40'],
    [
      'credit that nobody paid',
      () => query(it.url, 'update loopstream.topups set paid_minor = 400'),
      'top-ups',
      'credited',
      'top-1',
      '50000',
      '40000',
    ],
    [
      'a balance that somebody turned at',
      () =>
        query(
          it.url,
          `begin; alter table loopstream.ledger_balances disable trigger by_entries;
            update loopstream.ledger_balances set balance = 1 where account = 'customer:0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607';
            alter table loopstream.ledger_balances enable always trigger by_entries; commit`,
        ),
      'ledger',
      'balance',
      'customer:0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
      '1',
      '64947',
    ],
    [
      'credit in the name of staff that nobody wrote down',
      () =>
        it.ledger.post({
          key: 'admin:by-hand',
          kind: 'grant',
          accountId: 'bob',
          at: new Date(),
          entries: [{ account: 'grants', credits: -9n }].concat({ account: 'customer:bob', credits: 9n }),
        }),
      'staff',
      'given by staff',
      undefined,
      '9',
      null,
    ],
    [
      'a deposit that was not credited',
      () =>
        query(
          it.url,
          `insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key, key_id,
              address_index, rate, expires_at, created_at)
            values ('dep-1', '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', 'ethereum', 'ETH', 18, '0x1', '0x1', 'k', 1, 1, now(), now());
          insert into loopstream.crypto_payments (network, txid, index, deposit_id, amount, at, late, state, credits)
            values ('ethereum', '0x2', '0', 'dep-1', 5, now(), false, 'credited', 77)`,
        ),
      'deposits',
      'credited',
      'dep-1',
      null,
      '77',
    ],
  ];
  test.each(cases)('finds %s', async (_what, spoil, noun, what, subject, found, expected) => {
    await spoil();
    const all = await differences();
    expect(all.code).toBe(1);
    const same = { of: noun, what, found, expected, ...(subject !== undefined && { subject }) };
    expect(all.found).toEqual(expect.arrayContaining([expect.objectContaining(same)]));
  });
});

test('accounts to review are listed with each reason, by their addresses as long as they have one', async () => {
  const ADA = '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607';
  await admin('suspend', ADA, '--reason', 'case 4712', ...BY.slice(0, 2));
  await it.ledger.charge({ key: 'charge:u9:1:1', accountId: 'carl', credits: 5n, at: new Date(), floor: -5n });
  await query(
    it.url,
    `insert into loopstream.topups (id, account_id, amount_minor, currency, state, created_at, expires_at)
      values ('top-2', 'dora', 500, 'USD', 'open', now(), now());
    insert into loopstream.topup_reversals (id, topup_id, kind, amount_minor, state)
      values ('dp_1', 'top-2', 'dispute', 500, 'taken'), ('dp_2', 'top-2', 'dispute', 500, 'returned');
    insert into loopstream.account_flags (account_id, reason, subject, credits)
      values ('dora', 'unpaid_credits_used', 'top-2', 70);
    insert into loopstream.crypto_payments (network, txid, index, deposit_id, amount, at, late, state, reason)
      values ('ethereum', '0x3', '0', 'dep-1', 5, now(), false, 'ignored', 'too_large')`,
  );
  const found = JSON.parse((await admin('flagged', '--json')).out) as {
    accountId: string;
    email: string | null;
    flags: { flag: string; details: string }[];
  }[];
  const findFlagged = (accountId: string) => found.find((one) => one.accountId === accountId);
  expect(findFlagged(ADA)?.email).toBe('ada@example.com');
  expect(findFlagged(ADA)?.flags).toEqual(
    expect.arrayContaining([
      { flag: 'suspended', details: expect.stringMatching(/^since \d{4}-\d\d-\d\d: case 4712$/) },
      { flag: 'deposit', details: 'too_large, transaction 0x3' },
      // The differences that earlier tests caused.
      { flag: 'difference', details: 'meter: charged credits of u1:3 is 60, expected 40' },
      { flag: 'difference', details: expect.stringMatching(/^deposits: credited of dep-1 is missing, expected 77/) },
    ]),
  );
  expect(findFlagged('carl')).toMatchObject({
    email: null,
    flags: expect.arrayContaining([{ flag: 'negative', details: '-5 credits' }]),
  });
  expect(findFlagged('dora')?.flags).toEqual([
    { flag: 'dispute', details: 'taken, of top-up top-2' },
    { flag: 'unpaid', details: '70 credits, of top-2' },
  ]);
  const { out } = await admin('flagged');
  expect(out).toMatch(/^account +e-mail +flag +why\n/);
  expect(out).toMatch(/\ncarl +- +negative +-5 credits\n/);
});

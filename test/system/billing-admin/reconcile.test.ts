/**
 * Tests that reconciling finds each kind of difference: in a consistent database, a superuser drops the triggers and
 * changes one row. The report names the difference, its subject and the remedy.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { Session } from '../../../src/core/resources/stream/sessions.ts';
import { runAdmin } from '../../../src/service/billing/audit/admin/command.ts';
import { parsePrices } from '../../../src/service/billing/ledger/prices.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { query } from '../../kit/real/postgres.ts';

const ADA = '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607';
const PRICES = parsePrices(
  JSON.stringify(
    ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
      [24, 25, 30, 60].flatMap((framerate) => [
        { quality, framerate, creditsPerHour: 36_000 },
        { quality, framerate, creditsPerHour: 72_000, from: '2026-06-01T00:00:00Z' },
      ]),
    ),
  ),
);

const session = (number: number, onAirSeconds: number, more: Partial<Session> = {}): Session => ({
  number,
  podUID: 'pod',
  startedAt: '2026-05-01T00:00:00Z',
  onAirSeconds,
  ...more,
});
/** The streams in Kubernetes: the first session is closed, the second one is open. */
const STREAMS = [
  {
    metadata: { name: 'str-1', uid: 'u1', labels: { [ACCOUNT_LABEL]: ADA } },
    status: {
      sessions: [session(1, 100.5, { endedAt: '2026-05-01T00:02:00Z' }), session(2, 10.2)],
      acknowledgedSession: 1,
    },
  },
] as unknown as LoopStream[];

let it: TestLedger;
const reconcile = async (...args: string[]) => {
  const told = { out: '' };
  const code = await runAdmin(['reconcile', ...args], {
    open: () => createDb(createPool(it.url, { searchPath: 'loopstream', max: 2 })),
    currency: 'USD',
    sources: { currency: 'USD', prices: PRICES, streams: async () => STREAMS },
    print: (text) => {
      told.out += text;
    },
    complain: (text) => {
      throw new Error(text);
    },
  });
  return { code, ...told };
};
interface Found {
  of: string;
  what: string;
  subject: string;
  advice: string;
}
const found = async (): Promise<Found[]> => JSON.parse((await reconcile('--json')).out).differences;

const charge = (number: number, n: number, seconds: string, credits: bigint, from: string, creditsPerHour: string) => ({
  key: `charge:u1:${number}:${n}`,
  accountId: ADA,
  credits,
  at: new Date('2026-05-01T00:02:00Z'),
  details: { streamID: 'str-1', session: String(number), seconds, profile: '720p30', creditsPerHour, from, to: from },
});

beforeAll(async () => {
  it = await startTestLedger();
  await query(
    it.url,
    `insert into auth."user" (id, email, name, "firstName", "emailVerified", "createdAt", "updatedAt")
      values ('${ADA}', 'ada@example.com', 'Ada', 'Ada', true, now(), now());
    insert into loopstream.meter_streams (stream_uid, stream_id, account_id) values ('u1', 'str-1', '${ADA}');
    insert into loopstream.meter_sessions (stream_uid, session, seconds, cost, credits, charged_seconds, charges, until)
      values ('u1', 1, 100.5, 36180000, 1005, 100.5, 1, now()), ('u1', 2, 10, 5400000, 150, 10, 2, now());
    insert into loopstream.topups (id, account_id, amount_minor, currency, state, paid_minor, created_at, expires_at)
      values ('top-1', '${ADA}', 500, 'USD', 'paid', 500, now(), now());
    insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key, key_id,
        address_index, rate, expires_at, created_at)
      values ('dep-1', '${ADA}', 'ethereum', 'ETH', 18, '0x1', '0x1', 'k', 1, 300000000000, now(), now());
    insert into loopstream.crypto_payments (network, txid, index, deposit_id, asset, amount, at, late, state, rate, credits)
      values ('ethereum', '0x2', 'value', 'dep-1', 'ETH', 1000000000000000, now(), false, 'credited', 300000000000, 30000);
    insert into loopstream.invoice_counters (series, last) values ('2026', 1);
    insert into loopstream.invoices (id, account_id, series, sequence, kind, number, issued_at, total_credits, total_minor, content)
      values ('inv-1', '${ADA}', '2026', 1, 'invoice', '2026-1', now(), 1155, 12, '{"lines":[{"credits":"1005"},{"credits":"150"}]}')`,
  );
  const post = (key: string, kind: 'topup' | 'deposit', other: string, credits: bigint, details: object) =>
    it.ledger.post({
      key,
      kind,
      accountId: ADA,
      at: new Date(),
      details: { ...details },
      entries: [{ account: other, credits: -credits }].concat({ account: `customer:${ADA}`, credits }),
    });
  await post('topup:top-1', 'topup', 'cash:card', 50_000n, { topUpID: 'top-1' });
  await post('deposit:ethereum:0x2:value', 'deposit', 'cash:crypto:ETH', 30_000n, { deposit: 'dep-1' });
  await it.ledger.chargeAll([
    charge(1, 1, '100.5', 1005n, '2026-05-01T00:00:00.000Z', '36000'),
    charge(2, 1, '5', 50n, '2026-05-31T23:59:55.000Z', '36000'),
    charge(2, 2, '5', 100n, '2026-06-01T00:00:00.000Z', '72000'),
  ]);
  await runAdmin(['grant', ADA, '--credits', '7', '--by', 'grace', '--reason', 'welcome'], {
    open: () => createDb(createPool(it.url, { searchPath: 'loopstream', max: 2 })),
    currency: 'USD',
    print: () => undefined,
    complain: () => undefined,
  });
  await query(it.url, `insert into loopstream.invoice_progress values ('${ADA}', now(), 99)`);
});
afterAll(async () => it?.stop());

test('where all adds up there is nothing to do', async () => {
  const { code, out } = await reconcile();
  expect(out).toMatch(
    /^what +checked +differences\nledger +6 +0\nmeter +8 +0\nprices +5 +0\nsessions +2 +0\ntop-ups +2 +0\n/,
  );
  expect(code).toBe(0);
});

/** Removes the triggers for a change, and restores everything afterwards. */
async function forged(table: string, change: string, look: () => Promise<void>): Promise<void> {
  const at = `loopstream.${table}`;
  const off = `alter table ${at} disable trigger all`;
  await query(it.url, `begin; create table loopstream.kept as select * from ${at}; ${off}; ${change}; commit`);
  try {
    await look();
  } finally {
    await query(
      it.url,
      `begin; delete from ${at}; insert into ${at} overriding system value select * from loopstream.kept;
        drop table loopstream.kept; commit`,
    );
  }
}

const ENTRY = `account = 'customer:${ADA}' and number = 6`;
const CHARGE = `key = 'charge:u1:1:1'`;
const set = (table: string, to: string, where = 'true') =>
  [table, `update loopstream.${table} set ${to} where ${where}`] as const;
const CASES: [what: string, forgery: readonly [table: string, change: string], found: string[]][] = [
  [
    'an entry that says more',
    set('ledger_entries', 'credits = credits + 1', ENTRY),
    ['ledger: balance', 'ledger: balance after entry 6', 'ledger: transaction sum', 'staff: given by staff'],
  ],
  [
    'an entry that is gone',
    ['ledger_entries', `delete from loopstream.ledger_entries where ${ENTRY}`],
    ['ledger: balance', 'ledger: transaction sum', 'staff: given by staff'],
  ],
  ['an entry under another number', set('ledger_entries', 'number = 99', ENTRY), ['ledger: entry number']],
  ['a balance', set('ledger_balances', 'balance = 1'), ['ledger: balance']],
  [
    'a transaction of another account',
    set('ledger_transactions', `account_id = 'eve'`, `key = 'topup:top-1'`),
    ['ledger: account of a transaction'],
  ],
  ['credits of a session', set('meter_sessions', 'credits = 1004', 'session = 1'), ['meter: charged credits']],
  ['charged seconds', set('meter_sessions', 'charged_seconds = 99', 'session = 1'), ['meter: charged seconds']],
  ['charges of a session', set('meter_sessions', 'charges = 2', 'session = 1'), ['meter: charges']],
  [
    'the cost of a session',
    set('meter_sessions', 'cost = cost + 36000', 'session = 1'),
    ['meter: credits for its seconds'],
  ],
  [
    'the seconds of a charge',
    set('ledger_transactions', `details = details || '{"seconds":"90"}'`, CHARGE),
    ['meter: charged seconds', 'prices: credits at those prices'],
  ],
  [
    'the price of a charge',
    set('ledger_transactions', `details = details || '{"creditsPerHour":"36001"}'`, CHARGE),
    ['prices: price of an hour'],
  ],
  [
    'the time of a charge, when another price held',
    set('ledger_transactions', `details = details || '{"from":"2026-06-02T00:00:00Z"}'`, CHARGE),
    ['prices: price of an hour'],
  ],
  [
    'less time than the pods told of a session that is done with',
    set('meter_sessions', 'seconds = 100.5 - 0.1, charged_seconds = 100.4', 'session = 1'),
    ['meter: charged seconds', 'sessions: counted seconds, acknowledged'],
  ],
  [
    'more time than the pods have told',
    set('meter_sessions', 'seconds = 10.3', 'session = 2'),
    ['sessions: counted seconds'],
  ],
  ['what was paid by card', set('topups', 'paid_minor = 499'), ['top-ups: cash', 'top-ups: credited']],
  [
    'money that went back by card',
    [
      'topup_reversals',
      `insert into loopstream.topup_reversals values ('re_1', 'top-1', 'refund', 100, 'taken', 10000, 0)`,
    ],
    ['top-ups: cash', 'top-ups: credited'],
  ],
  [
    'the worth of a payment',
    set('crypto_payments', 'credits = 30001'),
    ['deposits: cash', 'deposits: credited', 'deposits: credits for its amount'],
  ],
  ['the amount of a payment', set('crypto_payments', 'amount = amount * 2'), ['deposits: credits for its amount']],
  [
    'a payment that is not confirmed',
    set('crypto_payments', `state = 'confirming'`),
    ['deposits: cash', 'deposits: credited'],
  ],
  [
    'the sum of an invoice',
    set('invoices', 'total_credits = 1156'),
    ['invoices: invoiced', 'invoices: sum of the lines'],
  ],
  [
    'a line of an invoice',
    set('invoices', `content = '{"lines":[{"credits":"1005"}]}'`),
    ['invoices: sum of the lines'],
  ],
  [
    'an invoice that is gone',
    ['invoices', 'delete from loopstream.invoices'],
    ['invoices: invoiced', 'invoices: numbers of the series'],
  ],
  ['a deed of staff', set('admin_audit', 'credits = 8'), ['staff: given by staff']],
];

test.each(CASES)('%s, forged in one row, is found, with the remedy', async (_what, [table, change], expected) => {
  await forged(table, change, async () => {
    const all = await found();
    expect(all.map(({ of: noun, what }) => `${noun}: ${what}`).sort()).toEqual(expected);
    for (const { advice } of all) expect(advice).toMatch(/^[A-Z].{40,}\.$/);
    const { code, out } = await reconcile();
    expect(code).toBe(1);
    expect(out).toContain(all[0]?.advice);
  });
  expect(await found()).toEqual([]);
});

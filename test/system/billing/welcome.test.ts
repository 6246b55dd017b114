/** Tests welcome grants on a real ledger: one for a mailbox, for ever, and a bound on those of a day. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccountClasses } from '../../../src/service/billing/ledger/account-class.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createWelcome, type WelcomeGrant } from '../../../src/service/billing/ledger/welcome.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { query } from '../../kit/real/postgres.ts';

let it: TestLedger;
beforeAll(async () => {
  it = await startTestLedger();
});
afterAll(async () => it?.stop());

const welcomeOf = (grant: Partial<WelcomeGrant> = {}) =>
  createWelcome({
    db: it.db,
    ledger: createLedger(it.db),
    secret: 'a secret of the tests, 32 characters',
    amountMinor: 500n,
    perDay: 1000,
    ...grant,
  });
const newAddress = () => `${randomUUID()}@example.com`;

describe('a welcome grant', () => {
  test('is posted once for an account, however often it is asked for at once', async () => {
    const accountId = randomUUID();
    const address = newAddress();
    const results = await Promise.all(Array.from({ length: 5 }, () => welcomeOf()(accountId, address)));
    expect(results.toSorted()).toEqual(['granted', 'known', 'known', 'known', 'known']);
    expect(await createLedger(it.db).balance(accountId)).toBe(50_000n);
  });

  test.each([
    ['in upper case', (one: string) => `${one.toUpperCase()}@EXAMPLE.COM`],
    ['with a tag', (one: string) => `${one}+second@example.com`],
  ])('is not posted for a second account of the same mailbox, whose address is %s', async (_, write) => {
    const local = randomUUID();
    expect(await welcomeOf()(randomUUID(), `${local}@example.com`)).toBe('granted');
    const second = randomUUID();
    expect(await welcomeOf()(second, write(local))).toBe('known');
    // Another amount makes no other grant of it.
    expect(await welcomeOf({ amountMinor: 700n })(second, write(local))).toBe('known');
    expect(await createLedger(it.db).balance(second)).toBe(0n);
  });

  test('leaves no address in the ledger', async () => {
    const accountId = randomUUID();
    await welcomeOf()(accountId, 'grace.hopper@example.com');
    const rows = await query(it.url, 'select key, details::text from loopstream.ledger_transactions');
    expect(JSON.stringify(rows)).not.toMatch(/hopper|example\.com/i);
  });

  test('keeps an account on trial, as credit of its own does not', async () => {
    const accountId = randomUUID();
    const findClass = createAccountClasses({ db: it.db, enabled: true });
    await welcomeOf()(accountId, newAddress());
    expect(await findClass(accountId)).toBe('trial');
    const entries = [
      { account: `customer:${accountId}`, credits: 1n },
      { account: 'cash:card', credits: -1n },
    ];
    await createLedger(it.db).post({ key: randomUUID(), kind: 'topup', accountId, entries, at: new Date() });
    expect(await findClass(accountId)).toBe('full');
  });

  test('is not posted where its amount is 0', async () => {
    const accountId = randomUUID();
    expect(await welcomeOf({ amountMinor: 0n })(accountId, newAddress())).toBe('off');
    expect(await createLedger(it.db).balance(accountId)).toBe(0n);
  });

  test('has a bound on those of 24 hours, which accounts made at once do not pass', async () => {
    const before = await query(
      it.url,
      "select count(*) as n from loopstream.ledger_transactions where key like 'welcome:%'",
    );
    const welcome = welcomeOf({ perDay: Number(before[0]?.n) + 3 });
    const results = await Promise.all(Array.from({ length: 12 }, () => welcome(randomUUID(), newAddress())));
    expect(results.filter((result) => result === 'granted')).toHaveLength(3);
    expect(results.filter((result) => result === 'spent')).toHaveLength(9);
  });
});

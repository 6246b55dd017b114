/**
 * Tests the dashboard's pages of money: the balance and how long it lasts, usage, the statement, and the ways to pay.
 * test/system/billing/pages.test.ts tests crypto deposits and invoices, with a chain and a seller.
 */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createLedger, type Ledger } from '../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool } from '../../src/service/db/pool.ts';
import { adjustCredit } from '../kit/make/grant.ts';
import {
  expectForEverybody,
  expectToWaitAndRecover,
  leaveBrowser,
  shareBrowser,
  type Visit,
  visit,
} from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { readSetting } from '../kit/system/traces.ts';

let system: SharedSystem;
let browser: Browser;
let pool: ReturnType<typeof createPool>;
let ledger: Ledger;
let accountId: string;
let at: Visit;
let booked = 0;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  pool = createPool(readSetting(system, 'api', 'LOOPSTREAM_DATABASE_URL'), { searchPath: 'loopstream', max: 1 });
  ledger = createLedger(createDb(pool));
  accountId = (await system.client.me()).id;
});
afterAll(async () => {
  await leaveBrowser(browser);
  await pool?.end();
});
afterEach(async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
});

async function open(path: string): Promise<Page> {
  at = await visit(browser, system, path);
  return at.page;
}

/** Sets the balance to `credits`. */
async function have(credits: bigint): Promise<void> {
  const change = credits - (await ledger.balance(accountId));
  if (change !== 0n) await adjustCredit(ledger, accountId, change, { reason: 'For <b>testing</b>' });
}

async function charge(streamID: string, credits: bigint, seconds: number): Promise<void> {
  booked += 1;
  const details = { streamID, session: 'one', seconds: String(seconds), profile: '720p30' };
  await ledger.charge({ key: `charge:${accountId}:${booked}`, accountId, credits, at: new Date(), details });
}

test('used-up credit shows on every page, with the way to more of it', async () => {
  await have(0n);
  const page = await open('/destinations');
  await page.getByTestId('credit-banner').filter({ hasText: 'used up' }).waitFor();
  await expectForEverybody(page);
  // Nobody can pay on this system, so the banner says whom to ask.
  await page
    .getByTestId('credit-banner')
    .filter({ hasText: 'Ask the operators of this service for credit.' })
    .waitFor();
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByTestId('balance').filter({ hasText: '$0.00' }).waitFor();
  await page.getByText('No payments by card yet.').waitFor();
  // The page of the balance says it itself.
  await page.getByText('Your credit is used up.').waitFor();
  expect(await page.getByTestId('credit-banner').count()).toBe(0);
  await have(420_000n);
  await page.reload();
  await page.getByTestId('balance').filter({ hasText: '$42.00' }).waitFor();
  expect(await page.getByTestId('credit-banner').count()).toBe(0);
});

test('usage by day and by stream, and as a file, equals the ledger, to the credit', async () => {
  await have(1_000_000n);
  // A deleted stream still shows with its id.
  await charge('str-of-yesterday', 12_345n, 3600);
  await charge('str-of-yesterday', 55n, 60);
  const page = await open('/billing');
  await page.getByTestId('usage-sum').filter({ hasText: '$1.24 for 1 h 1 min on air' }).waitFor();
  await page.locator('[data-testid="usage-chart"] path.recharts-rectangle').first().waitFor();
  await page.getByRole('row', { name: /str-of-yesterday.*1 h 1 min.*\$1\.24/ }).waitFor();
  await page.getByText('-$0.0055').waitFor();
  await page.getByText('For <b>testing</b>').first().waitFor();
  await expectForEverybody(page);

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const csv = await readFile(await (await download).path(), 'utf8');
  expect(csv).toContain('str-of-yesterday');
  expect(csv).toContain('12400');
  expect((await system.client.billing.usage({ groupBy: 'stream' })).credits).toBe('12400');
  await expectToWaitAndRecover(page, '**/v1/billing', {
    loading: 'Loading your balance',
    failure: 'Your balance could not be loaded',
  });
});

test('a card: the amount is checked and kept, pressed twice it is asked for once, and the provider’s page is gone to', async () => {
  const page = await open('/billing');
  // The system has no payment provider, so the page offers none.
  await page.getByText('Ask the operators of this service for credit.').waitFor();
  expect(await page.getByRole('button', { name: 'Add credit' }).count()).toBe(0);
  await page.route('**/v1/billing', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), paymentMethods: ['card'] } });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Add credit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add credit by card' });
  await dialog.getByRole('radio', { name: 'Other' }).check();
  const other = dialog.getByLabel('Other amount');
  for (const wrong of ['', '-5', '1e9', '<script>', "1'; DROP TABLE users; --", '0']) {
    await other.fill(wrong);
    await dialog.getByRole('button', { name: 'Go to payment' }).click();
    await dialog.getByText('Enter an amount, such as 25 or 25.50.').waitFor();
    expect(await other.inputValue()).toBe(wrong);
  }
  await expectForEverybody(page);
  await other.fill('12,50');
  // The page also reports a payment that is not set up.
  await dialog.getByRole('button', { name: 'Go to payment' }).click();
  await dialog.getByText('This service accepts no cards').waitFor();
  expect(await other.inputValue()).toBe('12,50');

  const asked: unknown[] = [];
  await page.route('**/v1/billing/top-ups', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    asked.push(route.request().postDataJSON());
    await route.fulfill({ status: 201, json: { checkoutUrl: 'https://pay.example/session' } });
  });
  await page.route('https://pay.example/**', (route) => route.fulfill({ contentType: 'text/html', body: 'Pay here' }));
  await dialog.getByRole('button', { name: 'Go to payment' }).dblclick();
  await page.waitForURL('https://pay.example/session');
  expect(asked).toEqual([{ amountMinor: '1250', currency: 'USD' }]);
});

test('the page says that there are no invoices yet; the recipient is kept, and an error stands at its field', async () => {
  const page = await open('/billing?form=address');
  await page.getByText('The first invoice follows a month').waitFor();
  const dialog = page.getByRole('dialog', { name: 'Invoice address' });
  await dialog.getByLabel('Company or person').fill('<b>Lamps</b> & more');
  const city = dialog.getByLabel('City');
  await city.fill('x'.repeat(300));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => city.getAttribute('aria-invalid')).toBe('true');
  await expectForEverybody(page);
  await city.fill('Berlin');
  await dialog.getByLabel('Country').selectOption({ label: 'Germany' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await system.client.billingAddress.get()).toMatchObject({ name: '<b>Lamps</b> & more', country: 'DE' });
});

/**
 * Tests the pages of money in a browser, before the real API, a real chain and real invoices. Changes made elsewhere appear without a
 * reload, because the feed of changes reports them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Registry } from 'prom-client';
import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScan } from '../../../src/service/billing/crypto/job.ts';
import { scanMetrics } from '../../../src/service/billing/crypto/metrics.ts';
import { openCrypto } from '../../../src/service/billing/crypto/open.ts';
import { createIssuer } from '../../../src/service/billing/invoices/issue.ts';
import { createInvoiceJob } from '../../../src/service/billing/invoices/job.ts';
import { createLedger, customer, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';
import type { CryptoDeposit } from '../../../src/service/client/index.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { CRYPTO_SETTINGS, ETHEREUM } from '../../kit/make/crypto-settings.ts';
import { type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { readPdfTexts } from '../../kit/make/pdf-text.ts';
import { type Anvil, startAnvil, whyNoAnvil } from '../../kit/real/anvil.ts';
import { silent } from '../../kit/real/kube.ts';
import { expectForEverybody, launchBrowser, type Visit, visit } from '../../kit/real/page.ts';
import { ROOT } from '../../kit/system/system.ts';

const never = new AbortController().signal;

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`the pages of money${whyNot ? ` (${whyNot})` : ''}`, () => {
  let anvil: Anvil;
  let site: TestSite;
  let ada: Person;
  let browser: Browser;
  let at: Visit;
  let page: Page;
  let db: Db;
  let ledger: Ledger;
  let scan: () => Promise<void>;

  beforeAll(async () => {
    [anvil, browser] = await Promise.all([startAnvil(), launchBrowser()]);
    const network = { ...ETHEREUM, chainId: anvil.chainId, rpcUrl: anvil.url };
    const { crypto } = apiConfig({
      LOOPSTREAM_DATABASE_URL: 'postgres://none',
      LOOPSTREAM_AUTH_SECRET: 'none',
      ...CRYPTO_SETTINGS,
      LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify([network]),
    });
    site = await startTestSite({ billing: true, crypto, dashboardDir: join(ROOT, 'dist/dashboard') });
    db = createDb(createPool(site.databaseUrl, { searchPath: 'loopstream', max: 5 }));
    ledger = createLedger(db);
    const opened = await openCrypto(crypto);
    if (!opened) throw new Error('There are no networks.');
    const metrics = scanMetrics(new Registry());
    metrics.begin(network.network);
    const run = await createScan(network, { db, ledger, metrics, log: silent, ...opened });
    scan = () => run(never);
    await anvil.mine();
    await scan();
    ada = await site.person('ada');
    const { email, password } = ada;
    at = await visit(browser, { facts: { email, password, pageUrl: `${site.url}/` } as never }, '/billing');
    ({ page } = at);
  });
  afterAll(async () => {
    await browser?.close();
    await db?.destroy();
    await site?.stop();
    await anvil?.stop();
  });

  test('a deposit: the QR code holds where to pay, and each step of the payment is there as the chain takes it', async () => {
    await page.getByRole('button', { name: 'Pay in crypto' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pay in crypto' });
    await dialog.getByText('1 ETH is worth 3000 USD now.').waitFor();
    await expectForEverybody(page);
    await dialog.getByRole('button', { name: 'Get an address' }).dblclick();
    await page.getByRole('heading', { name: 'Pay in ETH' }).waitFor();
    const all = await ada.call<{ data: unknown[] }>('GET', '/v1/crypto/deposits');
    expect(all.body.data).toHaveLength(1);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { body: deposit } = await ada.call<CryptoDeposit>('GET', `/v1/crypto/deposits/${id}`);
    await page.getByText(deposit.address, { exact: true }).waitFor();
    expect(deposit.paymentUri).toContain(deposit.address);
    // The code's squares, row by row.
    const { data } = encode(deposit.paymentUri, { border: 2 });
    const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x} ${y}`] : [])));
    const drawn = (await page.getByTestId('qr').locator('path').getAttribute('d')) ?? '';
    expect([...drawn.matchAll(/M(\d+ \d+)h1v1h-1z/g)].map(([, square]) => square)).toEqual(squares);

    await expectForEverybody(page);

    const line = page.getByTestId('deposit-line');
    const mineAndScan = async () => {
      await anvil.mine();
      await scan();
    };
    const txid = await anvil.send(deposit.address, BigInt(deposit.amount ?? 0));
    await mineAndScan();
    await line.filter({ hasText: '1 of 3 confirmations' }).waitFor();
    await page.getByRole('progressbar', { name: /^Confirmations of .* ETH$/ }).waitFor();
    expect(await page.getByTestId('qr').count()).toBe(0);
    const raw = await anvil.readRaw(txid);
    await anvil.reorg(1);
    await scan();
    await line.filter({ hasText: 'reorganized its blocks' }).waitFor();
    await anvil.rpc('eth_sendRawTransaction', raw);
    for (const confirmations of [1, 2]) {
      await mineAndScan();
      await line.filter({ hasText: `${confirmations} of 3 confirmations` }).waitFor();
    }
    await mineAndScan();
    await line.filter({ hasText: 'credited to your balance' }).waitFor();
    await expectForEverybody(page);
    await page.getByRole('link', { name: 'Billing' }).first().click();
    await page.getByTestId('balance').filter({ hasText: '$25.00' }).waitFor();
  });

  test('the balance changes as somebody else gives credit', async () => {
    const entries = [
      { account: customer(ada.accountId), credits: 50_000n },
      { account: 'grants', credits: -50_000n },
    ];
    const details = { reason: 'For waiting' };
    await ledger.post({ key: 'grant:1', kind: 'grant', accountId: ada.accountId, entries, at: new Date(), details });
    await page.getByTestId('balance').filter({ hasText: '$30.00' }).waitFor();
    await page.getByText('For waiting').first().waitFor();
  });

  test('an invoice is there when it is issued, and its PDF is the one of its number', async () => {
    await ledger.charge({
      key: 'charge:1',
      accountId: ada.accountId,
      credits: 12_300n,
      at: new Date('2026-10-05T12:00:00Z'),
      details: {
        streamID: 'str-1',
        streamName: 'Night fire',
        profile: '1080p30',
        seconds: '3600',
        creditsPerHour: '12300',
      },
    });
    const seller = { name: 'Loops', address: ['Berlin'], country: 'DE', numberPrefix: 'LS-' };
    const issuer = createIssuer({ db, ledger, seller, currency: 'USD' });
    const clock = { now: () => new Date('2026-11-02T12:00:00Z'), monotonicMs: () => 0 };
    await createInvoiceJob({ issuer, log: silent, clock }).run(never);
    const button = page.getByRole('button', { name: /^PDF of LS-2026-\d+$/ });
    await button.waitFor();
    const number = ((await button.getAttribute('aria-label')) ?? '').replace('PDF of ', '');
    const download = page.waitForEvent('download');
    await button.click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${number}.pdf`);
    const pdf = await readFile(await file.path());
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(readPdfTexts(pdf)).toEqual(expect.arrayContaining([number, 'Night fire', '1.23 USD']));
    expect(at.complaints).toEqual([]);
  });
});

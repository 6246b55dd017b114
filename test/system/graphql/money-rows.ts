/** Fills an account with many rows of every kind about money, for tests of lists. */

import { buildContent } from '../../../src/service/billing/invoices/document.ts';
import { insertInvoice } from '../../../src/service/billing/invoices/store.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { adjustCredit } from '../../kit/make/grant.ts';
import { query } from '../../kit/real/postgres.ts';

async function fillInvoices(db: Db, accountId: string, rows: number): Promise<void> {
  const line = {
    streamID: 'str-1',
    name: 'Row',
    profile: '1080p30',
    seconds: '1',
    creditsPerHour: '360',
    credits: 100n,
  };
  for (let row = 1; row <= rows; row += 1) {
    const content = buildContent({
      number: `${accountId}-${row}`,
      issuedOn: '2026-01-31',
      currency: 'USD',
      currencyDigits: 2,
      period: null,
      charged: [line],
      seller: { name: 'Loops', address: ['Dublin'], country: 'IE' },
      buyer: { name: 'Ada', address: [], country: null, taxID: null, email: null },
    });
    await insertInvoice(db, {
      id: `inv-${accountId}-${row}`,
      accountId,
      series: accountId,
      sequence: BigInt(row),
      content,
      issuedAt: new Date(),
      corrects: null,
      periodUntil: null,
      key: null,
    });
  }
}

/** Inserts ledger entries, invoices, top-ups, and deposits in ETH on `ethereum`, each of them paid. */
export async function fillMoney(databaseUrl: string, accountId: string, rows: number): Promise<void> {
  const db = createDb(createPool(databaseUrl, { searchPath: 'loopstream', max: 1 }));
  try {
    const ledger = createLedger(db);
    for (let row = 0; row < rows; row += 1) await adjustCredit(ledger, accountId, 100n);
    await fillInvoices(db, accountId, rows);
  } finally {
    await db.destroy();
  }
  const numbers = `from generate_series(1, ${rows}) n`;
  await query(
    databaseUrl,
    `insert into loopstream.topups (id, account_id, amount_minor, currency, created_at, expires_at)
     select 'top-${accountId}-' || n, '${accountId}', 500, 'USD', now(), now() ${numbers}`,
  );
  await query(
    databaseUrl,
    `insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key, key_id,
       address_index, rate, created_at, expires_at)
     select 'dep-${accountId}-' || n, '${accountId}', 'ethereum', 'ETH', 18, '0x${accountId}' || n, '0x${accountId}' || n,
       '${accountId}', n, 1, now(), now() ${numbers}`,
  );
  await query(
    databaseUrl,
    `insert into loopstream.crypto_payments (network, txid, index, deposit_id, asset, amount, at, late, state, reason, height)
     select 'ethereum', '0x${accountId}' || n, 'value', 'dep-${accountId}-' || n, 'ETH', 1, now(), false, 'ignored', 'dust', 1
     ${numbers}`,
  );
}

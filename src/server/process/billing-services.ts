/** Opens the services of billing, and the database's notifications about it. */
import { openPayments } from '../../billing/cards/open.ts';
import { createTopUpService } from '../../billing/cards/service.ts';
import { openCrypto } from '../../billing/crypto/open.ts';
import { createCryptoService } from '../../billing/crypto/service.ts';
import { readInvoiceFont } from '../../billing/invoices/font.ts';
import { createInvoiceService } from '../../billing/invoices/service.ts';
import { CHANNEL, createLedgerEvents } from '../../billing/ledger/events.ts';
import { createLedger } from '../../billing/ledger/ledger.ts';
import { createBillingService } from '../../billing/ledger/service.ts';
import { createEstimates } from '../../billing/metering/estimate.ts';
import { listen } from '../../db/listen.ts';
import type { Logger } from '../../lib/log.ts';
import type { Services } from '../services.ts';
import type { ApiConfig } from '../settings.ts';
import type { AuthParts } from './auth.ts';
import type { Resources } from './kubernetes.ts';

type MoneyServices = Pick<Services, 'billing' | 'topUps' | 'invoices' | 'crypto'>;

export async function openBillingServices(
  config: ApiConfig,
  { auth, db }: AuthParts,
  { streams }: Resources,
  log: Logger,
): Promise<MoneyServices> {
  const { currency, publicUrl } = config;
  const payments = await openPayments(config.cards);
  // Without billing nobody has to pay, so deposits stay off.
  const crypto = config.billing ? await openCrypto(config.crypto) : undefined;
  const estimates = createEstimates({ db, prices: config.prices });
  return {
    billing: createBillingService({
      db,
      enabled: config.billing,
      currency,
      paymentMethods: [...(payments ? ['card' as const] : []), ...(crypto ? ['crypto' as const] : [])],
      currentRate: (accountId) => estimates.of(accountId, streams.list(accountId)),
    }),
    topUps: createTopUpService({
      db,
      ledger: createLedger(db),
      payments,
      publicUrl,
      log,
      limits: { currency, ...config.cards },
      enabled: config.billing,
      findEmail: async (userId) => (await auth.user(userId)).email,
    }),
    invoices: createInvoiceService({ db, font: await readInvoiceFont(config.invoiceFont) }),
    crypto: createCryptoService({ db, crypto }),
  };
}

/** Follows billing changes from now on, for the feeds of accounts. */
export function followBillingChanges({ billing, databaseUrl }: ApiConfig, log: Logger, signal: AbortSignal) {
  const money = createLedgerEvents();
  // Without billing there are no changes.
  if (billing) void listen(databaseUrl, CHANNEL, { handlers: money, log, signal });
  return money.byNoun;
}

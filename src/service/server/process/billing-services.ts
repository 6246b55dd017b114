/** Opens the services of billing. */
import { computeBounds } from '../../billing/cards/limits.ts';
import { openPayments } from '../../billing/cards/open.ts';
import { createTopUpService } from '../../billing/cards/service.ts';
import { openCrypto } from '../../billing/crypto/open.ts';
import { createCryptoService } from '../../billing/crypto/service.ts';
import { readInvoiceFont } from '../../billing/invoices/font.ts';
import { createInvoiceService } from '../../billing/invoices/service.ts';
import { createLedger } from '../../billing/ledger/ledger.ts';
import { createBillingService } from '../../billing/ledger/service.ts';
import { createEstimates } from '../../billing/metering/estimate.ts';
import { createSessionService } from '../../billing/metering/session-service.ts';
import type { Services } from '../setup/services.ts';
import type { AuthParts } from './auth.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

type BillingServices = Pick<Services, 'billing' | 'topUps' | 'invoices' | 'crypto' | 'streamSessions'>;

interface BillingServicesDeps {
  auth: AuthParts;
  resources: Resources;
}

export async function openBillingServices(
  { config, log }: ProcessContext,
  { auth, resources }: BillingServicesDeps,
): Promise<BillingServices> {
  const { currency, publicUrl } = config;
  const { service, db } = auth;
  const { streams } = resources;
  const payments = await openPayments(config.cards);
  // Without billing nobody has to pay, so deposits stay off.
  const crypto = config.billing ? await openCrypto(config.crypto) : undefined;
  const estimates = createEstimates({ db, prices: config.prices });
  return {
    billing: createBillingService({
      db,
      enabled: config.billing,
      currency,
      prices: config.prices,
      supportUrl: config.supportUrl,
      paymentMethods: [...(payments ? ['card' as const] : []), ...(crypto ? ['crypto' as const] : [])],
      topUpBounds: (digits) => computeBounds({ currency, ...config.cards }, digits),
      currentRate: (accountId) => estimates.get(accountId, streams.list(accountId)),
    }),
    topUps: createTopUpService({
      db,
      ledger: createLedger(db),
      payments,
      publicUrl,
      log,
      limits: { currency, ...config.cards },
      enabled: config.billing,
      findEmail: async (userId) => (await service.user(userId)).email,
    }),
    invoices: createInvoiceService({ db, font: await readInvoiceFont(config.invoiceFont) }),
    crypto: createCryptoService({ db, crypto }),
    streamSessions: createSessionService({
      db,
      findStream: streams.get,
      prices: config.billing ? config.prices : undefined,
    }),
  };
}

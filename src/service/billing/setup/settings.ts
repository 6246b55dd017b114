/** Reads the settings of money, and those of the role `billing`. Pure: no I/O, no clock. */

import { common } from '../../../core/settings/common.ts';
import { ConfigError, type Env } from '../../../core/settings/settings.ts';
import { cells, reader } from '../../settings/settings.ts';
import { cardSettings, checkChargeable } from '../cards/settings.ts';
import { sellerSetting } from '../invoices/settings.ts';
import { isCurrency } from '../ledger/currencies.ts';
import { parsePrices } from '../ledger/prices.ts';

/** Crypto deposits: JSON that is checked where it is used (crypto/settings.ts), since that needs libraries that few roles do. */
const crypto = (env: Env) => {
  const { integer, optional, json, text } = reader(env);
  const maybe = (name: 'CRYPTO_NETWORKS' | 'CRYPTO_RATES') =>
    optional(name) === undefined ? undefined : json<unknown>(name);
  return Object.freeze({
    networks: maybe('CRYPTO_NETWORKS'),
    rates: maybe('CRYPTO_RATES'),
    ratesUrl: optional('CRYPTO_RATES_URL'),
    quoteSeconds: integer('CRYPTO_QUOTE_SECONDS'),
    currency: text('CURRENCY'),
  });
};

/** Settings that all parts of billing share. */
export const money = (env: Env) => {
  const currency = reader(env).text('CURRENCY');
  if (!isCurrency(currency))
    throw new ConfigError('LOOPSTREAM_CURRENCY must be a currency code of ISO 4217, such as USD.');
  const cards = cardSettings(env);
  checkChargeable(cards, currency);
  return {
    currency,
    prices: parsePrices(reader(env).optional('PRICES')),
    cards,
    crypto: crypto(env),
    /** The sender of invoices; without it there are none. */
    seller: sellerSetting(env),
  };
};

const METER_INTERVAL_MS: number = 10_000;

/** Settings of the background jobs. */
export const billingConfig = (env: Env) => {
  const { text, integer } = reader(env);
  return Object.freeze({
    ...common(env),
    ...cells(env),
    databaseUrl: text('DATABASE_URL'),
    /** From one count of what streams have used to the next. */
    meterIntervalMs: METER_INTERVAL_MS,
    /** How long streams stay on air after the credit of their account is used up. */
    creditGraceSeconds: integer('CREDIT_GRACE_SECONDS'),
    opsHost: text('OPS_HOST'),
    opsPort: integer('OPS_PORT', 'billing'),
    ...money(env),
  });
};
export type BillingConfig = ReturnType<typeof billingConfig>;

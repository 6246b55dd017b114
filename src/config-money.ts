/** The part of the configuration (config.ts) that has to do with money. Pure: no I/O, no clock. */
import { isCurrency } from './billing/money.ts';
import { parsePrices } from './billing/prices.ts';
import { sellerSetting } from './invoices/settings.ts';
import { ConfigError, type Env, reader } from './settings.ts';
import { cardSettings } from './topups/settings.ts';

/** Crypto deposits: JSON that is checked where it is used (crypto/settings.ts), since that needs libraries that few roles do. */
const crypto = (env: Env) => {
  const { integer, optional, json, text } = reader(env);
  const maybe = (name: string) => (optional(name) === undefined ? undefined : json<unknown>(name));
  return Object.freeze({
    networks: maybe('CRYPTO_NETWORKS'),
    rates: maybe('CRYPTO_RATES'),
    ratesUrl: optional('CRYPTO_RATES_URL'),
    quoteSeconds: integer('CRYPTO_QUOTE_SECONDS', 900, 60, 86_400),
    currency: text('CURRENCY', 'USD'),
  });
};

/** What is alike for all that has to do with money. */
export const money = (env: Env) => {
  const currency = reader(env).text('CURRENCY', 'USD');
  if (!isCurrency(currency)) throw new ConfigError('LOOPSTREAM_CURRENCY must be a code of ISO 4217, such as USD.');
  return {
    currency,
    prices: parsePrices(reader(env).optional('PRICES')),
    cards: cardSettings(env),
    crypto: crypto(env),
    /** Who sends invoices; without it nobody does. */
    seller: sellerSetting(env),
  };
};

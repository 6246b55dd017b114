/** Reads the settings of payments by card; open.ts opens the files of secrets. Pure: no I/O, no clock. */

import { ConfigError, type Env, type SecretSetting } from '../../../core/settings/settings.ts';
import { reader } from '../../settings/settings.ts';
import { isoDigits, ONCE_WITHOUT_DIGITS } from '../ledger/currencies.ts';
import { formatMinor } from '../ledger/money.ts';
import { isChargeable, leastMinor } from './currencies.ts';

export interface CardSettings {
  /** Undefined where no card can be taken. */
  stripe: Readonly<{ key: SecretSetting; webhookSecret: SecretSetting; url: string }> | undefined;
  /** The bounds of one top-up, in minor units; 0n: by the size of the currency. */
  minMinor: bigint;
  maxMinor: bigint;
}

function stripe(env: Env): CardSettings['stripe'] {
  const { secret, text } = reader(env);
  const key = secret('STRIPE_KEY');
  const webhookSecret = secret('STRIPE_WEBHOOK_SECRET');
  const url = text('STRIPE_URL');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ConfigError('LOOPSTREAM_STRIPE_URL must be a URL that begins with http:// or https://.');
  if (!key && !webhookSecret) return undefined;
  // With a key alone cards would be charged, and no event would report it in time.
  if (!key || !webhookSecret)
    throw new ConfigError('Set both LOOPSTREAM_STRIPE_KEY and LOOPSTREAM_STRIPE_WEBHOOK_SECRET, or neither.');
  return Object.freeze({ key, webhookSecret, url });
}

export function cardSettings(env: Env): Readonly<CardSettings> {
  const { integer } = reader(env);
  const minMinor = BigInt(integer('TOP_UP_MIN_MINOR'));
  const maxMinor = BigInt(integer('TOP_UP_MAX_MINOR'));
  if (maxMinor > 0n && minMinor > maxMinor)
    throw new ConfigError('LOOPSTREAM_TOP_UP_MIN_MINOR must not be more than LOOPSTREAM_TOP_UP_MAX_MINOR.');
  return Object.freeze({ stripe: stripe(env), minMinor, maxMinor });
}

/** Throws ConfigError where cards are configured, and Stripe cannot charge the currency or any amount that is allowed. */
export function checkChargeable({ stripe, maxMinor }: CardSettings, currency: string): void {
  if (!stripe) return;
  if (!isChargeable(currency))
    throw new ConfigError(
      `Stripe cannot charge ${currency}. Set LOOPSTREAM_CURRENCY to a currency of https://docs.stripe.com/currencies, or ` +
        'remove LOOPSTREAM_STRIPE_KEY and LOOPSTREAM_STRIPE_WEBHOOK_SECRET to take no cards.',
    );
  // In how many digits the ledger counts the others, the database says.
  const digits = ONCE_WITHOUT_DIGITS.includes(currency) ? 0 : isoDigits(currency);
  const least = leastMinor(currency, digits);
  if (maxMinor > 0n && maxMinor < least)
    throw new ConfigError(
      `LOOPSTREAM_TOP_UP_MAX_MINOR must be at least ${least}: Stripe charges no less than ${formatMinor(least, currency, digits)}.`,
    );
}

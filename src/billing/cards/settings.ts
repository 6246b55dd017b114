/**
 * Declares the settings of payments by card, read by config.ts. Secrets may be in files, which no process list and no
 * description of a pod shows; open.ts reads them. Pure: no I/O, no clock.
 */
import { ConfigError, type Env, reader } from '../../settings/settings.ts';

/** A text, or the path of the file that holds it. */
export type SecretSetting = Readonly<{ text: string } | { file: string }>;

export interface CardSettings {
  /** Undefined where no card can be taken. */
  stripe: Readonly<{ key: SecretSetting; webhookSecret: SecretSetting; url: string }> | undefined;
  /** The smallest top-up, in minor units. */
  minMinor: bigint;
  maxMinor: bigint;
}

const STRIPE = 'https://api.stripe.com';

/** By its name, or by the name with _FILE; both would leave open which one holds. */
function secret(env: Env, name: string): SecretSetting | undefined {
  const { optional } = reader(env);
  const [text, file] = [optional(name), optional(`${name}_FILE`)];
  if (text !== undefined && file !== undefined)
    throw new ConfigError(`Set either LOOPSTREAM_${name} or LOOPSTREAM_${name}_FILE, not both.`);
  if (file !== undefined) return Object.freeze({ file });
  return text === undefined ? undefined : Object.freeze({ text });
}

function stripe(env: Env): CardSettings['stripe'] {
  const key = secret(env, 'STRIPE_KEY');
  const webhookSecret = secret(env, 'STRIPE_WEBHOOK_SECRET');
  const url = reader(env).text('STRIPE_URL', STRIPE);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ConfigError('LOOPSTREAM_STRIPE_URL must be http://… or https://….');
  if (!key && !webhookSecret) return undefined;
  // With a key alone cards would be charged, and we would not learn of it in time.
  if (!key || !webhookSecret)
    throw new ConfigError('LOOPSTREAM_STRIPE_KEY and LOOPSTREAM_STRIPE_WEBHOOK_SECRET are needed together.');
  return Object.freeze({ key, webhookSecret, url });
}

export function cardSettings(env: Env): Readonly<CardSettings> {
  const { integer } = reader(env);
  // Stripe takes up to eight digits.
  const minMinor = BigInt(integer('TOP_UP_MIN_MINOR', 500, 1, 99_999_999));
  const maxMinor = BigInt(integer('TOP_UP_MAX_MINOR', 100_000, 1, 99_999_999));
  if (minMinor > maxMinor)
    throw new ConfigError('LOOPSTREAM_TOP_UP_MIN_MINOR must not be more than LOOPSTREAM_TOP_UP_MAX_MINOR.');
  return Object.freeze({ stripe: stripe(env), minMinor, maxMinor });
}

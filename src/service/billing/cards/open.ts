/** Opens the client of the payment provider: reads the secrets that are in files. */
import { readFile } from 'node:fs/promises';
import { ConfigError, type SecretSetting } from '../../../core/settings/settings.ts';
import type { CardSettings } from './settings.ts';

import type { Payments } from './stripe.ts';

async function read(secret: SecretSetting, name: string): Promise<string> {
  const text = 'text' in secret ? secret.text : await readFile(secret.file, 'utf8').catch(() => '');
  if (text.trim() !== '') return text.trim();
  throw new ConfigError(`The file in LOOPSTREAM_${name}_FILE cannot be read, or is empty.`);
}

/** Undefined where no card can be taken. Throws ConfigError; no request is sent to the provider yet. */
export async function openPayments({ stripe }: Pick<CardSettings, 'stripe'>): Promise<Payments | undefined> {
  if (!stripe) return undefined;
  const key = await read(stripe.key, 'STRIPE_KEY');
  const secrets = await read(stripe.webhookSecret, 'STRIPE_WEBHOOK_SECRET');
  // The library takes a sixth of the time in which an API server starts, and many take no cards.
  const { createPayments } = await import('./stripe.ts');
  // Two for as long as one takes the place of the other.
  return createPayments({ key, webhookSecrets: secrets.split(/[\s,]+/), url: stripe.url });
}

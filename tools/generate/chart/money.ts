/** Declares the values about money: how it comes in, and the mails about it. Pure: no I/O, no clock. */
import { group, list, native, secretName, text, whole } from './schema.ts';

export const stripe = group(
  'Top-ups by card through Stripe, which must call `/v1/webhooks/stripe`. Disabled without a Secret.',
  {
    existingSecret: secretName('An existing Secret with both secrets of Stripe, which the values never contain.'),
    existingSecretKey: text('Name of the entry with the secret key.', 'stripeKey', { minLength: 1 }),
    webhookSecretKey: text('Name of the entry with the signing secret of the webhook.', 'stripeWebhookSecret', {
      minLength: 1,
    }),
    minMinor: whole('Smallest top-up, in minor units (cents). 0: by the size of the currency.', 0, 0, 999_999_999_999),
    maxMinor: whole('Largest top-up, in minor units (cents). 0: by the size of the currency.', 0, 0, 999_999_999_999),
  },
);

export const invoices = group('Monthly invoices (docs/invoices.md). Disabled without a seller.', {
  seller: native(
    'Sender of the invoices: `name`, `address` (lines), `country`, and other fields of docs/invoices.md, such as `taxes`.',
    {},
  ),
  font: text(
    'Font file in `fontVolume` for characters that the built-in fonts lack, such as Chinese, Japanese and Korean ones. For a collection, append `#` and the name of the font.',
  ),
  fontVolume: native('Volume of the font, mounted read-only (core/v1 VolumeSource).', {}),
});

export const crypto = group('Crypto deposits (docs/crypto.md). Disabled without networks.', {
  existingSecret: secretName(
    'An existing Secret with the networks: JSON with nodes and public keys, never a private key.',
  ),
  existingSecretKey: text('Name of the entry in that Secret.', 'networks', { minLength: 1 }),
  networks: list(
    'The networks, each with its node, `xpub`, `confirmations` and assets. The chart stores them in a Secret, because URLs of nodes may contain keys.',
    { type: 'object', required: ['network', 'kind', 'xpub', 'confirmations'] },
  ),
  rates: native('Fixed prices: `currency`, and `prices` of each asset as strings. Set this or `ratesUrl`.', {}),
  ratesUrl: text('URL of the source of prices.', '', { pattern: '^(https?://.+)?$' }),
  quoteSeconds: whole('Seconds that a quote is valid.', 900, 60, 86_400),
});

/** Declares the values about money: how it comes in, and the mails about it. Pure: no I/O, no clock. */
import { group, list, native, secretName, text, whole } from './schema.ts';

export const stripe = group(
  'Top-ups by card, by Stripe, which is to call `/v1/webhooks/stripe`; none without a Secret.',
  {
    existingSecret: secretName('A Secret that holds both secrets of Stripe, which are nowhere in the values.'),
    existingSecretKey: text('The secret key’s key in that Secret.', 'stripeKey', { minLength: 1 }),
    webhookSecretKey: text('The key of the webhook’s signing secret in that Secret.', 'stripeWebhookSecret', {
      minLength: 1,
    }),
    minMinor: whole('The least that one top-up may be, in minor units (cents).', 500, 1, 99_999_999),
    maxMinor: whole('The most.', 100_000, 1, 99_999_999),
  },
);

export const invoices = group('Invoices by the month (docs/invoices.md); none without a seller.', {
  seller: native(
    'Who sends them: `name`, `address` (lines), `country`, and what else docs/invoices.md has, such as `taxes`.',
    {},
  ),
  font: text(
    'A font for letters that ours lack, such as Chinese, Japanese and Korean ones: its file in `fontVolume`; of a collection with `#` and the name of one.',
  ),
  fontVolume: native('The volume that it is in (what a pod’s volume may be, without a name); it is only read.', {}),
});

export const crypto = group('Deposits of crypto currencies (docs/crypto.md); none without networks.', {
  existingSecret: secretName('A Secret that holds the networks: JSON with nodes and public keys, never a private one.'),
  existingSecretKey: text('The key of the networks in that Secret.', 'networks', { minLength: 1 }),
  networks: list(
    'The networks themselves, each with its node, its `xpub`, `confirmations` and assets, for a Secret that the chart makes: addresses of nodes may hold keys.',
    { type: 'object', required: ['network', 'kind', 'xpub', 'confirmations'] },
  ),
  rates: native('Fixed prices: `currency`, and `prices` of each asset as texts. Either these or `ratesUrl`.', {}),
  ratesUrl: text('Where prices are asked for.', '', { pattern: '^(https?://.+)?$' }),
  quoteSeconds: whole('How long a quote holds.', 900, 60, 86_400),
});

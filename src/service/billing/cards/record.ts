/** Builds the top-up that clients see. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { STATES } from './settle.ts';

const time = Type.String({ format: 'date-time' });
const minor = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description} In minor units (cents), as a string.` });

export const TopUp = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(STATES, {
      title: 'TopUpState',
      description:
        'open: can be paid at checkoutUrl. processing: the payment method takes days. review: paid in another ' +
        'currency, staff check it. disputed: the bank holds the money. charged_back: the dispute was lost.',
    }),
    amountMinor: minor('Requested amount.'),
    currency: Type.String({ description: 'Currency code (ISO 4217).' }),
    currencyDigits: Type.Integer({
      description: 'Digits of the minor unit of the currency: 2 for cents, 0 where there is none.',
    }),
    paidMinor: minor('Amount received and credited.'),
    refundedMinor: minor('Amount returned since, by refunds and disputes.'),
    checkoutUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'Checkout page of the payment provider. Null once the top-up is no longer open.',
    }),
    createdAt: time,
    expiresAt: Type.String({ format: 'date-time', description: 'Time until which the top-up can be paid.' }),
  },
  { title: 'TopUp' },
);
export type TopUp = Static<typeof TopUp>;

export const TopUpCreate = Type.Object(
  {
    amountMinor: Type.String({
      pattern: '^[1-9][0-9]{0,11}$',
      description:
        'Amount in minor units, as a string: 2500 is 25.00 of a currency with cents, and 2500 of one without. ' +
        '`currencyDigits` of `GET /v1/billing` says how many digits the minor unit has.',
    }),
    currency: Type.String({
      pattern: '^[A-Za-z]{3}$',
      description: 'Currency code (ISO 4217). It must be the billing currency of the service.',
    }),
  },
  { title: 'TopUpCreate', additionalProperties: false },
);
export type TopUpCreate = Static<typeof TopUpCreate>;

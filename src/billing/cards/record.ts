/** Builds the top-up that clients see. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { STATES } from './settle.ts';

const time = Type.String({ format: 'date-time' });
const minor = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description} In minor units (cents), as a text.` });

export const TopUp = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(STATES, {
      description:
        'open: to be paid at checkoutUrl; processing: the way of paying takes days; review: paid in another currency, ' +
        'staff look at it; disputed: the bank holds the money; charged_back: that dispute was lost.',
    }),
    amountMinor: minor('What was asked for.'),
    currency: Type.String({ description: 'ISO 4217.' }),
    paidMinor: minor('What has been received, and credited.'),
    refundedMinor: minor('What has gone back since, by refunds and disputes.'),
    checkoutUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'The page of the payment provider where it is paid; null once it is not open any more.',
    }),
    createdAt: time,
    expiresAt: Type.String({ format: 'date-time', description: 'Until then it can be paid.' }),
  },
  { title: 'TopUp' },
);
export type TopUp = Static<typeof TopUp>;

export const TopUpCreate = Type.Object(
  {
    amountMinor: Type.String({
      pattern: '^[1-9][0-9]{0,11}$',
      description: 'In minor units, as a text: 2500 is 25.00 of a currency with cents.',
    }),
    currency: Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217: the one that the service bills in.' }),
  },
  { title: 'TopUpCreate', additionalProperties: false },
);
export type TopUpCreate = Static<typeof TopUpCreate>;

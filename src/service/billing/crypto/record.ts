/**
 * Builds the deposits that clients see. Amounts are whole numbers of the asset's smallest unit, as texts. Pure: no I/O,
 * no clock.
 */
import { type Static, Type } from 'typebox';
import { DEPOSIT_STATES, PAYMENT_STATES } from './spec.ts';

const time = (description: string) => Type.String({ format: 'date-time', description });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const Units = Type.String({ pattern: '^[0-9]+$' });
const units = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description} In the asset’s smallest unit, as a string.` });

export const CryptoAsset = Type.Object(
  {
    asset: Type.String({ description: 'Symbol of the asset, e.g. ETH.' }),
    network: Type.String({ description: 'Network to pay on. The same asset may exist on several networks.' }),
    contract: orNull(Type.String(), 'Contract address of a token. Null for the coin of the network.'),
    decimals: Type.Integer({ minimum: 0, description: 'Number of decimal digits of one whole coin.' }),
    minimumAmount: units('Smallest amount that is credited.'),
    confirmations: Type.Integer({ minimum: 1, description: 'Number of blocks after which a payment is credited.' }),
    rate: orNull(Type.String(), 'Current price of one coin, in `currency`. Null while it is unknown.'),
    currency: Type.String({ description: 'Currency code (ISO 4217).' }),
  },
  { title: 'CryptoAsset' },
);
export type CryptoAsset = Static<typeof CryptoAsset>;

export const CryptoAssets = Type.Object({ data: Type.Array(CryptoAsset) }, { title: 'CryptoAssetList' });

const Explanation = Type.Object(
  {
    code: Type.String({ description: 'Stable code.' }),
    message: Type.String({ description: 'The explanation, as a sentence.' }),
  },
  { title: 'CryptoExplanation' },
);
export type DepositExplanation = Static<typeof Explanation>;

export const CryptoPayment = Type.Object(
  {
    txid: Type.String({ description: 'Hash of the transaction.' }),
    index: Type.String({ description: 'Position of the transfer within the transaction.' }),
    network: Type.String(),
    asset: orNull(Type.String(), 'Symbol of the asset. Null for a token that the service does not accept.'),
    contract: orNull(Type.String(), 'Contract address of a token. Null for the coin of the network.'),
    amount: units('Received amount.'),
    state: Type.Enum(PAYMENT_STATES, {
      description:
        'seen: not in a block yet. reorged: the chain dropped its block. reversed: it was credited and the credit ' +
        'was taken back. dropped: another transaction has replaced it.',
    }),
    confirmations: orNull(Type.Integer(), 'Number of confirming blocks. Null while the payment is in no block.'),
    credits: orNull(Units, 'Credits booked for the payment.'),
    explanation: orNull(Explanation, 'Explanation of an unusual payment.'),
    at: time('Time at which the payment was seen.'),
  },
  { title: 'CryptoPayment' },
);
export type CryptoPayment = Static<typeof CryptoPayment>;

const Quote = Type.Object(
  {
    rate: Type.String({ description: 'Price of one coin, in `currency`.' }),
    currency: Type.String({ description: 'Currency code (ISO 4217).' }),
    credits: orNull(Units, 'Credits that `amount` buys. Null if any amount may be paid.'),
    expiresAt: time(
      'Time until which payments are credited at this rate. Later payments are credited at the rate of their time.',
    ),
  },
  { title: 'CryptoQuote' },
);

export const CryptoDeposit = Type.Object(
  {
    id: Type.String(),
    asset: Type.String(),
    network: Type.String(),
    decimals: Type.Integer({ minimum: 0 }),
    state: Type.Enum(DEPOSIT_STATES, {
      title: 'CryptoDepositState',
      description:
        'seen: paid, but not in a block yet. confirming: in a block, with `confirmations` of `neededConfirmations`. ' +
        'underpaid: less than `amount` was credited, the rest may follow. expired: no payment arrived in time, but it ' +
        'may still arrive. reorged: the chain has changed, and the payment is being checked again.',
    }),
    confirmations: orNull(
      Type.Integer(),
      'Confirmations of the payment that has the fewest. Set while the deposit is confirming.',
    ),
    neededConfirmations: Type.Integer({ minimum: 0 }),
    address: Type.String({ description: 'Address to pay to. It belongs to this deposit alone.' }),
    paymentUri: Type.String({ description: 'Payment URI for a QR code (EIP-681 or BIP 21).' }),
    amount: orNull(Units, 'Amount to pay, in the asset’s smallest unit. Null if any amount may be paid.'),
    receivedAmount: units('Amount credited so far.'),
    quote: Quote,
    expiresAt: time('The same time as in the quote.'),
    credits: Type.String({ pattern: '^[0-9]+$', description: 'Credits booked so far.' }),
    explanation: orNull(Explanation, 'Explanation of an unusual deposit.'),
    payments: Type.Array(CryptoPayment, { description: 'Payments to this address, in the order of arrival.' }),
    createdAt: time('Time at which the deposit was created.'),
  },
  { title: 'CryptoDeposit' },
);
export type CryptoDeposit = Static<typeof CryptoDeposit>;

export const CryptoDepositCreate = Type.Object(
  {
    asset: Type.String({ minLength: 1, maxLength: 16, description: 'Symbol of the asset, as in the list of assets.' }),
    network: Type.String({ minLength: 1, maxLength: 32, description: 'Network to pay on, as in the list of assets.' }),
    amount: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,37}$',
        description: 'Amount to pay, in the asset’s smallest unit, as a string.',
      }),
    ),
    amountMinor: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,11}$',
        description:
          'Amount of money, in minor units of the currency (cents), as a string. Use it instead of `amount`.',
      }),
    ),
  },
  { title: 'CryptoDepositCreate', additionalProperties: false },
);
export type CryptoDepositCreate = Static<typeof CryptoDepositCreate>;

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
  Type.String({ pattern: '^[0-9]+$', description: `${description} In the asset’s smallest unit, as a text.` });

export const CryptoAsset = Type.Object(
  {
    asset: Type.String({ description: 'E.g. ETH.' }),
    network: Type.String({ description: 'Where it is paid: the same asset may be on several networks.' }),
    contract: orNull(Type.String(), 'Of a token; null for the coin of the network.'),
    decimals: Type.Integer({ minimum: 0, description: 'Digits after the point of one whole coin.' }),
    minimumAmount: units('What is less is not credited.'),
    confirmations: Type.Integer({ minimum: 1, description: 'Blocks until a payment is credited.' }),
    rate: orNull(Type.String(), 'What one coin is worth now, in `currency`; null while that is not known.'),
    currency: Type.String({ description: 'ISO 4217.' }),
  },
  { title: 'CryptoAsset' },
);
export type CryptoAsset = Static<typeof CryptoAsset>;

export const CryptoAssets = Type.Object({ data: Type.Array(CryptoAsset) }, { title: 'CryptoAssetList' });

const Explanation = Type.Object(
  {
    code: Type.String({ description: 'Stable code.' }),
    message: Type.String({ description: 'The same as a sentence for people.' }),
  },
  { title: 'CryptoExplanation' },
);
export type Explanation = Static<typeof Explanation>;

export const CryptoPayment = Type.Object(
  {
    txid: Type.String({ description: 'The transaction.' }),
    index: Type.String({ description: 'Which of the transaction’s transfers.' }),
    network: Type.String(),
    asset: orNull(Type.String(), 'Null for a token that is not taken.'),
    contract: orNull(Type.String(), 'Of a token; null for the coin of the network.'),
    amount: units('What came.'),
    state: Type.Enum(PAYMENT_STATES, {
      description:
        'seen: in no block yet; reorged: its block has left the chain; reversed: it was credited, and taken back since; ' +
        'dropped: another transaction has taken its place.',
    }),
    confirmations: orNull(Type.Integer(), 'Blocks that say so; null while it is in none.'),
    credits: orNull(Units, 'What was credited for it.'),
    explanation: orNull(Explanation, 'What is out of the ordinary about it.'),
    at: time('When it came.'),
  },
  { title: 'CryptoPayment' },
);
export type CryptoPayment = Static<typeof CryptoPayment>;

const Quote = Type.Object(
  {
    rate: Type.String({ description: 'What one coin is worth, in `currency`.' }),
    currency: Type.String({ description: 'ISO 4217.' }),
    credits: orNull(Units, 'What `amount` is worth; null where any amount may be paid.'),
    expiresAt: time('What comes until then is credited at this rate; what comes later, at the rate of its time.'),
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
      description:
        'seen: paid, and in no block yet; confirming: in a block, `confirmations` of `neededConfirmations`; underpaid: less ' +
        'than `amount` was credited, the rest may follow; expired: nothing came in time, and may still come; reorged: the ' +
        'chain has changed, and it is waited for what becomes of the payment.',
    }),
    confirmations: orNull(Type.Integer(), 'While it is confirming: of the payment that has the fewest.'),
    neededConfirmations: Type.Integer({ minimum: 0 }),
    address: Type.String({ description: 'Of this deposit alone.' }),
    paymentUri: Type.String({ description: 'For a QR code: EIP-681 or BIP 21.' }),
    amount: orNull(Units, 'What is to be paid, in the asset’s smallest unit; null: anything.'),
    receivedAmount: units('What of the asset was credited.'),
    quote: Quote,
    expiresAt: time('As in the quote.'),
    credits: Type.String({ pattern: '^[0-9]+$', description: 'Credited so far.' }),
    explanation: orNull(Explanation, 'What is out of the ordinary about it.'),
    payments: Type.Array(CryptoPayment, { description: 'In the order in which they came.' }),
    createdAt: time('When it was asked for.'),
  },
  { title: 'CryptoDeposit' },
);
export type CryptoDeposit = Static<typeof CryptoDeposit>;

export const CryptoDepositCreate = Type.Object(
  {
    asset: Type.String({ minLength: 1, maxLength: 16, description: 'As the list of assets has it.' }),
    network: Type.String({ minLength: 1, maxLength: 32, description: 'As the list of assets has it.' }),
    amount: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,37}$',
        description: 'To be paid: in the asset’s smallest unit, as a text.',
      }),
    ),
    amountMinor: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,11}$',
        description: 'Instead of `amount`: so much money, in minor units of the currency (cents), as a text.',
      }),
    ),
  },
  { title: 'CryptoDepositCreate', additionalProperties: false },
);
export type CryptoDepositCreate = Static<typeof CryptoDepositCreate>;

/** GraphQL: deposits of crypto currencies. */

import { GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import type { CryptoDeposit as DepositRecord } from '../../billing/crypto/record.ts';
import { DEPOSIT_STATES, PAYMENT_STATES } from '../../billing/crypto/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { Node, type NounFields, nodeOf } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, IDFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const State = enumOf('CryptoDepositState', DEPOSIT_STATES);
const text = { type: required(GraphQLString) };
const textOrNull = { type: GraphQLString };

const CryptoAsset = new GraphQLObjectType({
  name: 'CryptoAsset',
  fields: {
    ...{ asset: text, network: text, contract: textOrNull, decimals: { type: required(GraphQLInt) } },
    minimumAmount: { ...text, description: 'What is less is not credited; in the smallest unit.' },
    confirmations: { type: required(GraphQLInt), description: 'Blocks until a payment is credited.' },
    rate: { ...textOrNull, description: 'What one coin is worth now; null while that is not known.' },
    currency: text,
  },
});

const Explanation = new GraphQLObjectType({
  name: 'CryptoExplanation',
  fields: { code: { ...text, description: 'Stable code.' }, message: text },
});

const CryptoPayment = new GraphQLObjectType({
  name: 'CryptoPayment',
  fields: {
    ...{ txid: text, index: text, network: text, asset: textOrNull, contract: textOrNull },
    amount: { ...text, description: 'What came, in the smallest unit.' },
    state: { type: required(enumOf('CryptoPaymentState', PAYMENT_STATES)) },
    confirmations: { type: GraphQLInt, description: 'Null while it is in no block.' },
    credits: { ...textOrNull, description: 'What was credited for it.' },
    explanation: { type: Explanation },
    at: { type: required(DateTime) },
  },
});

const CryptoQuote = new GraphQLObjectType({
  name: 'CryptoQuote',
  fields: {
    ...{ rate: text, currency: text },
    credits: { ...textOrNull, description: 'What the amount is worth; null where any may be paid.' },
    expiresAt: { type: required(DateTime) },
  },
});

const CryptoDeposit = new GraphQLObjectType<DepositRecord>({
  name: 'CryptoDeposit',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID) },
    ...{ asset: text, network: text, decimals: { type: required(GraphQLInt) } },
    state: { type: required(State) },
    confirmations: { type: GraphQLInt, description: 'While it is confirming: of the payment that has the fewest.' },
    neededConfirmations: { type: required(GraphQLInt) },
    address: { ...text, description: 'Of this deposit alone.' },
    paymentUri: { ...text, description: 'For a QR code: EIP-681 or BIP 21.' },
    amount: { ...textOrNull, description: 'What is to be paid, in the smallest unit; null: anything.' },
    receivedAmount: { ...text, description: 'What of the asset was credited.' },
    quote: { type: required(CryptoQuote) },
    expiresAt: { type: required(DateTime) },
    credits: { ...text, description: 'Credited so far.' },
    explanation: { type: Explanation },
    payments: { type: listOf(CryptoPayment), description: 'In the order in which they came.' },
    createdAt: { type: required(DateTime) },
  },
});

const where = whereInput<DepositRecord>('CryptoDepositWhereInput', {
  id: { type: IDFilter },
  state: { type: enumFilter(State) },
  asset: { type: TextFilter },
  network: { type: TextFilter },
  expiresAt: { type: TimeFilter },
  createdAt: { type: TimeFilter },
});

const types: NounTypes = {
  outputs: { CryptoDeposit },
  lists: { CryptoDeposit: { where, order: { CREATED_AT: { value: 'createdAt' } } } },
};

export const cryptoFields = (services: Pick<Services, 'crypto'>): NounFields => {
  const { queries, mutations } = operationFields(cryptoOperations, services, types);
  return {
    mutations,
    queries: {
      ...queries,
      // A list without pages, which REST wraps in an object.
      cryptoAssets: {
        type: listOf(CryptoAsset),
        description: 'What can be paid in crypto currencies, and what it is worth.',
        resolve: (_source, _args, context) => {
          context.allow('listCryptoAssets');
          return services.crypto.assets();
        },
      },
    },
    node: nodeOf({
      prefix: 'dep',
      type: 'CryptoDeposit',
      operation: 'getCryptoDeposit',
      notFound: 'crypto_deposit_not_found',
      get: ({ principal }, id) => services.crypto.get(principal.accountId, id),
    }),
  };
};

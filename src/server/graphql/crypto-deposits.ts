/** Defines the GraphQL fields of crypto deposits. */

import { cryptoOperations } from '../../billing/crypto/operations.ts';
import {
  CryptoAsset as AssetSchema,
  type CryptoDeposit as DepositRecord,
  CryptoDeposit as DepositSchema,
  CryptoPayment as PaymentSchema,
} from '../../billing/crypto/record.ts';
import { DEPOSIT_STATES, PAYMENT_STATES } from '../../billing/crypto/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { createNodeReader, Node, type NounFields } from './relay.ts';
import { enumType, listType } from './scalars.ts';
import { enumFilter, IDFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const State = enumType('CryptoDepositState', DEPOSIT_STATES);

const CryptoAsset = outputType('CryptoAsset', AssetSchema, {
  describe: {
    minimumAmount: 'Smallest amount that is credited, in the asset’s smallest unit.',
    confirmations: true,
    rate: 'Current price of one coin. Null while it is unknown.',
  },
});

const Explanation = outputType('CryptoExplanation', innerSchema(DepositSchema, 'explanation'), {
  describe: { code: true },
});

const CryptoPayment = outputType('CryptoPayment', PaymentSchema, {
  types: { state: enumType('CryptoPaymentState', PAYMENT_STATES), explanation: Explanation },
  describe: {
    amount: 'Received amount, in the asset’s smallest unit.',
    confirmations: 'Null while the payment is in no block.',
    credits: true,
  },
});

const CryptoQuote = outputType('CryptoQuote', innerSchema(DepositSchema, 'quote'), {
  describe: { credits: 'Credits that the amount buys. Null if any amount may be paid.' },
});

const CryptoDeposit = outputType<DepositRecord>('CryptoDeposit', DepositSchema, {
  interfaces: [Node],
  types: { state: State, quote: CryptoQuote, explanation: Explanation, payments: CryptoPayment },
  describe: {
    confirmations: true,
    address: true,
    paymentUri: true,
    amount: 'Amount to pay, in the asset’s smallest unit. Null if any amount may be paid.',
    receivedAmount: 'Amount credited so far.',
    credits: true,
    payments: true,
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
      // REST wraps this unpaged list in an object.
      cryptoAssets: {
        type: listType(CryptoAsset),
        description: 'Lists crypto assets that can be paid with, and their rates.',
        resolve: (_source, _args, context) => {
          context.allow('listCryptoAssets');
          return services.crypto.assets();
        },
      },
    },
    node: createNodeReader({
      prefix: 'dep',
      type: 'CryptoDeposit',
      operation: 'getCryptoDeposit',
      notFound: 'crypto_deposit_not_found',
      get: ({ principal }, id) => services.crypto.get(principal.accountId, id),
    }),
  };
};

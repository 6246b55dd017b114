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
    minimumAmount: 'What is less is not credited; in the smallest unit.',
    confirmations: true,
    rate: 'What one coin is worth now; null while that is not known.',
  },
});

const Explanation = outputType('CryptoExplanation', innerSchema(DepositSchema, 'explanation'), {
  describe: { code: true },
});

const CryptoPayment = outputType('CryptoPayment', PaymentSchema, {
  types: { state: enumType('CryptoPaymentState', PAYMENT_STATES), explanation: Explanation },
  describe: {
    amount: 'What came, in the smallest unit.',
    confirmations: 'Null while it is in no block.',
    credits: true,
  },
});

const CryptoQuote = outputType('CryptoQuote', innerSchema(DepositSchema, 'quote'), {
  describe: { credits: 'What the amount is worth; null where any may be paid.' },
});

const CryptoDeposit = outputType<DepositRecord>('CryptoDeposit', DepositSchema, {
  interfaces: [Node],
  types: { state: State, quote: CryptoQuote, explanation: Explanation, payments: CryptoPayment },
  describe: {
    confirmations: true,
    address: true,
    paymentUri: true,
    amount: 'What is to be paid, in the smallest unit; null: anything.',
    receivedAmount: 'What of the asset was credited.',
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
        description: 'What can be paid in crypto currencies, and what it is worth.',
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

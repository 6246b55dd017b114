/** Defines the GraphQL fields of crypto deposits. */

import { DEPOSIT_LIST } from '../../billing/crypto/list.ts';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import {
  CryptoAsset as AssetSchema,
  type CryptoDeposit as DepositRecord,
  CryptoDeposit as DepositSchema,
  CryptoPayment as PaymentSchema,
} from '../../billing/crypto/record.ts';
import { DEPOSIT_STATES, PAYMENT_STATES } from '../../billing/crypto/spec.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { createNodeReader, Node, type NounFields, nounOrder } from './relay.ts';
import { enumType, listType } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const State = enumType('CryptoDepositState', DEPOSIT_STATES);

const CryptoAsset = outputType('CryptoAsset', AssetSchema, {});

const Explanation = outputType('CryptoExplanation', innerSchema(DepositSchema, 'explanation'), {});

const CryptoPayment = outputType('CryptoPayment', PaymentSchema, {
  types: { state: enumType('CryptoPaymentState', PAYMENT_STATES), explanation: Explanation },
});

const CryptoQuote = outputType('CryptoQuote', innerSchema(DepositSchema, 'quote'), {});

const CryptoDeposit = outputType<DepositRecord>('CryptoDeposit', DepositSchema, {
  interfaces: [Node],
  types: { state: State, quote: CryptoQuote, explanation: Explanation, payments: CryptoPayment },
});

const FILTERS = ['id', 'state', 'asset', 'network', 'expiresAt', 'createdAt'];
const where = whereInput('CryptoDepositWhereInput', filtersOf(CryptoDeposit, FILTERS));

const types: NounTypes = {
  outputs: { CryptoDeposit },
  inputs: { state: State },
  lists: { CryptoDeposit: { where, order: nounOrder(DEPOSIT_LIST) } },
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

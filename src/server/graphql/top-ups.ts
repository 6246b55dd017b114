/** GraphQL: top-ups by card. */

import { GraphQLID, GraphQLObjectType, GraphQLString } from 'graphql';
import { topUpOperations } from '../../billing/cards/operations.ts';
import type { TopUp as TopUpRecord } from '../../billing/cards/record.ts';
import { STATES } from '../../billing/cards/settle.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { Node, type NounFields, nodeOf } from './relay.ts';
import { DateTime, enumOf, required } from './scalars.ts';
import { enumFilter, IDFilter, TimeFilter, whereInput } from './where.ts';

const State = enumOf('TopUpState', STATES);
const TopUp = new GraphQLObjectType<TopUpRecord>({
  name: 'TopUp',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID) },
    state: { type: required(State) },
    amountMinor: { type: required(GraphQLString), description: 'What was asked for, in minor units.' },
    currency: { type: required(GraphQLString), description: 'ISO 4217.' },
    paidMinor: { type: required(GraphQLString), description: 'What has been received, and credited.' },
    refundedMinor: { type: required(GraphQLString), description: 'What has gone back since.' },
    checkoutUrl: { type: GraphQLString, description: 'Where it is paid; null once it is not open any more.' },
    createdAt: { type: required(DateTime) },
    expiresAt: { type: required(DateTime) },
  },
});

const where = whereInput<TopUpRecord>('TopUpWhereInput', {
  id: { type: IDFilter },
  state: { type: enumFilter(State) },
  createdAt: { type: TimeFilter },
});

const types: NounTypes = {
  outputs: { TopUp },
  lists: { TopUp: { where, order: { CREATED_AT: { value: 'createdAt' } } } },
};

export const topUpFields = (services: Pick<Services, 'topUps'>): NounFields => ({
  ...operationFields(topUpOperations, services, types),
  node: nodeOf({
    prefix: 'top',
    type: 'TopUp',
    operation: 'getTopUp',
    notFound: 'topup_not_found',
    get: ({ principal }, id) => services.topUps.get(principal, id),
  }),
});

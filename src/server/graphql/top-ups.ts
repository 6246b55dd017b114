/** GraphQL: top-ups by card. */
import { GraphQLID, GraphQLObjectType, GraphQLString } from 'graphql';
import { TopUpCreate, type TopUp as TopUpRecord } from '../../billing/cards/record.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import { STATES } from '../../billing/cards/settle.ts';
import { inputType, mutationField, payloadOf } from './input.ts';
import { byIdField, connectionField, Node, type NounFields, nodeOf } from './relay.ts';
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

export const topUpFields = (topUps: TopUpService): NounFields => ({
  node: nodeOf({
    ...{ prefix: 'top', type: 'TopUp', operation: 'getTopUp', notFound: 'topup_not_found' },
    get: ({ principal }, id) => topUps.get(principal, id),
  }),
  queries: {
    topUp: byIdField({
      type: TopUp,
      operation: 'getTopUp',
      description: 'One top-up by card.',
      get: ({ principal }, id) => topUps.get(principal, id),
    }),
    topUps: connectionField<TopUpRecord, 'createdAt'>({
      type: TopUp,
      operation: 'listTopUps',
      description: 'Top-ups by card, newest first unless orderBy says otherwise.',
      where,
      order: { CREATED_AT: { value: 'createdAt' } },
      list: ({ principal }, page, matching) => topUps.list(principal, page, matching),
    }),
  },
  mutations: {
    createTopUp: mutationField({
      operation: 'createTopUp',
      description: 'Begins a top-up: its checkoutUrl is where the card is given.',
      type: payloadOf('TopUpPayload', 'topUp', TopUp),
      input: { type: inputType('TopUpCreateInput', TopUpCreate), schema: TopUpCreate },
      run: async ({ principal }, { input }) => ({ topUp: await topUps.create(principal, input) }),
    }),
  },
});

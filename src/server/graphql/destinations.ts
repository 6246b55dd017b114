/** GraphQL: destinations. */

import { GraphQLBoolean, GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import type { Destination as DestinationRecord } from '../../domain/destinations/record.ts';
import { TEST_STAGES } from '../../resources/destination/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { Node, type NounFields } from './relay.ts';
import { DateTime, enumOf, required } from './scalars.ts';
import { IDFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const Destination = new GraphQLObjectType<DestinationRecord>({
  name: 'Destination',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID) },
    name: { type: required(GraphQLString) },
    rtmpUrl: { type: required(GraphQLString) },
    rtmpKeyHint: {
      type: required(GraphQLString),
      description: 'The last four characters of the key; empty for a short key.',
    },
    hasLogin: {
      type: required(GraphQLBoolean),
      description: 'Whether a user name and a password are kept for it.',
    },
    createdAt: { type: required(DateTime) },
  },
});

const Test = new GraphQLObjectType({
  name: 'DestinationTest',
  fields: {
    ok: { type: required(GraphQLBoolean), description: 'Whether the destination took a publish.' },
    stage: { type: required(enumOf('DestinationTestStage', TEST_STAGES)), description: 'How far it came.' },
    code: { type: GraphQLString, description: 'Why not, as in `lastError`; null when it is ok.' },
    message: { type: required(GraphQLString), description: 'The same as a sentence for people.' },
    tookMs: { type: required(GraphQLInt) },
  },
});

const where = whereInput<DestinationRecord>('DestinationWhereInput', {
  id: { type: IDFilter },
  name: { type: TextFilter },
  rtmpUrl: { type: TextFilter },
  createdAt: { type: TimeFilter },
});

const types: NounTypes = {
  outputs: { Destination, DestinationTest: Test },
  lists: { Destination: { where } },
};

export const destinationFields = (services: Pick<Services, 'destinations'>): NounFields => ({
  ...operationFields(destinationOperations, services, types),
  node: (context, id) => {
    context.allow('getDestination');
    return { __typename: 'Destination', ...services.destinations.get(context.principal.accountId, id) };
  },
});

/** GraphQL: destinations. */
import { GraphQLObjectType, GraphQLString } from 'graphql';
import { byIdField, connectionField, DateTime, type Field, required } from '../graphql/relay.ts';
import type { Destination as DestinationRecord } from './record.ts';
import type { DestinationService } from './service.ts';

const Destination = new GraphQLObjectType<DestinationRecord>({
  name: 'Destination',
  fields: {
    id: { type: required(GraphQLString) },
    name: { type: required(GraphQLString) },
    rtmpUrl: { type: required(GraphQLString) },
    rtmpKeyHint: { type: required(GraphQLString) },
    createdAt: { type: required(DateTime) },
  },
});

export const destinationFields = (destinations: DestinationService): Record<string, Field> => ({
  destination: byIdField({
    type: Destination,
    operation: 'getDestination',
    get: ({ principal }, id) => destinations.get(principal.accountId, id),
  }),
  destinations: connectionField<DestinationRecord>({
    type: Destination,
    operation: 'listDestinations',
    description: 'Destinations, newest first.',
    list: ({ principal }, args) => destinations.list(principal.accountId, args),
  }),
});

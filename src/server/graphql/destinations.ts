/** GraphQL: destinations. */
import { GraphQLBoolean, GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import {
  DestinationCreate,
  type Destination as DestinationRecord,
  DestinationUpdate,
} from '../../domain/destinations/record.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import { TEST_STAGES } from '../../resources/destination/spec.ts';
import { DeletePayload, inputType, mutationField, payloadOf } from './input.ts';
import { byIdField, connectionField, Node, type NounFields } from './relay.ts';
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

const Payload = payloadOf('DestinationPayload', 'destination', Destination);
const TestPayload = payloadOf('DestinationTestPayload', 'test', Test);
const CreateInput = inputType('DestinationCreateInput', DestinationCreate);
const UpdateInput = inputType('DestinationUpdateInput', DestinationUpdate);

export const destinationFields = (destinations: DestinationService): NounFields => ({
  node: (context, id) => {
    context.allow('getDestination');
    return { __typename: 'Destination', ...destinations.get(context.principal.accountId, id) };
  },
  queries: {
    destination: byIdField({
      type: Destination,
      operation: 'getDestination',
      description: 'One destination.',
      get: ({ principal }, id) => destinations.get(principal.accountId, id),
    }),
    destinations: connectionField<DestinationRecord>({
      type: Destination,
      operation: 'listDestinations',
      description: 'Destinations, newest first unless orderBy says otherwise.',
      where,
      list: ({ principal }, page, matching) => destinations.list(principal.accountId, page, matching),
    }),
  },
  mutations: {
    createDestination: mutationField({
      operation: 'createDestination',
      description: 'Creates a destination. Its key goes in and never comes out.',
      type: Payload,
      input: { type: CreateInput, schema: DestinationCreate },
      run: async ({ principal }, { input }) => ({
        destination: await destinations.create(principal.accountId, input),
      }),
    }),
    updateDestination: mutationField({
      operation: 'updateDestination',
      description: 'Changes a destination. A stream on air is published again with what is new.',
      type: Payload,
      withId: true,
      input: { type: UpdateInput, schema: DestinationUpdate },
      run: async ({ principal }, { id, input }) => ({
        destination: await destinations.update(principal.accountId, id, input),
      }),
    }),
    deleteDestination: mutationField({
      operation: 'deleteDestination',
      description: 'Deletes a destination; `destination_in_use` while a stream sends to it.',
      type: DeletePayload,
      withId: true,
      run: async ({ principal }, { id }) => {
        await destinations.delete(principal.accountId, id);
        return { id, done: true };
      },
    }),
    testDestination: mutationField({
      operation: 'testDestination',
      description: 'Publishes to a destination for a moment; `destination_on_air` while a stream is sent there.',
      type: TestPayload,
      withId: true,
      run: async ({ principal }, { id }) => ({ test: await destinations.test(principal.accountId, id) }),
    }),
  },
});

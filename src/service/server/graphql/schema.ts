/** Builds the GraphQL schema from the fields of each noun. */
import { GraphQLID, GraphQLObjectType, GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { AppError } from '../../lib/errors.ts';
import type { Services } from '../setup/services.ts';
import { accountFields } from './account.ts';
import { billingFields } from './billing.ts';
import { cryptoFields } from './crypto-deposits.ts';
import { destinationFields } from './destinations.ts';
import { endpointFields } from './endpoints.ts';
import { eventFields } from './events.ts';
import { invoiceFields } from './invoices.ts';
import { playlistFields } from './playlists.ts';
import { type GraphqlField, Node, type NounFields } from './relay.ts';
import { required } from './scalars.ts';
import { sceneFields } from './scenes.ts';
import { asRunFields } from './stream-as-run.ts';
import { sessionFields } from './stream-sessions.ts';
import { publicNowFields, timelineFields } from './stream-timeline.ts';
import { uptimeFields } from './stream-uptime.ts';
import { streamFields } from './streams.ts';
import { topUpFields } from './top-ups.ts';
import { uploadFields } from './uploads.ts';

/** Nouns by the prefix of their ids. */
const createNouns = (services: Services): Record<string, NounFields> => ({
  str: streamFields(services),
  dst: destinationFields(services),
  end: endpointFields(services),
  upl: uploadFields(services),
  pls: playlistFields(services),
  scn: sceneFields(services),
  top: topUpFields(services),
  inv: invoiceFields(services),
  dep: cryptoFields(services),
});

export function createSchema(services: Services): GraphQLSchema {
  const nouns = createNouns(services);
  const all = Object.values(nouns);
  const open = publicNowFields(services);
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        ...accountFields(services),
        ...billingFields(services),
        ...eventFields(services),
        ...sessionFields(services),
        ...timelineFields(services),
        ...asRunFields(services),
        ...open.queries,
        ...uptimeFields(services),
        node: nodeField(nouns, services.account),
        ...Object.assign({}, ...all.map(({ queries }) => queries)),
      },
    }),
    mutation: new GraphQLObjectType({
      name: 'Mutation',
      fields: Object.assign({}, open.mutations, ...all.map(({ mutations }) => mutations)),
    }),
  });
}

/**
 * Each kind has a prefix, so ids are unique across kinds. An object created with kubectl may have any name. The field then tries
 * each kind and returns the first match.
 */
const nodeField = (nouns: Record<string, NounFields>, account: Services['account']): GraphqlField => ({
  type: Node,
  description: 'The object with this id. Null if it does not exist.',
  args: { id: { type: required(GraphQLID) } },
  resolve: async (_source, args, context) => {
    const id = String(args.id);
    const likely = nouns[id.split('-')[0] ?? ''];
    for (const noun of new Set([...(likely ? [likely] : []), ...Object.values(nouns)])) {
      try {
        return await noun.node(context, id);
      } catch (error) {
        if (!(error instanceof AppError) || error.status !== 404) throw error;
      }
    }
    if (id !== context.principal.userId) return null;
    context.allow('getMe');
    return { __typename: 'User', ...(await account.me(context.principal)) };
  },
});

/** Prints docs/schema.graphql: sorted, for small diffs. Its resolvers do not work. */
export const schemaDocument = (): string =>
  `${printSchema(lexicographicSortSchema(createSchema({} as unknown as Services)))}\n`;

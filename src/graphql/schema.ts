/** The GraphQL schema: each noun brings its own fields. */
import { GraphQLID, GraphQLObjectType, GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { accountFields } from '../account/graphql.ts';
import type { AccountService } from '../account/service.ts';
import { billingFields } from '../billing/graphql.ts';
import type { BillingService } from '../billing/service.ts';
import { cryptoFields } from '../crypto/graphql.ts';
import type { CryptoService } from '../crypto/service.ts';
import { destinationFields } from '../destinations/graphql.ts';
import type { DestinationService } from '../destinations/service.ts';
import { AppError } from '../errors.ts';
import { invoiceFields } from '../invoices/graphql.ts';
import type { InvoiceService } from '../invoices/service.ts';
import { playlistFields } from '../playlists/graphql.ts';
import type { PlaylistService } from '../playlists/service.ts';
import type { StatsService } from '../stats/service.ts';
import { streamFields } from '../streams/graphql.ts';
import type { StreamService } from '../streams/service.ts';
import { topUpFields } from '../topups/graphql.ts';
import type { TopUpService } from '../topups/service.ts';
import { uploadFields } from '../uploads/graphql.ts';
import type { UploadService } from '../uploads/service.ts';
import { type Field, Node, type NounFields } from './relay.ts';
import { required } from './scalars.ts';

export interface Services {
  account: AccountService;
  streams: StreamService;
  destinations: DestinationService;
  uploads: UploadService;
  playlists: PlaylistService;
  billing: BillingService;
  topUps: TopUpService;
  invoices: InvoiceService;
  crypto: CryptoService;
  stats: Pick<StatsService, 'live'>;
}

/** Each kind under the prefix of its ids. */
const nounsOf = (services: Services): Record<string, NounFields> => ({
  str: streamFields(services.streams, services.stats),
  dst: destinationFields(services.destinations),
  upl: uploadFields(services.uploads),
  pls: playlistFields(services.playlists),
  top: topUpFields(services.topUps),
  inv: invoiceFields(services.invoices),
  dep: cryptoFields(services.crypto),
});

export function createSchema(services: Services): GraphQLSchema {
  const nouns = nounsOf(services);
  const all = Object.values(nouns);
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        ...accountFields(services.account),
        ...billingFields(services.billing),
        node: nodeField(nouns, services.account),
        ...Object.assign({}, ...all.map(({ queries }) => queries)),
      },
    }),
    mutation: new GraphQLObjectType({
      name: 'Mutation',
      fields: Object.assign({}, ...all.map(({ mutations }) => mutations)),
    }),
  });
}

/**
 * Ids are unique over all kinds, since each kind has a prefix. What was made with kubectl has any name: then the kinds are
 * asked in turn, and the first that has it answers.
 */
const nodeField = (nouns: Record<string, NounFields>, account: AccountService): Field => ({
  type: Node,
  description: 'What has this id; null when there is nothing.',
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

/** The schema as docs/schema.graphql has it: sorted, so that a change shows as itself. It resolves nothing. */
export const schemaDocument = (): string =>
  `${printSchema(lexicographicSortSchema(createSchema({} as unknown as Services)))}\n`;

/** The GraphQL schema: each noun brings its own fields. */
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { accountFields } from '../account/graphql.ts';
import type { AccountService } from '../account/service.ts';
import { destinationFields } from '../destinations/graphql.ts';
import type { DestinationService } from '../destinations/service.ts';
import { playlistFields } from '../playlists/graphql.ts';
import type { PlaylistService } from '../playlists/service.ts';
import type { StatsService } from '../stats/service.ts';
import { streamFields } from '../streams/graphql.ts';
import type { StreamService } from '../streams/service.ts';
import { uploadFields } from '../uploads/graphql.ts';
import type { UploadService } from '../uploads/service.ts';

export interface Services {
  account: AccountService;
  streams: StreamService;
  destinations: DestinationService;
  uploads: UploadService;
  playlists: PlaylistService;
  stats: Pick<StatsService, 'live'>;
}

export const createSchema = (services: Services): GraphQLSchema =>
  new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        ...accountFields(services.account),
        ...streamFields(services.streams, services.stats),
        ...destinationFields(services.destinations),
        ...uploadFields(services.uploads),
        ...playlistFields(services.playlists),
      },
    }),
  });

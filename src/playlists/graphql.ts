/** GraphQL: playlists. */
import { GraphQLEnumType, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { connectionField, DateTime, type Field, required } from '../graphql/relay.ts';
import type { PlaylistSummary } from './record.ts';
import type { PlaylistService } from './service.ts';
import { PLAYLIST_KINDS, PLAYLIST_MODES } from './spec.ts';

const enumOf = (name: string, values: readonly string[]) =>
  new GraphQLEnumType({ name, values: Object.fromEntries(values.map((value) => [value, { value }])) });

const Playlist = new GraphQLObjectType<PlaylistSummary>({
  name: 'Playlist',
  fields: {
    id: { type: required(GraphQLString) },
    name: { type: required(GraphQLString) },
    kind: { type: required(enumOf('PlaylistKind', PLAYLIST_KINDS)) },
    mode: { type: required(enumOf('PlaylistMode', PLAYLIST_MODES)) },
    streamID: { type: required(GraphQLString) },
    version: { type: required(GraphQLInt) },
    createdAt: { type: required(DateTime) },
  },
});

export const playlistFields = (playlists: PlaylistService): Record<string, Field> => ({
  playlists: connectionField<PlaylistSummary>({
    type: Playlist,
    operation: 'listPlaylists',
    description: 'Playlists, newest first.',
    list: ({ principal }, args) => playlists.list(principal.accountId, args),
  }),
});

/** GraphQL: playlists. */

import { GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import type { PlaylistSummary } from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import { PLAYLIST_KINDS } from '../../resources/playlist/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { mutationField } from './input.ts';
import {
  ChangesInput,
  ChangesSchema,
  ITEMS_COST,
  Item,
  ItemInput,
  Mode,
  ModeFilter,
  Publication,
  toChanges,
  VERSION_TYPES,
} from './playlist-versions.ts';
import type { Field, Fields } from './relay.ts';
import { type GraphContext, Node, type NounFields } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, IDFilter, NumberFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const Kind = enumOf('PlaylistKind', PLAYLIST_KINDS);
const playlistType = (playlists: PlaylistService) =>
  new GraphQLObjectType<PlaylistSummary, GraphContext>({
    name: 'Playlist',
    interfaces: [Node],
    fields: {
      id: { type: required(GraphQLID) },
      name: { type: required(GraphQLString) },
      kind: { type: required(Kind) },
      mode: { type: required(Mode) },
      streamID: {
        type: required(GraphQLID),
        description: 'The stream it belongs to; empty until it is attached to one.',
      },
      version: { type: required(GraphQLInt), description: 'Rises by one with each committed batch of changes.' },
      items: {
        type: listOf(Item),
        extensions: { cost: ITEMS_COST },
        resolve: ({ id }, _args, context) => {
          context.allow('getPlaylist');
          return playlists.get(context.principal.accountId, id).items;
        },
      },
      publishedVersion: {
        type: GraphQLInt,
        description: 'The version that streams play; null where none was ever published.',
      },
      publication: {
        type: required(Publication),
        extensions: { cost: ITEMS_COST },
        resolve: ({ id }, _args, context) => {
          context.allow('getPlaylist');
          return playlists.get(context.principal.accountId, id).publication;
        },
      },
      createdAt: { type: required(DateTime) },
    },
  });

const where = whereInput<PlaylistSummary>('PlaylistWhereInput', {
  id: { type: IDFilter },
  name: { type: TextFilter },
  kind: { type: enumFilter(Kind) },
  mode: { type: ModeFilter },
  streamID: { type: IDFilter },
  version: { type: NumberFilter },
  createdAt: { type: TimeFilter },
});

export function playlistFields(services: Pick<Services, 'playlists'>): NounFields {
  const { playlists } = services;
  const Playlist = playlistType(playlists);
  const types: NounTypes = {
    outputs: { Playlist, PlaylistSummary: Playlist, ...VERSION_TYPES.outputs },
    inputs: { kind: Kind, mode: Mode, items: ItemInput },
    lists: { PlaylistSummary: { where }, ...VERSION_TYPES.lists },
  };
  const all = [...playlistOperations, ...playlistVersionOperations];
  const { queries, mutations } = operationFields(all, services, types);
  return {
    queries,
    mutations: { ...mutations, changePlaylist: changeField(playlists, mutations) },
    node: (context, id) => {
      context.allow('getPlaylist');
      return { __typename: Playlist.name, ...playlists.get(context.principal.accountId, id) };
    },
  };
}

/** A change is a union in REST, which inputs of GraphQL do not have: its shape here is another one. */
const changeField = (playlists: PlaylistService, { updatePlaylist }: Fields): Field =>
  mutationField({
    operation: 'changePlaylist',
    description: 'A batch of changes, all or nothing, as the next version.',
    type: updatePlaylist?.type as GraphQLObjectType,
    withId: true,
    input: { type: ChangesInput, schema: ChangesSchema },
    run: async ({ principal }, { id, input }) => ({
      playlist: await playlists.change(principal.accountId, id, toChanges(input)),
    }),
  });

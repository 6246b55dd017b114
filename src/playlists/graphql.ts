/** GraphQL: playlists. */
import { GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { DeletePayload, inputType, mutationField, payloadOf } from '../graphql/input.ts';
import { byIdField, connectionField, type GraphContext, Node, type NounFields } from '../graphql/relay.ts';
import { DateTime, enumOf, listOf, required } from '../graphql/scalars.ts';
import { enumFilter, IDFilter, NumberFilter, TextFilter, TimeFilter, whereInput } from '../graphql/where.ts';
import { PlaylistCreate, type PlaylistSummary } from './record.ts';
import type { PlaylistService } from './service.ts';
import { PLAYLIST_KINDS, PLAYLIST_MODES } from './spec.ts';

const Kind = enumOf('PlaylistKind', PLAYLIST_KINDS);
const Mode = enumOf('PlaylistMode', PLAYLIST_MODES);

const Item = new GraphQLObjectType({
  name: 'PlaylistItem',
  fields: { uploadObjectID: { type: required(GraphQLID) } },
});

/** A playlist may have five hundred items; lists of playlists are seldom asked for them. */
const ITEMS_COST = 10;

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
      createdAt: { type: required(DateTime) },
    },
  });

const where = whereInput<PlaylistSummary>('PlaylistWhereInput', {
  id: { type: IDFilter },
  name: { type: TextFilter },
  kind: { type: enumFilter(Kind) },
  mode: { type: enumFilter(Mode) },
  streamID: { type: IDFilter },
  version: { type: NumberFilter },
  createdAt: { type: TimeFilter },
});

const ItemInput = inputType('PlaylistItemInput', PlaylistCreate.properties.items.items);
const CreateInput = inputType('PlaylistCreateInput', PlaylistCreate, { kind: Kind, mode: Mode, items: ItemInput });

export function playlistFields(playlists: PlaylistService): NounFields {
  const type = playlistType(playlists);
  return {
    node: (context, id) => {
      context.allow('getPlaylist');
      return { __typename: type.name, ...playlists.get(context.principal.accountId, id) };
    },
    queries: {
      playlist: byIdField({
        type,
        operation: 'getPlaylist',
        description: 'One playlist.',
        get: ({ principal }, id) => playlists.get(principal.accountId, id),
      }),
      playlists: connectionField<PlaylistSummary>({
        type,
        operation: 'listPlaylists',
        description: 'Playlists, newest first unless orderBy says otherwise.',
        where,
        list: ({ principal }, page, matching) => playlists.list(principal.accountId, page, matching),
      }),
    },
    mutations: {
      createPlaylist: mutationField({
        operation: 'createPlaylist',
        description: 'Creates a playlist.',
        type: payloadOf('PlaylistPayload', 'playlist', type),
        input: { type: CreateInput, schema: PlaylistCreate },
        run: async ({ principal }, { input }) => ({ playlist: await playlists.create(principal.accountId, input) }),
      }),
      deletePlaylist: mutationField({
        operation: 'deletePlaylist',
        description: 'Deletes a playlist; `playlist_in_use` while a stream plays it.',
        type: DeletePayload,
        withId: true,
        run: async ({ principal }, { id }) => {
          await playlists.delete(principal.accountId, id);
          return { id, done: true };
        },
      }),
    },
  };
}

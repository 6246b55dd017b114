/** GraphQL: playlists. */
import { GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import {
  PlaylistCreate,
  PlaylistPublish,
  PlaylistRollback,
  type PlaylistSummary,
  PlaylistUpdate,
} from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { PLAYLIST_KINDS } from '../../resources/playlist/spec.ts';
import { DeletePayload, inputType, mutationField, payloadOf } from './input.ts';
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
  versionQueries,
} from './playlist-versions.ts';
import { byIdField, connectionField, type GraphContext, Node, type NounFields } from './relay.ts';
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

const UpdateInput = inputType('PlaylistUpdateInput', PlaylistUpdate, { mode: Mode, items: ItemInput });
const CreateInput = inputType('PlaylistCreateInput', PlaylistCreate, { kind: Kind, mode: Mode, items: ItemInput });

export function playlistFields(playlists: PlaylistService): NounFields {
  const type = playlistType(playlists);
  const payload = payloadOf('PlaylistPayload', 'playlist', type);
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
      ...versionQueries(playlists),
    },
    mutations: {
      ...versionMutations(playlists, payload),
      createPlaylist: mutationField({
        operation: 'createPlaylist',
        description: 'Creates a playlist.',
        type: payload,
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

/** All of them are about a version that the one who writes has seen. */
const versionMutations = (playlists: PlaylistService, type: GraphQLObjectType): NounFields['mutations'] => ({
  updatePlaylist: mutationField({
    operation: 'updatePlaylist',
    description:
      'Sets name, mode or all items, as the next version; `playlist_version_conflict` when another came before.',
    type,
    withId: true,
    input: { type: UpdateInput, schema: PlaylistUpdate },
    run: async ({ principal }, { id, input }) => ({ playlist: await playlists.update(principal.accountId, id, input) }),
  }),
  changePlaylist: mutationField({
    operation: 'changePlaylist',
    description: 'A batch of changes, all or nothing, as the next version.',
    type,
    withId: true,
    input: { type: ChangesInput, schema: ChangesSchema },
    run: async ({ principal }, { id, input }) => ({
      playlist: await playlists.change(principal.accountId, id, toChanges(input)),
    }),
  }),
  publishPlaylist: mutationField({
    operation: 'publishPlaylist',
    description:
      'Puts a version on air, with no reconnect, as soon as something of it is prepared, or all of it with onItemFailure Block.',
    type,
    withId: true,
    args: { schema: PlaylistPublish },
    run: async ({ principal }, { id, args }) => ({
      playlist: await playlists.publish(principal.accountId, id, args.version),
    }),
  }),
  rollbackPlaylist: mutationField({
    operation: 'rollbackPlaylist',
    description: 'Makes a new version with mode and items of an old one.',
    type,
    withId: true,
    args: { schema: PlaylistRollback },
    run: async ({ principal }, { id, args }) => ({
      playlist: await playlists.rollback(principal.accountId, id, args.version),
    }),
  }),
});

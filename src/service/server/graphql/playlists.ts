/** Defines the GraphQL fields of playlists. */

import type { GraphQLFieldConfig, GraphQLObjectType, GraphQLOutputType } from 'graphql';
import { PLAYLIST_KINDS } from '../../../core/resources/playlist/spec.ts';
import { PLAYLIST_LIST } from '../../domain/playlists/list.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import {
  type Playlist,
  type PlaylistSummary,
  PlaylistSummary as SummarySchema,
} from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { mutationField } from './input.ts';
import { outputType } from './output.ts';
import {
  ChangesInput,
  ChangesSchema,
  ITEMS_COST,
  Item,
  ItemInput,
  Mode,
  NotWithin,
  NotWithinInput,
  Publication,
  Rule,
  RuleInput,
  toChanges,
  VERSION_TYPES,
} from './playlist-versions.ts';
import type { GraphContext, GraphqlField, GraphqlFields } from './relay.ts';
import { Node, type NounFields, nounOrder } from './relay.ts';
import { enumType, listType, required } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const Kind = enumType('PlaylistKind', PLAYLIST_KINDS);

/** A field that a list of playlists does not have: the playlist is read for it. */
const wholeField = (
  playlists: PlaylistService,
  name: keyof Playlist,
  type: GraphQLOutputType,
): GraphQLFieldConfig<PlaylistSummary, GraphContext> => ({
  type,
  extensions: { cost: ITEMS_COST },
  resolve({ id }, _args, context) {
    context.allow('getPlaylist');
    return playlists.get(context.principal.accountId, id)[name];
  },
});

const playlistType = (playlists: PlaylistService) =>
  outputType<PlaylistSummary>('Playlist', SummarySchema, {
    interfaces: [Node],
    types: { kind: Kind, mode: Mode },
    fields: {
      notWithin: wholeField(playlists, 'notWithin', required(NotWithin)),
      items: wholeField(playlists, 'items', listType(Item)),
      rules: wholeField(playlists, 'rules', listType(Rule)),
      publication: wholeField(playlists, 'publication', required(Publication)),
    },
  });

const FILTERS = ['id', 'name', 'kind', 'mode', 'streamID', 'version', 'createdAt'];

export function playlistFields(services: Pick<Services, 'playlists'>): NounFields {
  const { playlists } = services;
  const Playlist = playlistType(playlists);
  const types: NounTypes = {
    outputs: { Playlist, PlaylistSummary: Playlist, ...VERSION_TYPES.outputs },
    inputs: { kind: Kind, type: Kind, mode: Mode, notWithin: NotWithinInput, items: ItemInput, rules: RuleInput },
    lists: {
      PlaylistSummary: {
        where: whereInput('PlaylistWhereInput', filtersOf(Playlist, FILTERS)),
        order: nounOrder(PLAYLIST_LIST),
      },
      ...VERSION_TYPES.lists,
    },
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

/** REST's change is a union, which GraphQL inputs lack, so this field has a shape of its own. */
const changeField = (playlists: PlaylistService, { updatePlaylist }: GraphqlFields): GraphqlField =>
  mutationField({
    operation: 'changePlaylist',
    description: 'Applies a batch of changes as the next version. Either all changes apply, or none.',
    type: updatePlaylist?.type as GraphQLObjectType,
    withId: true,
    input: { type: ChangesInput, schema: ChangesSchema },
    run: async ({ principal }, { id, input }) => ({
      playlist: await playlists.change(principal.accountId, id, toChanges(input)),
    }),
  });

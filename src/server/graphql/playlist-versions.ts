/** GraphQL: the versions that a playlist had, and batches of changes. */

import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
} from 'graphql';
import { type Static, Type } from 'typebox';
import { CHANGES, type Change, Item as ItemSchema } from '../../domain/playlists/changes.ts';
import {
  MAX_CHANGES,
  PlaylistChanges,
  type PlaylistVersionSummary,
  PUBLICATION_STATES,
} from '../../domain/playlists/record.ts';
import { PLAYLIST_MODES } from '../../resources/playlist/spec.ts';
import type { NounTypes } from './adapter.ts';
import { inputType } from './input.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, FlagFilter, NumberFilter, TimeFilter, whereInput } from './where.ts';

export const Mode = enumOf('PlaylistMode', PLAYLIST_MODES);
export const ModeFilter = enumFilter(Mode);
export const Item = new GraphQLObjectType({
  name: 'PlaylistItem',
  fields: { uploadObjectID: { type: required(GraphQLID) } },
});
export const ItemInput = inputType('PlaylistItemInput', ItemSchema);

/** A playlist may have five hundred items. */
export const ITEMS_COST = 10;

export const Publication = new GraphQLObjectType({
  name: 'PlaylistPublication',
  description: 'How far the version that streams play is prepared for them.',
  fields: {
    version: { type: GraphQLInt, description: 'Null where none was ever published.' },
    state: { type: required(enumOf('PlaylistPublicationState', PUBLICATION_STATES)) },
    itemsReady: { type: required(GraphQLInt) },
    itemsFailed: { type: required(GraphQLInt) },
    itemsTotal: { type: required(GraphQLInt) },
    progress: { type: required(GraphQLFloat), description: 'Of all items together, 0 to 1.' },
  },
});

/** GraphQL has no unions in inputs: a change is an object of which exactly one field is given (@oneOf). */
const ChangeInput = new GraphQLInputObjectType({
  name: 'PlaylistChangeInput',
  isOneOf: true,
  fields: Object.fromEntries(
    Object.entries(CHANGES).map(([op, fields]) => [
      op,
      {
        type: inputType(`Playlist${op[0]?.toUpperCase()}${op.slice(1)}Input`, Type.Object(fields), {
          items: ItemInput,
        }),
      },
    ]),
  ),
});

/** The same batch as in REST, in the shape that inputs have here. */
export const ChangesSchema = Type.Object(
  {
    version: PlaylistChanges.properties.version,
    changes: Type.Array(
      Type.Object(
        {
          insert: Type.Optional(Type.Object(CHANGES.insert, { additionalProperties: false })),
          remove: Type.Optional(Type.Object(CHANGES.remove, { additionalProperties: false })),
          move: Type.Optional(Type.Object(CHANGES.move, { additionalProperties: false })),
          replace: Type.Optional(Type.Object(CHANGES.replace, { additionalProperties: false })),
        },
        { minProperties: 1, maxProperties: 1, additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_CHANGES },
    ),
  },
  { title: 'PlaylistChanges', additionalProperties: false },
);
export const ChangesInput = inputType('PlaylistChangesInput', ChangesSchema, { changes: ChangeInput });

export const toChanges = ({ version, changes }: Static<typeof ChangesSchema>): PlaylistChanges => ({
  version,
  changes: changes.flatMap((given) => Object.entries(given).map(([op, fields]) => ({ op, ...fields }) as Change)),
});

const versionFields = {
  version: { type: required(GraphQLInt) },
  createdAt: { type: DateTime, description: 'When it was committed; null where nobody wrote that down.' },
  mode: { type: required(Mode) },
  itemCount: { type: required(GraphQLInt) },
  published: { type: required(GraphQLBoolean), description: 'Whether this is the version that streams play.' },
};
const VersionSummary = new GraphQLObjectType({ name: 'PlaylistVersionSummary', fields: versionFields });
const Version = new GraphQLObjectType({
  name: 'PlaylistVersion',
  fields: { ...versionFields, items: { type: listOf(Item), extensions: { cost: ITEMS_COST } } },
});

const where = whereInput<PlaylistVersionSummary>('PlaylistVersionWhereInput', {
  version: { type: NumberFilter },
  createdAt: { type: TimeFilter },
  mode: { type: ModeFilter },
  itemCount: { type: NumberFilter },
  published: { type: FlagFilter },
});

const ChangeType = new GraphQLObjectType({
  name: 'PlaylistChange',
  description: 'The fields that its `op` has; the others are null.',
  fields: {
    op: { type: required(enumOf('PlaylistChangeOp', Object.keys(CHANGES))) },
    index: { type: GraphQLInt },
    count: { type: GraphQLInt },
    from: { type: GraphQLInt },
    to: { type: GraphQLInt },
    items: { type: new GraphQLList(required(Item)) },
  },
});
const Diff = new GraphQLObjectType({
  name: 'PlaylistDiff',
  fields: {
    from: { type: required(GraphQLInt) },
    to: { type: required(GraphQLInt) },
    mode: { type: Mode, description: 'The mode of `to` where it is another one.' },
    changes: { type: listOf(ChangeType), description: 'Made to the items of `from`, they give the items of `to`.' },
  },
});

export const VERSION_TYPES = {
  outputs: { PlaylistVersionSummary: VersionSummary, PlaylistVersion: Version, PlaylistDiff: Diff },
  lists: {
    PlaylistVersionSummary: { where, order: { VERSION: { value: 'version' }, CREATED_AT: { value: 'createdAt' } } },
  },
} satisfies NounTypes;

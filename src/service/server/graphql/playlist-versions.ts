/** Defines the GraphQL fields of playlist versions and of batches of changes. */

import { GraphQLInputObjectType, GraphQLInt, GraphQLList, GraphQLObjectType } from 'graphql';
import { type Static, Type } from 'typebox';
import { RULE_AFTERS, RULE_PICKS, RULE_STARTS } from '../../../core/resources/playlist/rules.ts';
import { PLAYLIST_MODES } from '../../../core/resources/playlist/spec.ts';
import { CHANGES, type ItemChange, Item as ItemSchema } from '../../domain/playlists/changes.ts';
import {
  PlaylistDiff as DiffSchema,
  MAX_CHANGES,
  NotWithin as NotWithinSchema,
  PlaylistChanges,
  PUBLICATION_STATES,
  Publication as PublicationSchema,
  PlaylistVersion as VersionSchema,
  PlaylistVersionSummary as VersionSummarySchema,
} from '../../domain/playlists/record.ts';
import { PlaylistRule, RuleWhen } from '../../domain/playlists/rules.ts';
import type { NounTypes } from './adapter.ts';
import { inputType } from './input.ts';
import { outputType } from './output.ts';
import { enumType, required } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

export const Mode = enumType('PlaylistMode', PLAYLIST_MODES);
const WHEN = { at: 'PlaylistRuleTimes', window: 'PlaylistRuleWindow' } as const;
const START = enumType('PlaylistRuleStart', RULE_STARTS);
const AFTER = enumType('PlaylistRuleAfter', RULE_AFTERS);
const PICK = enumType('PlaylistRulePick', RULE_PICKS);
const { at, window } = RuleWhen.properties;

export const NotWithin = outputType('PlaylistNotWithin', NotWithinSchema);
export const NotWithinInput = inputType('PlaylistNotWithinInput', NotWithinSchema);

export const Rule = outputType('PlaylistRule', PlaylistRule, {
  types: {
    ...{ start: START, after: AFTER, pick: PICK },
    when: outputType('PlaylistRuleWhen', RuleWhen, {
      types: { at: outputType(WHEN.at, at), window: outputType(WHEN.window, window) },
    }),
  },
});
export const RuleInput = inputType('PlaylistRuleInput', PlaylistRule, {
  ...{ start: START, after: AFTER, pick: PICK },
  when: inputType('PlaylistRuleWhenInput', RuleWhen, {
    at: inputType(`${WHEN.at}Input`, at),
    window: inputType(`${WHEN.window}Input`, window),
  }),
});
export const Item = outputType('PlaylistItem', ItemSchema);
export const ItemInput = inputType('PlaylistItemInput', ItemSchema);

/** A playlist may have five hundred items. */
export const ITEMS_COST = 10;

export const Publication = outputType('PlaylistPublication', PublicationSchema, {
  description: 'Preparation of the published version for the streams that play it.',
  types: { state: enumType('PlaylistPublicationState', PUBLICATION_STATES) },
});

/** GraphQL has no input unions: a change is an object with exactly one field (@oneOf). */
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

/** Schema of REST's batch in the shape of the GraphQL input. */
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
  changes: changes.flatMap((given) => Object.entries(given).map(([op, fields]) => ({ op, ...fields }) as ItemChange)),
});

const versionOptions = {
  types: { mode: Mode, notWithin: NotWithin, items: Item, rules: Rule },
  costs: { items: ITEMS_COST },
} as const;
const VersionSummary = outputType('PlaylistVersionSummary', VersionSummarySchema, versionOptions);
const Version = outputType('PlaylistVersion', VersionSchema, versionOptions);

const FILTERS = ['version', 'createdAt', 'mode', 'itemCount', 'published'];
const where = whereInput('PlaylistVersionWhereInput', filtersOf(VersionSummary, FILTERS));

const ChangeType = new GraphQLObjectType({
  name: 'PlaylistChange',
  description: 'A change. Fields that its `op` does not have are null.',
  fields: {
    op: { type: required(enumType('PlaylistChangeOp', Object.keys(CHANGES))) },
    index: { type: GraphQLInt },
    count: { type: GraphQLInt },
    from: { type: GraphQLInt },
    to: { type: GraphQLInt },
    items: { type: new GraphQLList(required(Item)) },
  },
});
const Diff = outputType('PlaylistDiff', DiffSchema, {
  types: { mode: Mode, notWithin: NotWithin, rules: Rule, changes: ChangeType },
});

export const VERSION_TYPES = {
  outputs: { PlaylistVersionSummary: VersionSummary, PlaylistVersion: Version, PlaylistDiff: Diff },
  lists: {
    PlaylistVersionSummary: { where, order: { VERSION: { value: 'version' }, CREATED_AT: { value: 'createdAt' } } },
  },
} satisfies NounTypes;

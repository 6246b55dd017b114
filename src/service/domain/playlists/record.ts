/** Defines a playlist as clients see and send it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { MAX_APART } from '../../../core/resources/playlist/rule-limits.ts';
import { MAX_ITEMS, PLAYLIST_KINDS, PLAYLIST_MODES } from '../../../core/resources/playlist/spec.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { DisplayName, nullable } from '../../lib/schemas.ts';
import { Item, ItemChange } from './changes.ts';
import { PlaylistRules } from './rules.ts';

export const MAX_CHANGES = 100;

const VersionNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Mode = Type.Enum(PLAYLIST_MODES, { title: 'PlaylistMode', description: 'The order in which items are played.' });
const Items = Type.Array(Item, { maxItems: MAX_ITEMS });
export const NotWithin = Type.Object(
  {
    sameArtist: Type.Integer({
      minimum: 0,
      maximum: MAX_APART,
      description: 'Items between two of one artist in shuffle.',
    }),
  },
  { title: 'PlaylistNotWithin', additionalProperties: false },
);
const nullableVersion = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description });

export const PlaylistCreate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    labels: LabelsInput,
    kind: Type.Enum(PLAYLIST_KINDS, { title: 'MediaKind' }),
    mode: Mode,
    notWithin: Type.Optional(NotWithin),
    items: Items,
    rules: Type.Optional(PlaylistRules),
    streamID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description:
          'Stream to attach the playlist to. It is added after the stream’s other playlists, or replaces its single video.',
      }),
    ),
  },
  { title: 'PlaylistCreate', additionalProperties: false },
);
export type PlaylistCreate = Static<typeof PlaylistCreate>;

/** Version that the client read: the request fails if it is no longer the current one. */
const seen = {
  version: Type.Integer({ ...VersionNumber, description: 'Version that the changes apply to.' }),
};

export const PlaylistUpdate = Type.Object(
  {
    ...seen,
    name: Type.Optional(DisplayName),
    labels: LabelsInput,
    mode: Type.Optional(Mode),
    notWithin: Type.Optional(NotWithin),
    items: Type.Optional(Items),
    rules: Type.Optional(PlaylistRules),
  },
  { title: 'PlaylistUpdate', additionalProperties: false },
);
export type PlaylistUpdate = Static<typeof PlaylistUpdate>;

export const PlaylistChanges = Type.Object(
  {
    ...seen,
    changes: Type.Array(ItemChange, {
      minItems: 1,
      maxItems: MAX_CHANGES,
      description: 'Changes to make in order, each to the result of the one before. Either all are made or none.',
    }),
  },
  { title: 'PlaylistChanges', additionalProperties: false },
);
export type PlaylistChanges = Static<typeof PlaylistChanges>;

export const PlaylistPublish = Type.Object(
  {
    version: Type.Integer({ ...VersionNumber, description: 'Version to put on air: the current one or a stored one.' }),
  },
  { title: 'PlaylistPublish', additionalProperties: false },
);
export type PlaylistPublish = Static<typeof PlaylistPublish>;

export const PlaylistRollback = Type.Object(
  { version: Type.Integer({ ...VersionNumber, description: 'Version whose mode, items and rules are copied.' }) },
  { title: 'PlaylistRollback', additionalProperties: false },
);
export type PlaylistRollback = Static<typeof PlaylistRollback>;

const summary = {
  id: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  name: Type.String(),
  labels: Labels,
  kind: Type.Enum(PLAYLIST_KINDS, { title: 'MediaKind' }),
  mode: Mode,
  streamID: Type.String({
    description: 'Stream that the playlist belongs to. Empty until the playlist is attached to one.',
  }),
  version: Type.Integer({ description: 'Version number. Each committed batch of changes raises it by one.' }),
  publishedVersion: nullableVersion(
    'Version that streams play. Null for a playlist that was created with kubectl and never published: its ' +
      'current version is played.',
  ),
  posterUrl: nullable(
    Type.String(),
    'Path of a small picture of the playlist (JPEG), to be requested with the same credentials: the poster of the first upload ' +
      'that has one. Null if none has.',
  ),
};

export const PlaylistSummary = Type.Object(summary, { title: 'PlaylistSummary' });
export type PlaylistSummary = Static<typeof PlaylistSummary>;

export const PUBLICATION_STATES = ['preparing', 'ready', 'failed'] as const;

export const Publication = Type.Object(
  {
    version: nullableVersion('Published version. Null if none was ever published.'),
    state: Type.Enum(PUBLICATION_STATES, {
      title: 'PreparationState',
      description:
        'While `preparing`, streams on air keep playing what they play. Once `ready`, they switch after the current item.',
    }),
    itemsReady: Type.Integer({ minimum: 0 }),
    itemsFailed: Type.Integer({ minimum: 0 }),
    itemsTotal: Type.Integer({ minimum: 0 }),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'Progress of all items together, from 0 to 1.' }),
  },
  { title: 'PlaylistPublication' },
);
export type Publication = Static<typeof Publication>;

export const Playlist = Type.Object(
  { ...summary, notWithin: NotWithin, items: Type.Array(Item), rules: PlaylistRules, publication: Publication },
  { title: 'Playlist' },
);
export type Playlist = Static<typeof Playlist>;

const version = {
  version: Type.Integer({ minimum: 1 }),
  createdAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Time at which the version was committed. Null if it was not recorded.',
  }),
  mode: Mode,
  itemCount: Type.Integer({ minimum: 0 }),
  published: Type.Boolean({ description: 'True for the version that streams play.' }),
};
export const PlaylistVersionSummary = Type.Object(version, { title: 'PlaylistVersionSummary' });
export type PlaylistVersionSummary = Static<typeof PlaylistVersionSummary>;

export const PlaylistVersion = Type.Object(
  { ...version, notWithin: NotWithin, items: Type.Array(Item), rules: PlaylistRules },
  { title: 'PlaylistVersion' },
);
export type PlaylistVersion = Static<typeof PlaylistVersion>;

export const PlaylistDiff = Type.Object(
  {
    from: Type.Integer({ minimum: 1 }),
    to: Type.Integer({ minimum: 1 }),
    mode: Type.Union([Mode, Type.Null()], { description: 'Mode of `to` if it differs, otherwise null.' }),
    notWithin: Type.Union([NotWithin, Type.Null()], {
      description: 'That of `to` if it differs, otherwise null.',
    }),
    rules: Type.Union([PlaylistRules, Type.Null()], { description: 'Rules of `to` if they differ, otherwise null.' }),
    changes: Type.Array(ItemChange, { description: 'Changes that turn the items of `from` into the items of `to`.' }),
  },
  { title: 'PlaylistDiff' },
);
export type PlaylistDiff = Static<typeof PlaylistDiff>;

/** Defines a playlist as clients see and send it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { MAX_ITEMS, PLAYLIST_KINDS, PLAYLIST_MODES } from '../../resources/playlist/spec.ts';
import { DisplayName } from '../streams/record.ts';
import { Change, Item } from './changes.ts';

export const MAX_CHANGES = 100;

const VersionNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Mode = Type.Enum(PLAYLIST_MODES, { description: 'The order in which items are played.' });
const Items = Type.Array(Item, { maxItems: MAX_ITEMS });
const nullableVersion = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description });

export const PlaylistCreate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    kind: Type.Enum(PLAYLIST_KINDS),
    mode: Mode,
    items: Items,
    streamID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'A stream that is to play it: after the playlists that it has, or in place of its one video.',
      }),
    ),
  },
  { title: 'PlaylistCreate', additionalProperties: false },
);
export type PlaylistCreate = Static<typeof PlaylistCreate>;

/** Version that the client read: the request fails if it is no longer the current one. */
const seen = {
  version: Type.Integer({ ...VersionNumber, description: 'The version that these changes are made to.' }),
};

export const PlaylistUpdate = Type.Object(
  { ...seen, name: Type.Optional(DisplayName), mode: Type.Optional(Mode), items: Type.Optional(Items) },
  { title: 'PlaylistUpdate', additionalProperties: false },
);
export type PlaylistUpdate = Static<typeof PlaylistUpdate>;

export const PlaylistChanges = Type.Object(
  {
    ...seen,
    changes: Type.Array(Change, {
      minItems: 1,
      maxItems: MAX_CHANGES,
      description: 'Made one after the other, each to what the one before has left; all of them or none.',
    }),
  },
  { title: 'PlaylistChanges', additionalProperties: false },
);
export type PlaylistChanges = Static<typeof PlaylistChanges>;

export const PlaylistPublish = Type.Object(
  { version: Type.Integer({ ...VersionNumber, description: 'The version to put on air: the current or a kept one.' }) },
  { title: 'PlaylistPublish', additionalProperties: false },
);
export type PlaylistPublish = Static<typeof PlaylistPublish>;

export const PlaylistRollback = Type.Object(
  { version: Type.Integer({ ...VersionNumber, description: 'The version whose mode and items are taken again.' }) },
  { title: 'PlaylistRollback', additionalProperties: false },
);
export type PlaylistRollback = Static<typeof PlaylistRollback>;

const summary = {
  id: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  name: Type.String(),
  kind: Type.Enum(PLAYLIST_KINDS),
  mode: Mode,
  streamID: Type.String({ description: 'The stream it belongs to; empty until it is attached to one.' }),
  version: Type.Integer({ description: 'Rises by one with each committed batch of changes.' }),
  publishedVersion: nullableVersion(
    'The version that streams play. Null where none was ever published (made with kubectl): then the current one is played.',
  ),
};

export const PlaylistSummary = Type.Object(summary, { title: 'PlaylistSummary' });
export type PlaylistSummary = Static<typeof PlaylistSummary>;

export const PUBLICATION_STATES = ['preparing', 'ready', 'failed'] as const;

export const Publication = Type.Object(
  {
    version: nullableVersion('The version that is played; null where none was ever published.'),
    state: Type.Enum(PUBLICATION_STATES, {
      description:
        'While `preparing`, streams on air stay with what they play; once `ready`, they go on with it after the current item.',
    }),
    itemsReady: Type.Integer({ minimum: 0 }),
    itemsFailed: Type.Integer({ minimum: 0 }),
    itemsTotal: Type.Integer({ minimum: 0 }),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'Of all items together, 0 to 1.' }),
  },
  { title: 'PlaylistPublication' },
);
export type Publication = Static<typeof Publication>;

export const Playlist = Type.Object(
  { ...summary, items: Type.Array(Item), publication: Publication },
  { title: 'Playlist' },
);
export type Playlist = Static<typeof Playlist>;

const version = {
  version: Type.Integer({ minimum: 1 }),
  createdAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When it was committed; null where nobody wrote that down.',
  }),
  mode: Mode,
  itemCount: Type.Integer({ minimum: 0 }),
  published: Type.Boolean({ description: 'Whether this is the version that streams play.' }),
};
export const PlaylistVersionSummary = Type.Object(version, { title: 'PlaylistVersionSummary' });
export type PlaylistVersionSummary = Static<typeof PlaylistVersionSummary>;

export const PlaylistVersion = Type.Object({ ...version, items: Type.Array(Item) }, { title: 'PlaylistVersion' });
export type PlaylistVersion = Static<typeof PlaylistVersion>;

export const PlaylistDiff = Type.Object(
  {
    from: Type.Integer({ minimum: 1 }),
    to: Type.Integer({ minimum: 1 }),
    mode: Type.Union([Mode, Type.Null()], { description: 'The mode of `to` where it is another one; otherwise null.' }),
    changes: Type.Array(Change, { description: 'Made to the items of `from`, they give the items of `to`.' }),
  },
  { title: 'PlaylistDiff' },
);
export type PlaylistDiff = Static<typeof PlaylistDiff>;

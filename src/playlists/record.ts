/**
 * A playlist as clients see it and as they ask for it. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { DisplayName } from '../streams/record.ts';
import { MAX_ITEMS, PLAYLIST_KINDS, PLAYLIST_MODES } from './spec.ts';

const item = { uploadObjectID: Type.String({ minLength: 1, maxLength: 253 }) };

export const PlaylistCreate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    kind: Type.Enum(PLAYLIST_KINDS),
    mode: Type.Enum(PLAYLIST_MODES),
    items: Type.Array(Type.Object(item, { additionalProperties: false }), { maxItems: MAX_ITEMS }),
  },
  { title: 'PlaylistCreate', additionalProperties: false },
);
export type PlaylistCreate = Static<typeof PlaylistCreate>;

const summary = {
  id: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  name: Type.String(),
  kind: Type.Enum(PLAYLIST_KINDS),
  mode: Type.Enum(PLAYLIST_MODES),
  streamID: Type.String({ description: 'The stream it belongs to; empty until it is attached to one.' }),
  version: Type.Integer({ description: 'Rises by one with each committed batch of changes.' }),
};

export const PlaylistSummary = Type.Object(summary, { title: 'PlaylistSummary' });
export type PlaylistSummary = Static<typeof PlaylistSummary>;

export const Playlist = Type.Object({ ...summary, items: Type.Array(Type.Object(item)) }, { title: 'Playlist' });
export type Playlist = Static<typeof Playlist>;

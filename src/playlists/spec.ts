/**
 * Playlist: an ordered list of uploads. `metadata.generation` is its public version: Kubernetes raises it by one for each
 * change of the spec, which is the contract's "increases by 1 for each committed batch of changes".
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Condition } from '../streams/conditions.ts';

export const PLAYLIST_KINDS = ['video', 'audio'] as const;
export const PLAYLIST_MODES = ['sequential', 'shuffle'] as const;
export const MAX_ITEMS = 500;

export const PlaylistSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  kind: Type.Enum(PLAYLIST_KINDS, { default: 'video', description: 'Which track it fills.' }),
  mode: Type.Enum(PLAYLIST_MODES, { default: 'sequential', description: 'The order in which items are played.' }),
  items: Type.Array(
    Type.Object({
      uploadRef: Type.String({ minLength: 1, maxLength: 253, description: 'Name of an Upload in the same namespace.' }),
    }),
    { maxItems: MAX_ITEMS, description: 'What is played.' },
  ),
});
export type PlaylistSpec = Static<typeof PlaylistSpec>;

export const PlaylistStatus = Type.Object({
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The generation of the spec this status is for.' }),
  ),
  conditions: Type.Optional(
    Type.Array(Condition, { maxItems: 16, description: 'Prepared: every item can be played.' }),
  ),
});
export type PlaylistStatus = Static<typeof PlaylistStatus>;

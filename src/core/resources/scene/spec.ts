/** Declares Scene: overlays under a name, which streams share. It says nothing by itself, so it has no status. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { Overlays } from '../upload/overlays.ts';

export const SceneSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  ...Overlays.properties,
});
export type SceneSpec = Static<typeof SceneSpec>;

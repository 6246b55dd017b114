/** Declares what a stream says of its viewers. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

/** Only of a stream in the phase `live`: while no destination takes media, Live and Degraded say why viewers see nothing. */
export const ON_AIR_FOR_VIEWERS = 'OnAirForViewers';

/** A destination, and what the stream has told of its viewers since it went on air (operator/stream/platforms.ts). */
export const StreamPlatform = Type.Object({
  destination: Type.String({ maxLength: 253, description: 'Name of the destination.' }),
  status: Type.Enum(['True', 'False', 'Unknown'], {
    title: 'StreamPlatformStatus',
    description: 'Whether viewers see the stream there.',
  }),
  reason: Type.Optional(Type.String({ maxLength: 64, description: 'Stable code of the cause, in CamelCase.' })),
  told: Type.Optional(
    Type.Enum(['Live', 'Ended'], {
      title: 'StreamPlatformTold',
      description: 'The last certain answer since the stream went on air. It outlasts times in which nothing is known.',
    }),
  ),
});
export type StreamPlatform = Static<typeof StreamPlatform>;

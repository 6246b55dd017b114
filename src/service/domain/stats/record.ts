/** Defines the live statistics of a stream as clients see them: null when it is not live. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { FramerateOutput, QualityOutput } from '../../lib/public-profile.ts';
import { nullable } from '../../lib/schemas.ts';

const number = nullable(Type.Number());
const integer = nullable(Type.Integer());

const place = {
  playlistID: Type.Union([Type.String(), Type.Null()], {
    description: 'Playlist that contains the item. Null for a single upload.',
  }),
  index: Type.Union([Type.Integer(), Type.Null()], { description: 'Position of the item in that playlist, from 0.' }),
};
const ShownItem = Type.Object({ id: Type.String(), name: Type.String(), ...place });
const Item = nullable(ShownItem);

export const LiveStats = Type.Object(
  {
    live: Type.Boolean(),
    quality: nullable(QualityOutput, 'Quality on air. An edit changes it once the new media plays.'),
    framerate: nullable(FramerateOutput, 'Frame rate on air.'),
    startedAt: nullable(Type.String({ format: 'date-time' })),
    uptimeSeconds: number,
    bitrateKbps: number,
    fps: number,
    keyframeIntervalSeconds: nullable(
      Type.Number(),
      'Longest time between two keyframes of the last minute, in seconds.',
    ),
    framesSent: integer,
    loopCount: integer,
    seam: nullable(Type.Object({ count: integer, maxStepMs: number })),
    avSkewMs: number,
    reconnects: integer,
    viewers: nullable(
      Type.Integer({ minimum: 0 }),
      'People who watch now, as far as the platforms of the destinations tell.',
    ),
    current: Item,
    positionSeconds: Type.Union([Type.Number(), Type.Null()], {
      description: 'Position in the current item, in seconds.',
    }),
    durationSeconds: Type.Union([Type.Number(), Type.Null()], {
      description: 'Length of the current item, in seconds. It is an estimate while the item is being prepared.',
    }),
    next: Item,
    currentAudio: nullable(ShownItem, 'Item of the audio playlist that plays. Null without an audio playlist.'),
    nextAudio: nullable(ShownItem, 'Item of the audio playlist that plays next.'),
    playable: nullable(Type.Boolean(), 'False while no item can be played.'),
    brokenItems: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        ...place,
        track: Type.Enum(['video', 'audio'], { title: 'MediaKind' }),
        code: Type.String(),
        message: Type.String(),
      }),
      { description: 'Items that are left out because they are broken, missing or not ready yet. At most 20.' },
    ),
    destinations: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        connected: Type.Boolean(),
        bytesSent: integer,
        bitrateKbps: nullable(Type.Number(), 'Average of the last minute, with sound and filler.'),
        leastBitrateKbps: nullable(
          Type.Number(),
          'Bitrate up to which pictures are filled: the destination’s own, or what its platform asks for. Null: they are not.',
        ),
        pace: nullable(
          Type.Number(),
          'Seconds of media sent in a second, over the last minute: 1 is the speed of the stream.',
        ),
        reconnects: integer,
        viewers: integer,
        lastError: nullable(
          Type.Object({
            code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
            message: Type.String(),
          }),
        ),
      }),
    ),
  },
  { title: 'LiveStats' },
);
export type LiveStats = Static<typeof LiveStats>;

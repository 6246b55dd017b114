/**
 * Declares what happens to a stream in the eyes of its viewers, as its status keeps it for those who look later. Conditions say how things
 * are; what comes and goes between two looks is in this list alone.
 *
 * `number` rises by one with each transition of a stream and never comes twice, so UID and number name an event for good. The list keeps
 * the latest ones, and nobody acknowledges them: a reader who comes after more than that sees by the numbers how many are missing.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

/** A stream that flaps every half minute fills it in a quarter of an hour. */
export const MAX_TRANSITIONS = 32;
export const MAX_TRANSITION_MESSAGE = 400;

/**
 * - Live          a destination takes media, after a start that was wanted.
 * - Reconnecting  no destination takes media any more; it is sought again, or the pod is being replaced.
 * - OffAir        that has lasted, or nothing seeks it any more: viewers see nothing, though the stream is meant to be on air.
 * - Recovered     a destination takes media again.
 * - Stopped       the stream is not meant to be on air any more, and leaves it.
 * - Degraded      the stream is on air with a problem.
 * - StartMissed   a window of its schedule began too long ago to be started.
 * - Rejected      a destination refuses the key, the login or the publisher, for the first time since it took media.
 * - PlatformLive    viewers see the stream at a destination: for the first time since it went on air, or again after PlatformEnded.
 * - PlatformEnded   they do not see it, though the destination takes media.
 * - PlatformHealth  they see it, and something asks for attention.
 * - PlatformView    that is not known any more, or it is known again as it was: no news, but uptime has to know.
 */
export const TRANSITIONS = [
  'Live',
  'Reconnecting',
  'OffAir',
  'Recovered',
  'Stopped',
  'Degraded',
  'StartMissed',
  'Rejected',
  'PlatformLive',
  'PlatformEnded',
  'PlatformHealth',
  'PlatformView',
] as const;

export const Transition = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Number of the transition. Each transition of a stream is one higher than the last.',
  }),
  kind: Type.Enum(TRANSITIONS, { title: 'TransitionKind', description: 'What has happened.' }),
  at: Type.String({ format: 'date-time', description: 'Time at which it happened.' }),
  reason: Type.Optional(
    Type.String({ description: 'Stable code of the cause, the same as the reason of a condition.' }),
  ),
  destination: Type.Optional(
    Type.String({ maxLength: 253, description: 'For Rejected and Platform…: name of the destination.' }),
  ),
  onAirForViewers: Type.Optional(
    Type.Enum(['True', 'False', 'Unknown'], {
      title: 'TransitionOnAirForViewers',
      description: 'For Platform…: whether viewers of all destinations see the stream from then on.',
    }),
  ),
  message: Type.Optional(Type.String({ maxLength: MAX_TRANSITION_MESSAGE, description: 'The cause, as a sentence.' })),
  offAirSeconds: Type.Optional(
    Type.Number({ minimum: 0, description: 'For Recovered: how long no destination took media, in seconds.' }),
  ),
});
export type Transition = Static<typeof Transition>;

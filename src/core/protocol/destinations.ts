/**
 * Declares where a stream is sent, as the file DESTINATIONS_KEY of its Secret says it to its pods: the name of each destination → the keys
 * of its own Secret, and what its spec says of the media. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { MOST_LEAST_KBPS } from '../resources/destination/least-bitrate.ts';

const field = Type.String({ default: '' });
export const DestinationSecrets = Type.Object({
  rtmpUrl: field,
  rtmpKey: field,
  rtmpUser: field,
  rtmpPassword: field,
  /** The least bitrate of the pictures, in kbit/s. Not set: by the platform. */
  leastBitrateKbps: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_LEAST_KBPS })),
});
export type DestinationSecrets = Static<typeof DestinationSecrets>;

export const Destinations = Type.Record(Type.String(), Type.Partial(DestinationSecrets));
export type Destinations = Static<typeof Destinations>;

/**
 * Declares where a stream is sent, as the file DESTINATIONS_KEY of its Secret says it to its pods: the name of each destination → the keys
 * of its own Secret. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

const field = Type.String({ default: '' });
export const DestinationSecrets = Type.Object({
  rtmpUrl: field,
  rtmpKey: field,
  rtmpUser: field,
  rtmpPassword: field,
});
export type DestinationSecrets = Static<typeof DestinationSecrets>;

export const Destinations = Type.Record(Type.String(), Type.Partial(DestinationSecrets));
export type Destinations = Static<typeof Destinations>;

/**
 * Destination: where a stream is sent. The URL and the key live in a Secret alone; the status tells what may be shown of them.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Condition } from '../streams/conditions.ts';

export const DestinationSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  secretName: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Secret in the same namespace with the keys rtmpUrl and rtmpKey.',
  }),
});
export type DestinationSpec = Static<typeof DestinationSpec>;

export const DestinationStatus = Type.Object({
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The generation of the spec this status is for.' }),
  ),
  rtmpUrl: Type.Optional(Type.String({ description: 'The ingest URL, without the key.' })),
  secretVersion: Type.Optional(
    Type.String({ description: 'resourceVersion of the Secret when it was looked at: streams take up another one.' }),
  ),
  rtmpKeyHint: Type.Optional(Type.String({ description: 'The last four characters of the key.' })),
  conditions: Type.Optional(
    Type.Array(Condition, { maxItems: 16, description: 'Ready: the Secret is there and its URL can be used.' }),
  ),
});
export type DestinationStatus = Static<typeof DestinationStatus>;

/** The last four characters of a key, as a hint to its owner; nothing of a key shorter than eight. */
export const keyHint = (rtmpKey: string): string => (rtmpKey.length < 8 ? '' : rtmpKey.slice(-4));

/**
 * Why a URL cannot be streamed to, or undefined when it can. Credentials inside a URL would end up where URLs may be
 * shown, so they are refused; the key has its own field.
 */
export function ingestUrlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL, e.g. rtmp://a.rtmp.youtube.com/live2';
  const url = new URL(text);
  if (!['rtmp:', 'rtmps:', 'srt:'].includes(url.protocol)) return 'must begin with rtmp://, rtmps:// or srt://';
  if (url.username || url.password) return 'must not hold a user name or password; give the stream key as rtmpKey';
  if (!url.hostname) return 'must name a host';
  if (/[\s"'\\]/.test(text)) return 'must not hold spaces, quotes or backslashes';
  return undefined;
}

/**
 * Declares Destination: the place a stream is sent to. The URL and the key live in a Secret alone; the status holds the
 * parts that may be shown. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Condition } from '../common/conditions.ts';
import { OBSERVED_UID } from '../common/own-status.ts';
import type { Phase } from '../stream/spec.ts';
import { MOST_LEAST_KBPS } from './least-bitrate.ts';
import { DestinationPlatform, PlatformStatus } from './platform.ts';

export const DestinationSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  secretName: Type.String({
    minLength: 1,
    maxLength: 253,
    description:
      'Secret in the same namespace with the keys rtmpUrl and rtmpKey. If the server requires a login, it also has ' +
      'rtmpUser and rtmpPassword.',
  }),
  platform: Type.Optional(DestinationPlatform),
  leastBitrateKbps: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MOST_LEAST_KBPS,
      description:
        'Bitrate up to which pictures are filled, in kbit/s: a still costs next to nothing, which platforms take for an ill ' +
        'stream. 0 fills none. Not set: what the platform of the address asks for.',
    }),
  ),
});
export type DestinationSpec = Static<typeof DestinationSpec>;

/** The steps of a test, in order. SRT has no connection and no handshake that could be told from its publish. */
export const TEST_STAGES = ['resolve', 'connect', 'tls', 'handshake', 'publish'] as const;
export type TestStage = (typeof TEST_STAGES)[number];

/** Codes of a test beside those of a stream's destination (protocol/codes.ts): the test did not run. */
export const ON_AIR = 'on_air';
export const NOT_RUN = 'not_run';

/** The result of a test's pod (its termination message, JSON). */
export const ProbeResult = Type.Object({
  ok: Type.Boolean({ description: 'True if the destination accepted a publisher.' }),
  stage: Type.Enum(TEST_STAGES, { description: 'The last step that the test reached.' }),
  code: Type.Optional(
    Type.String({ maxLength: 64, description: 'Stable code of the failure. Not set if the test passed.' }),
  ),
  message: Type.String({ maxLength: 1024, description: 'The result, as a sentence.' }),
  tookMs: Type.Integer({ minimum: 0, description: 'Duration of the test, in milliseconds.' }),
});
export type ProbeResult = Static<typeof ProbeResult>;

export const TestStatus = Type.Object(
  {
    id: Type.String({ description: 'Value of the annotation loopstream.dev/test that requested the test.' }),
    ...ProbeResult.properties,
    finishedAt: Type.String({ format: 'date-time', description: 'Time at which the test ended.' }),
    secretVersion: Type.Optional(
      Type.String({ description: 'resourceVersion of the Secret whose URL and key were tested.' }),
    ),
  },
  { description: 'Result of the last requested test.' },
);
export type TestStatus = Static<typeof TestStatus>;

export const DestinationStatus = Type.Object({
  ...OBSERVED_UID,
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Generation of the spec that this status describes.' }),
  ),
  rtmpUrl: Type.Optional(Type.String({ description: 'Ingest URL, without the stream key.' })),
  secretVersion: Type.Optional(
    Type.String({
      description:
        'resourceVersion of the Secret when it was last read. When it changes, streams use the new URL and key.',
    }),
  ),
  rtmpKeyHint: Type.Optional(
    Type.String({ description: 'The last four characters of the stream key. Empty if the key is shorter than eight.' }),
  ),
  hasLogin: Type.Optional(Type.Boolean({ description: 'True if the Secret has a user name and a password.' })),
  test: Type.Optional(TestStatus),
  platform: Type.Optional(PlatformStatus),
  conditions: Type.Optional(
    Type.Array(Condition, {
      maxItems: 16,
      description:
        'Conditions: Ready is True when the Secret exists and its URL can be used. Reconciling and Stalled. With spec.platform ' +
        'also PlatformLive: whether viewers see the stream.',
    }),
  ),
});
export type DestinationStatus = Static<typeof DestinationStatus>;

/** Whether a stream in this phase publishes where it is sent, or tries to: a destination takes one publisher. */
export const holdsDestination = (phase: Phase | undefined): boolean =>
  phase === 'starting' || phase === 'live' || phase === 'reconnecting' || phase === 'stopping';

/** The last four characters of a key, as a hint to its owner; nothing of a key shorter than eight. */
export const keyHint = (rtmpKey: string): string => (rtmpKey.length < 8 ? '' : rtmpKey.slice(-4));

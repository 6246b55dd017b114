/**
 * Defines a destination as clients see and send it. Its key, its login and the token of its platform's account are write-only.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { MAX_VALUE_BYTES } from '../../../core/resources/destination/ingest.ts';
import { MOST_LEAST_KBPS } from '../../../core/resources/destination/least-bitrate.ts';
import { MAX_PASSWORD_LENGTH, MAX_USER_BYTES } from '../../../core/resources/destination/login.ts';
import { ISSUE_SEVERITIES, PLATFORM_KINDS, PLATFORM_POLICIES } from '../../../core/resources/destination/platform.ts';
import { TEST_STAGES } from '../../../core/resources/destination/spec.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { DisplayName, EFFECT, nullable, Time } from '../../lib/schemas.ts';

const RtmpUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Ingest URL: rtmp://, rtmps:// or srt://, with SRT options. A user name and password, the key, or a ' +
    'placeholder for it such as `{stream_key}` are taken out of the URL. Its secrets are write-only.',
});
const RtmpKey = Type.String({
  maxLength: MAX_VALUE_BYTES,
  description: `Stream key, write-only. At most ${MAX_VALUE_BYTES} bytes in UTF-8. Blanks and quotes around it are taken off. May be left out if the URL ends with it. Empty if the server needs none.`,
});
const RtmpUser = Type.String({
  maxLength: MAX_USER_BYTES,
  pattern: `^\\s*([^\\s"'&\\\\\\u0000-\\u001f\\u007f-\\u009f]+\\s*)?$`,
  description: `User name for an RTMP server that requires a login, write-only. At most ${MAX_USER_BYTES} bytes in UTF-8. Empty for no login.`,
});
const RtmpPassword = Type.String({
  maxLength: MAX_PASSWORD_LENGTH,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'Password of that user, write-only. The server receives a digest of it, never the password.',
});
/** A request may give either name, or both with one value (short-names.ts). */
const short = {
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'The same as rtmpUrl.' })),
  key: Type.Optional(Type.String({ maxLength: MAX_VALUE_BYTES, description: 'The same as rtmpKey.' })),
};
/** Agents read it in each conversation, so it says the least. */
export const LISTED_ADDRESS = {
  rtmpUrl: Type.Optional(Type.String({ description: 'Ingest URL: rtmp://, rtmps:// or srt://.' })),
  rtmpKey: Type.Optional(Type.String({ description: 'Stream key. Empty if the server needs none.' })),
};
const login = { rtmpUser: Type.Optional(RtmpUser), rtmpPassword: Type.Optional(RtmpPassword) };

export const NO_PLATFORM = 'none';
export const PLATFORM_CHOICES = [...PLATFORM_KINDS, NO_PLATFORM] as const;
const Policy = Type.Enum(PLATFORM_POLICIES, { title: 'PlatformPolicy' });
/** Null equals a missing one, so that what was read can be sent back. */
const pasted = (maxLength: number, description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }));

const GivenPlatform = Type.Object(
  {
    kind: Type.Enum(PLATFORM_CHOICES, {
      title: 'PlatformChoice',
      description:
        'How to find out what viewers see: `watch` opens `url`; `youtube` and `twitch` ask the platform. `none`: nobody looks.',
    }),
    policy: Type.Optional(
      Type.Enum(PLATFORM_POLICIES, {
        title: 'PlatformPolicy',
        description:
          'Repair (youtube with a token) makes a new broadcast when one has ended under a running stream. Default: Observe.',
      }),
    ),
    url: pasted(2048, 'watch: the address that viewers open: HLS, HTTP-FLV, or RTMP to play.'),
    channel: pasted(2048, 'twitch: the name of the channel, or its address.'),
    videoId: pasted(2048, 'youtube: the id of the video that viewers open, or its address.'),
    refreshToken: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          'youtube: OAuth refresh token of an account that manages the channel, write-only. Left out, the stored one stays. Empty: none.',
      }),
    ),
  },
  { title: 'DestinationPlatformInput', additionalProperties: false },
);
const PlatformInput = Type.Union([GivenPlatform, Type.Null()], {
  description: 'Where viewers see the stream, replaced as a whole. Null or the kind `none`: nobody looks.',
});
export type PlatformInput = Static<typeof PlatformInput>;

/** GraphQL takes null for a missing value, and so do many agents: BY_PLATFORM says the same. */
export const BY_PLATFORM = -1;
const LeastBitrateInput = Type.Union([Type.Integer({ minimum: BY_PLATFORM, maximum: MOST_LEAST_KBPS }), Type.Null()], {
  description:
    'Bitrate up to which pictures are filled, in kbit/s. 0 fills none. -1 or null: what the platform asks for.',
});

export const DestinationCreate = Type.Object(
  {
    name: DisplayName,
    labels: LabelsInput,
    rtmpUrl: Type.Optional(RtmpUrl),
    rtmpKey: Type.Optional(RtmpKey),
    ...short,
    ...login,
    leastBitrateKbps: Type.Optional(LeastBitrateInput),
    platform: Type.Optional(PlatformInput),
  },
  { title: 'DestinationCreate', additionalProperties: false },
);
export type DestinationCreate = Static<typeof DestinationCreate>;

export const DestinationUpdate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    labels: LabelsInput,
    rtmpUrl: Type.Optional(RtmpUrl),
    rtmpKey: Type.Optional(RtmpKey),
    ...short,
    ...login,
    leastBitrateKbps: Type.Optional(LeastBitrateInput),
    platform: Type.Optional(PlatformInput),
  },
  { title: 'DestinationUpdate', additionalProperties: false, minProperties: 1 },
);
export type DestinationUpdate = Static<typeof DestinationUpdate>;

export const DestinationTest = Type.Object(
  {
    ok: Type.Boolean({ description: 'True if the destination accepted a publisher.' }),
    stage: Type.Enum(TEST_STAGES, {
      title: 'DestinationTestStage',
      description: 'The last step that the test reached.',
    }),
    code: Type.Union([Type.String(), Type.Null()], {
      description: 'Code of the failure, as in `lastError` of live-stats. Null if ok is true.',
    }),
    message: Type.String({ description: 'The result, as a sentence.' }),
    tookMs: Type.Integer({ minimum: 0 }),
  },
  { title: 'DestinationTest' },
);
export type DestinationTest = Static<typeof DestinationTest>;

const { message, tookMs } = DestinationTest.properties;
/** Many tools of agents show it, so it repeats no description. */
const LastTest = Type.Object({
  ok: Type.Boolean(),
  stage: Type.Enum(TEST_STAGES, { title: 'DestinationTestStage' }),
  code: nullable(Type.String()),
  message,
  tookMs,
  finishedAt: Type.String({ format: 'date-time' }),
});

const Platform = Type.Object(
  {
    kind: Type.Enum(PLATFORM_KINDS, { title: 'PlatformKind' }),
    policy: Policy,
    url: nullable(Type.String()),
    channel: nullable(Type.String()),
    videoId: nullable(Type.String()),
    hasToken: Type.Boolean({ description: 'True if a refresh token is stored.' }),
  },
  { title: 'DestinationPlatform' },
);

const PlatformIssue = Type.Object(
  {
    code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
    severity: Type.Enum(ISSUE_SEVERITIES, { title: 'PlatformIssueSeverity' }),
    message: Type.String(),
    fix: nullable(Type.String()),
  },
  { title: 'PlatformIssue' },
);

const PlatformLive = Type.Object(
  {
    status: Type.Enum(['true', 'false', 'unknown'], {
      title: 'PlatformLiveStatus',
      description: 'Whether viewers see the stream. What nobody has confirmed lately is unknown.',
    }),
    code: nullable(Type.String(), 'Cause, with a page at /docs/errors/{code}. Null if viewers see the stream.'),
    message: Type.String({ description: 'The state, as a sentence.' }),
    fix: nullable(Type.String(), 'Action that solves the problem.'),
    since: nullable(Time, 'Time at which `status` last changed.'),
    checkedAt: nullable(Time, 'Time of the last look.'),
    lastSeenAt: nullable(Time, 'Time at which viewers were last known to see the stream.'),
    viewers: nullable(Type.Integer({ minimum: 0 }), 'People who watch now, as far as the platform tells.'),
    issues: Type.Array(PlatformIssue, { description: 'What the platform says of the media that it gets.' }),
    repairStalled: Type.Boolean({
      description: 'True while no broadcast is repaired any more, until somebody asks for it (`resume-repair`).',
    }),
  },
  { title: 'DestinationPlatformLive' },
);

export const Destination = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: Labels,
    rtmpUrl: Type.String({
      description: 'Ingest URL. Secret values are hidden, as in `srt://host:9000?passphrase=…`.',
    }),
    url: Type.String({ description: 'The same as rtmpUrl.' }),
    rtmpKeyHint: Type.String({ description: 'The last four characters of the key. Empty for a short key.' }),
    keyHint: Type.String({ description: 'The same as rtmpKeyHint.' }),
    hasLogin: Type.Boolean({ description: 'True if a user name and a password are stored.' }),
    leastBitrateKbps: nullable(
      Type.Integer({ minimum: 0 }),
      'Bitrate up to which pictures are filled, in kbit/s. 0 fills none. Null: what the platform asks for.',
    ),
    lastTest: nullable(LastTest, 'Result of the last test with the current URL, key and login. Null if there is none.'),
    platform: nullable(Platform, 'Where viewers see the stream. Null: nobody looks.'),
    platformLive: nullable(PlatformLive, 'What is known of the view of the viewers. Null without `platform`.'),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Destination' },
);
export type Destination = Static<typeof Destination>;

export const DestinationChange = Type.Object(
  {
    ...Destination.properties,
    ...EFFECT,
    streamIDs: Type.Array(Type.String(), {
      description: 'Streams on air to the destination, which leave its old address and connect to the new one.',
    }),
  },
  { title: 'DestinationChange' },
);
export type DestinationChange = Static<typeof DestinationChange>;

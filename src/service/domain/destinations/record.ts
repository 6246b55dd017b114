/**
 * Defines a destination as clients see and send it. Its key and its login are write-only.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { MAX_VALUE_BYTES } from '../../../core/resources/destination/ingest.ts';
import { MAX_PASSWORD_LENGTH, MAX_USER_BYTES } from '../../../core/resources/destination/login.ts';
import { TEST_STAGES } from '../../../core/resources/destination/spec.ts';
import { DisplayName, EFFECT, nullable } from '../../lib/schemas.ts';

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
const login = { rtmpUser: Type.Optional(RtmpUser), rtmpPassword: Type.Optional(RtmpPassword) };

export const DestinationCreate = Type.Object(
  { name: DisplayName, rtmpUrl: RtmpUrl, rtmpKey: Type.Optional(RtmpKey), ...login },
  { title: 'DestinationCreate', additionalProperties: false },
);
export type DestinationCreate = Static<typeof DestinationCreate>;

export const DestinationUpdate = Type.Object(
  { name: Type.Optional(DisplayName), rtmpUrl: Type.Optional(RtmpUrl), rtmpKey: Type.Optional(RtmpKey), ...login },
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

export const Destination = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    rtmpUrl: Type.String({
      description: 'Ingest URL. Secret values are hidden, as in `srt://host:9000?passphrase=…`.',
    }),
    rtmpKeyHint: Type.String({ description: 'The last four characters of the key. Empty for a short key.' }),
    hasLogin: Type.Boolean({ description: 'True if a user name and a password are stored.' }),
    lastTest: nullable(LastTest, 'Result of the last test with the current URL, key and login. Null if there is none.'),
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

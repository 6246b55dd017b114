/**
 * Defines a destination as clients see and send it. Its key and its login are write-only.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { MAX_VALUE_BYTES } from '../../resources/destination/ingest.ts';
import { MAX_PASSWORD_LENGTH, MAX_USER_BYTES } from '../../resources/destination/login.ts';
import { TEST_STAGES } from '../../resources/destination/spec.ts';
import { DisplayName } from '../streams/record.ts';

const RtmpUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Ingest URL: rtmp://, rtmps:// or srt://, with options of SRT. A user name and password, the key, or a placeholder for it such as `{stream_key}` may be in it and are taken out. Secrets in it are write-only.',
});
const RtmpKey = Type.String({
  maxLength: MAX_VALUE_BYTES,
  pattern: `^\\s*[^\\s"'\\\\\\u0000-\\u001f\\u007f-\\u009f]*\\s*$`,
  description: `Stream key; write-only. At most ${MAX_VALUE_BYTES} bytes in UTF-8. Empty where the URL ends with it, and where SRT needs none.`,
});
const RtmpUser = Type.String({
  maxLength: MAX_USER_BYTES,
  pattern: `^\\s*[^\\s"'&\\\\\\u0000-\\u001f\\u007f-\\u009f]*\\s*$`,
  description: `User name, where an RTMP server asks for a login; write-only. At most ${MAX_USER_BYTES} bytes in UTF-8. Empty: no login.`,
});
const RtmpPassword = Type.String({
  maxLength: MAX_PASSWORD_LENGTH,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'Password of that user; write-only. The server is shown a digest of it, never the password.',
});
const login = { rtmpUser: Type.Optional(RtmpUser), rtmpPassword: Type.Optional(RtmpPassword) };

export const DestinationCreate = Type.Object(
  { name: DisplayName, rtmpUrl: RtmpUrl, rtmpKey: RtmpKey, ...login },
  { title: 'DestinationCreate', additionalProperties: false },
);
export type DestinationCreate = Static<typeof DestinationCreate>;

export const DestinationUpdate = Type.Object(
  { name: Type.Optional(DisplayName), rtmpUrl: Type.Optional(RtmpUrl), rtmpKey: Type.Optional(RtmpKey), ...login },
  { title: 'DestinationUpdate', additionalProperties: false, minProperties: 1 },
);
export type DestinationUpdate = Static<typeof DestinationUpdate>;

export const Destination = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    rtmpUrl: Type.String({ description: 'Values that are secrets are hidden, as in `srt://host:9000?passphrase=…`.' }),
    rtmpKeyHint: Type.String({ description: 'The last four characters of the key; empty for a short key.' }),
    hasLogin: Type.Boolean({ description: 'Whether a user name and a password are kept for it.' }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Destination' },
);
export type Destination = Static<typeof Destination>;

export const DestinationTest = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether the destination took a publish.' }),
    stage: Type.Enum(TEST_STAGES, { description: 'How far it came: the last stage when it took a publish.' }),
    code: Type.Union([Type.String(), Type.Null()], {
      description: 'Why not, with the codes of `lastError` in live-stats; null when it is ok.',
    }),
    message: Type.String({ description: 'The same as a sentence for people.' }),
    tookMs: Type.Integer({ minimum: 0 }),
  },
  { title: 'DestinationTest' },
);
export type DestinationTest = Static<typeof DestinationTest>;

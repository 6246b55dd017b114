/**
 * A destination as clients see it and as they ask for it. Its key goes in and never comes out.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { DisplayName } from '../streams/record.ts';
import { MAX_VALUE_BYTES } from './ingest.ts';
import { TEST_STAGES } from './spec.ts';

const RtmpUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Ingest URL without the key: rtmp://, rtmps:// or srt://, with options of SRT. Secrets in it are write-only.',
});
const RtmpKey = Type.String({
  minLength: 1,
  maxLength: MAX_VALUE_BYTES,
  pattern: '^[^\\s"\'\\\\\\u0000-\\u001f\\u007f-\\u009f]+$',
  description: 'Stream key; write-only.',
});

export const DestinationCreate = Type.Object(
  { name: DisplayName, rtmpUrl: RtmpUrl, rtmpKey: RtmpKey },
  { title: 'DestinationCreate', additionalProperties: false },
);
export type DestinationCreate = Static<typeof DestinationCreate>;

export const DestinationUpdate = Type.Object(
  { name: Type.Optional(DisplayName), rtmpUrl: Type.Optional(RtmpUrl), rtmpKey: Type.Optional(RtmpKey) },
  { title: 'DestinationUpdate', additionalProperties: false, minProperties: 1 },
);
export type DestinationUpdate = Static<typeof DestinationUpdate>;

export const Destination = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    rtmpUrl: Type.String({ description: 'Values that are secrets are hidden, as in `srt://host:9000?passphrase=…`.' }),
    rtmpKeyHint: Type.String({ description: 'The last four characters of the key; empty for a short key.' }),
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

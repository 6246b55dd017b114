/** Defines an upload as clients see and send it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { REASON_PATTERN } from '../../../core/lib/sentences.ts';
import { LOUDNESS_LIMITS } from '../../../core/resources/upload/loudness.ts';
import {
  MAX_QUARANTINE_REASON_CHARS,
  PREVIEW_STATES,
  RENDITION_STATES,
  TrackChoice,
  UPLOAD_STATES,
} from '../../../core/resources/upload/spec.ts';
import { MAX_TAG_CHARS, TAG_MEANINGS, type TagName } from '../../../core/resources/upload/tags.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { DisplayName, nullable } from '../../lib/schemas.ts';
import { UPLOAD_TYPES } from './types.ts';

const UploadType = Type.Enum([...UPLOAD_TYPES], {
  title: 'UploadType',
  description:
    'The media to take from the source: video, sound alone, or an image to draw over what plays (PNG, JPEG, WebP or GIF).',
});

const { video, audio, audioRight } = TrackChoice.properties;
export const UploadTracks = Type.Object(
  { video, audio, audioRight },
  {
    title: 'UploadTracks',
    additionalProperties: false,
    description:
      'The tracks to play, by their indexes in `declaredTracks`. Of a kind without a choice, the track that a player ' +
      'would choose plays. `{}` is no choice.',
  },
);

/** GraphQL takes null for a missing value: "" says the same. No descriptions, which agents would pay for in each conversation. */
const GivenTag = Type.Optional(nullable(Type.String({ maxLength: MAX_TAG_CHARS })));
const shownTag = (name: TagName) => nullable(Type.String(), TAG_MEANINGS[name]);

const GIVEN_TAGS = {
  title: GivenTag,
  artist: GivenTag,
  album: GivenTag,
  isrc: GivenTag,
  label: GivenTag,
  license: GivenTag,
  licenseUrl: GivenTag,
};
export type GivenTags = Partial<Record<TagName, string | null>>;

/** Whether streams show their overlays over an item. */
export const ITEM_OVERLAYS = ['SHOWN', 'NONE'] as const;
const ItemOverlays = Type.Enum(ITEM_OVERLAYS, {
  title: 'ItemOverlays',
  description: 'NONE: streams show no overlays over this item, such as over an advertisement. Else SHOWN.',
});

const LINK_FIELDS = {
  type: UploadType,
  url: Type.String({ minLength: 1, maxLength: 4096, description: 'Public http or https URL to import from.' }),
  name: Type.Optional(DisplayName),
  tracks: Type.Optional(UploadTracks),
  overlays: Type.Optional(ItemOverlays),
  labels: LabelsInput,
  ...GIVEN_TAGS,
};

export const UploadFromLink = Type.Object(LINK_FIELDS, { title: 'UploadFromLink', additionalProperties: false });
export type UploadFromLink = Static<typeof UploadFromLink>;

/** Links of one request. */
const MAX_LINKS = 100;

/** One of several links. The result of a link says why its URL cannot be imported; the request is valid. */
const UploadLink = Type.Object(LINK_FIELDS, { title: 'UploadLink', additionalProperties: false });

export const UploadsFromLinks = Type.Object(
  {
    links: Type.Array(UploadLink, {
      minItems: 1,
      maxItems: MAX_LINKS,
      description: 'Links to import from, in order.',
    }),
  },
  { title: 'UploadsFromLinks', additionalProperties: false },
);
export type UploadsFromLinks = Static<typeof UploadsFromLinks>;

export const UploadUpdate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    tracks: Type.Optional(UploadTracks),
    overlays: Type.Optional(ItemOverlays),
    labels: LabelsInput,
    ...GIVEN_TAGS,
  },
  { title: 'UploadUpdate', additionalProperties: false },
);
export type UploadUpdate = Static<typeof UploadUpdate>;

export const UploadQuarantine = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: MAX_QUARANTINE_REASON_CHARS,
      pattern: REASON_PATTERN,
      description: 'Why it is not to be played, as people read it.',
    }),
    cut: Type.Optional(
      Type.Boolean({ description: 'Ends it at once where it is on air. By default it plays to its end.' }),
    ),
  },
  { title: 'UploadQuarantine', additionalProperties: false },
);
export type UploadQuarantine = Static<typeof UploadQuarantine>;

const DeclaredTrack = Type.Object({
  index: Type.Integer({ description: 'Index of the track, counted from 0 over all tracks of the file.' }),
  kind: Type.Enum(['VIDEO', 'AUDIO'], { title: 'TrackKind', description: 'Kind of the track.' }),
  codec: Type.String(),
  language: nullable(Type.String()),
  title: nullable(Type.String()),
  channels: nullable(Type.Integer()),
  playable: Type.Boolean({ description: 'False if the track cannot be decoded.' }),
  automatic: Type.Boolean({ description: 'True if the track plays where no track of its kind is chosen.' }),
});

const UploadError = Type.Object({
  code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
  message: Type.String({ description: 'The cause, as a sentence.' }),
  fix: Type.String({ description: 'Action that solves the problem.' }),
});

const Sound = Type.Object({
  targetLufs: Type.Integer(),
  maxTruePeakDb: Type.Integer(),
  maxBoostDb: Type.Integer(),
  state: Type.Enum(RENDITION_STATES, { title: 'SoundState' }),
  gainDb: nullable(Type.Number(), 'By how much the sound is louder than the file, in dB. Null until it is ready.'),
  integratedLufs: nullable(Type.Number(), 'Integrated loudness of the sound, in LUFS. Null for silence.'),
  truePeakDb: nullable(Type.Number(), 'True peak of the sound, in dBTP. Null for silence.'),
  limitedBy: nullable(
    Type.Enum(LOUDNESS_LIMITS, { title: 'LoudnessLimit' }),
    'Why the sound does not have the loudness of `targetLufs`: its peaks, the limits of the gain, or silence.',
  ),
  error: nullable(UploadError, 'Why the sound could not be made. Streams play that of the file.'),
});

const Look = Type.Object({
  profile: Type.String({ description: 'Quality and frame rate, e.g. 1080p30.' }),
  state: Type.Enum(RENDITION_STATES, { title: 'SoundState' }),
  error: nullable(UploadError, 'Why it could not be made. Streams play the item without it.'),
});

export const Upload = Type.Object(
  {
    id: Type.String({ description: 'The same as objectID.' }),
    objectID: Type.String(),
    type: UploadType,
    name: Type.String(),
    fromLink: Type.Boolean({ description: 'False if a client sends the file.' }),
    state: Type.Enum(UPLOAD_STATES, { title: 'UploadState' }),
    progress: Type.Number({ description: 'Progress of the current state, from 0 to 1.' }),
    sizeBytes: nullable(Type.Integer()),
    durationSeconds: nullable(Type.Number()),
    video: nullable(
      Type.Object({ codec: Type.String(), width: Type.Integer(), height: Type.Integer(), framerate: Type.Number() }),
    ),
    audio: nullable(Type.Object({ codec: Type.String(), sampleRate: Type.Integer(), channels: Type.Integer() })),
    tracks: nullable(
      Type.Object({
        video: nullable(Type.Integer()),
        audio: nullable(Type.Integer()),
        audioRight: nullable(Type.Integer()),
      }),
      'The chosen tracks. Null if none is chosen.',
    ),
    declaredTracks: Type.Array(DeclaredTrack, {
      description: 'Video and audio tracks of the file. Empty until it has been imported.',
    }),
    moreTracks: Type.Integer({ description: 'Number of tracks that `declaredTracks` leaves out.' }),
    title: shownTag('title'),
    artist: shownTag('artist'),
    album: shownTag('album'),
    isrc: shownTag('isrc'),
    label: shownTag('label'),
    license: shownTag('license'),
    licenseUrl: shownTag('licenseUrl'),
    overlays: ItemOverlays,
    quarantine: nullable(
      Type.Object({
        reason: Type.String(),
        since: nullable(Type.String({ format: 'date-time' })),
        cut: Type.Boolean({ description: 'Whether streams that played it went on to their next items at once.' }),
      }),
      'Why no stream plays it, though lists have it. Null if it is not in quarantine.',
    ),
    labels: Labels,
    preview: Type.Union([Type.Enum(PREVIEW_STATES, { title: 'PreparationState' }), Type.Null()], {
      description:
        'State of the one-minute preview at `GET /v1/uploads/{objectID}/preview.flv`. Null if nobody has requested it ' +
        'yet; the first request starts its preparation.',
    }),
    posterUrl: nullable(
      Type.String(),
      'Path of a small picture of the upload (JPEG), to be requested with the same credentials. Null if it has none, as sound without cover art, and until the import has made one.',
    ),
    warnings: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
        message: Type.String(),
      }),
      {
        description:
          'Changes made to the file so that it plays, e.g. a picture that is held while the sound goes on. Empty if ' +
          'there were none.',
      },
    ),
    waiting: nullable(
      Type.Object({
        message: Type.String({ description: 'Failure of the link’s server, as a sentence.' }),
        since: Type.String({ format: 'date-time', description: 'Time of the first failure.' }),
        nextTryAt: Type.String({ format: 'date-time', description: 'Time of the next attempt.' }),
        until: Type.String({ format: 'date-time', description: 'Time at which the import is given up.' }),
        tries: Type.Integer({ description: 'Number of failed attempts.' }),
      }),
      'Retries of the import while the link’s server is unavailable.',
    ),
    loudness: nullable(
      Type.Object({
        integratedLufs: nullable(Type.Number(), 'Integrated loudness, in LUFS (EBU R 128). Null for silence.'),
        truePeakDb: nullable(Type.Number(), 'True peak, in dBTP (ITU-R BS.1770). Null for silence.'),
        rangeLu: nullable(Type.Number(), 'Loudness range, in LU. Null for silence.'),
      }),
      'Measured loudness of the file. Null until a stream with `loudness` has had a sound made of it.',
    ),
    sounds: Type.Array(Sound, {
      description: 'Sounds that were made of the file, one for each loudness that streams ask for.',
    }),
    looks: Type.Array(Look, {
      description: 'The item with the overlays of streams in its pictures, one for each that they show over it.',
    }),
    cards: Type.Array(Look, { description: 'The pictures that streams show while they play the song.' }),
    error: nullable(UploadError),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Upload' },
);
export type Upload = Static<typeof Upload>;

export const UploadFromLinkResults = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        url: Type.String({ description: 'The link, as it was sent.' }),
        upload: nullable(Upload, 'The new upload. Null if the link was refused.'),
        error: nullable(UploadError, 'Why the link was refused. Null if there is an upload.'),
      }),
      { description: 'A result for each link, in the order of the links.' },
    ),
  },
  { title: 'UploadFromLinkResults' },
);
export type UploadFromLinkResults = Static<typeof UploadFromLinkResults>;

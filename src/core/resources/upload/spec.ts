/**
 * Declares Upload: a source file, imported once and prepared for each profile that a stream asks for. State lives here,
 * bytes in storage. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../lib/codes/uploads.ts';
import { Condition } from '../common/conditions.ts';
import { parseCardProfile } from './card.ts';
import { parseLookProfile } from './look.ts';
import { parseSoundProfile, SoundLoudness } from './loudness.ts';
import { OVERLAY_CHOICES } from './overlays.ts';
import { parseSlateProfile } from './slate.ts';
import { MediaTags } from './tags.ts';
import { UploadWarnings } from './warnings.ts';

/** Kinds of the tracks that are played. */
export const TRACK_KINDS = ['video', 'audio'] as const;
/** An image is drawn over what plays, or is a slate, and is no item of a stream. */
export const UPLOAD_TYPES = [...TRACK_KINDS, 'image'] as const;
/** The kind of the tracks that renditions of an upload begin with. */
export const getTrackKind = (type: (typeof UPLOAD_TYPES)[number]): (typeof TRACK_KINDS)[number] =>
  type === 'audio' ? 'audio' : 'video';
/** Pixels of an image. It is decoded alone, so it may have more than the pictures of a video. */
export const MAX_IMAGE_PIXELS = 50_000_000;
/**
 * importing (or still being sent) → preparing (a rendition for a stream is being made) → ready; failed when the source
 * cannot be fetched or read. An upload without requested renditions is ready as soon as it has been imported and
 * probed.
 */
export const UPLOAD_STATES = ['importing', 'preparing', 'ready', 'failed'] as const;
export type UploadState = (typeof UPLOAD_STATES)[number];

const UploadError = Type.Object(
  {
    code: Type.Enum(Object.keys(UPLOAD_ERRORS) as UploadErrorCode[], { description: 'Stable code.' }),
    message: Type.String({ maxLength: 1024, description: 'The cause, as a sentence.' }),
  },
  { description: 'The reason why the upload failed.' },
);

/** No file that is imported has so many tracks. */
export const MAX_TRACK_INDEX = 65_535;
const TrackIndex = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_TRACK_INDEX, description });

export const TrackChoice = Type.Object(
  {
    video: Type.Optional(TrackIndex('Index of the video track.')),
    audio: Type.Optional(TrackIndex('Index of the audio track.')),
    audioRight: Type.Optional(
      TrackIndex('Index of the audio track of the right side, if audio is that of the left side of one recording.'),
    ),
  },
  {
    description:
      'The tracks of the source to play, by their indexes in status.media.tracks. Of a kind without a choice, the ' +
      'track that a player would choose plays.',
  },
);
export type TrackChoice = Static<typeof TrackChoice>;

/** Tracks that are listed; a file may declare more. */
export const MAX_LISTED_TRACKS = 64;
/** The longest title that is listed. */
export const MAX_TRACK_TITLE_CHARS = 60;

export const MediaTrack = Type.Object({
  index: TrackIndex('Index of the track, counted from 0 over all tracks of the file.'),
  kind: Type.Enum(TRACK_KINDS, { description: 'Kind of the track.' }),
  codec: Type.String({ maxLength: 64, description: 'Codec, as ffmpeg names it.' }),
  language: Type.Optional(Type.String({ maxLength: 35, description: 'Language, if the file states it.' })),
  title: Type.Optional(
    Type.String({ maxLength: MAX_TRACK_TITLE_CHARS, description: 'Title of the track, if the file states it.' }),
  ),
  channels: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of channels of an audio track.' })),
  unplayable: Type.Optional(Type.Boolean({ description: 'True if the track cannot be decoded.' })),
  automatic: Type.Optional(
    Type.Boolean({ description: 'True if the track plays where no track of its kind is chosen.' }),
  ),
});
export type MediaTrack = Static<typeof MediaTrack>;

export const MediaInfo = Type.Object(
  {
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 hash of the source. Renditions are stored under it.',
    }),
    sizeBytes: Type.Integer({ minimum: 0, description: 'Size of the source, in bytes.' }),
    durationSeconds: Type.Number({ minimum: 0, description: 'Length of the source, in seconds.' }),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'File name that the link’s server reports.' }),
    ),
    video: Type.Optional(
      Type.Object(
        {
          codec: Type.String({ description: 'Codec, as ffmpeg names it.' }),
          width: Type.Integer({ description: 'Width, in pixels.' }),
          height: Type.Integer({ description: 'Height, in pixels.' }),
          framerate: Type.Number({ description: 'Average frame rate, in frames per second.' }),
        },
        { description: 'Video track of the source, if it has one.' },
      ),
    ),
    audio: Type.Optional(
      Type.Object(
        {
          codec: Type.String({ description: 'Codec, as ffmpeg names it.' }),
          sampleRate: Type.Integer({ description: 'Sample rate, in hertz.' }),
          channels: Type.Integer({ description: 'Number of channels.' }),
        },
        { description: 'Audio track of the source, if it has one.' },
      ),
    ),
    tracks: Type.Optional(
      Type.Array(MediaTrack, {
        maxItems: MAX_LISTED_TRACKS,
        description: 'Video and audio tracks that the source declares. Missing if an earlier release imported it.',
      }),
    ),
    moreTracks: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Number of tracks that the list leaves out, if it does.' }),
    ),
    tags: Type.Optional(Type.Object(MediaTags.properties, { description: 'Tags of the source, if it has any.' })),
  },
  { description: 'Properties of the source. Set once it has been imported.' },
);
export type MediaInfo = Static<typeof MediaInfo>;

/** Those that nobody wants are dropped for others. */
export const MAX_RENDITIONS = 32;

export const RENDITION_STATES = ['pending', 'ready', 'failed'] as const;

export const RenditionStatus = Type.Object({
  profile: Type.String({
    description:
      'Quality and frame rate, e.g. 1080p30; the same with overlays, e.g. 1080p30-l3k9x0a; preview; or the loudness of a ' +
      'sound, e.g. sound-14-1-6.',
  }),
  state: Type.Enum(RENDITION_STATES, {
    description: 'State of the rendition. A ready one is complete; a pending one can be played if it says so.',
  }),
  key: Type.Optional(Type.String({ description: 'Storage key. The chunks and the index are stored below it.' })),
  durationSeconds: Type.Optional(Type.Number({ minimum: 0, description: 'Length, in seconds.' })),
  bitrateKbps: Type.Optional(
    Type.Number({ minimum: 0, description: 'Average bit rate of what is prepared, in kbit/s.' }),
  ),
  preparedSeconds: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'Length that is prepared, from the beginning, in seconds. Set while the rest is being prepared.',
    }),
  ),
  playable: Type.Optional(
    Type.Boolean({
      description:
        'True if a stream may play the rendition while the rest is being prepared. key and durationSeconds (the ' +
        'expected length) are set then.',
    }),
  ),
  estimatedReadyAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Time at which the whole rendition is expected to be prepared.' }),
  ),
  unwantedSince: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Time since which no stream has needed the rendition. An unneeded rendition is deleted later.',
    }),
  ),
  loudness: Type.Optional(SoundLoudness),
  error: Type.Optional(UploadError),
});
export type RenditionStatus = Static<typeof RenditionStatus>;

/** A UID of Kubernetes, which is one segment of a storage key. */
export const UID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9-]*$';

/** A header has no room for many more. */
export const MAX_PARTS = 256;
const Part = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 63, description: 'Name that the part had as an Upload.' }),
    uid: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: UID_PATTERN,
      description: 'UID that the part has as an Upload. Its bytes are stored under this UID.',
    }),
  },
  { description: 'A part that a client sent as an Upload of its own, of the same account.' },
);
export type RenditionPart = Static<typeof Part>;

/** The longest reason of a quarantine. */
export const MAX_QUARANTINE_REASON_CHARS = 300;

export const Quarantine = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: MAX_QUARANTINE_REASON_CHARS,
      description: 'Why the upload is not to be played, as people read it.',
    }),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which somebody asked for it.' })),
    cut: Type.Optional(
      Type.Boolean({
        description:
          'True: a stream that plays the upload goes on to its next item at once, not at the end of the item.',
      }),
    ),
  },
  {
    description:
      'Takes the upload off every list at the end of the item on air, and keeps all lists and their versions as they are. Streams ' +
      'play it again once this is removed.',
  },
);
export type Quarantine = Static<typeof Quarantine>;

export const UploadSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  track: Type.Enum(UPLOAD_TYPES, {
    default: 'video',
    description: 'The media to take from the source: video, sound alone, or an image to draw over what plays.',
  }),
  tracks: Type.Optional(TrackChoice),
  tags: Type.Optional(
    Type.Object(MediaTags.properties, {
      description: 'Words of the owner, each in place of that in status.media.tags.',
    }),
  ),
  overlays: Type.Optional(
    Type.Enum(OVERLAY_CHOICES, {
      title: 'ItemOverlays',
      description: 'None: streams show their overlays not over this item, as over an advertisement.',
    }),
  ),
  quarantine: Type.Optional(Quarantine),
  source: Type.Object(
    {
      url: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 4096,
          description: 'Public http or https URL to import from, at most 4096 characters.',
        }),
      ),
      sent: Type.Optional(
        Type.Object(
          {
            sizeBytes: Type.Optional(
              Type.Integer({
                minimum: 1,
                description: 'Size of the whole upload, in bytes. Set once the client has declared it.',
              }),
            ),
            receivedBytes: Type.Integer({
              default: 0,
              minimum: 0,
              description:
                'Bytes received so far. The import begins when it equals sizeBytes, or before if a stream waits. Defaults to 0.',
            }),
            roomBytes: Type.Optional(
              Type.Integer({
                minimum: 0,
                description: 'Bytes that count towards the account’s limits while sizeBytes is not set.',
              }),
            ),
            isPart: Type.Optional(
              Type.Boolean({
                description: 'True if this upload is only a part that another upload is assembled from.',
              }),
            ),
            parts: Type.Optional(
              Type.Array(Part, {
                minItems: 1,
                maxItems: MAX_PARTS,
                description: 'Uploads whose bytes, joined in this order, make up this upload.',
              }),
            ),
          },
          { description: 'Used instead of url when a client sends the bytes to the API in pieces.' },
        ),
      ),
    },
    { description: 'Source of the bytes: either a link (url) or a client (sent).' },
  ),
  maxSizeBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Largest source to accept, in bytes. Defaults to the limit of the service, and cannot raise it.',
    }),
  ),
  maxDurationSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Longest source to accept, in seconds. Defaults to the limit of the service, and cannot raise it.',
    }),
  ),
  accountMaxBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Storage limit for all uploads of the account together, in bytes. An import from a link may use what is left ' +
        'of it at its start.',
    }),
  ),
});
export type UploadSpec = Static<typeof UploadSpec>;

/** Whether a client has yet to send some of it. */
export const isArriving = ({ source: { sent } }: UploadSpec): boolean =>
  sent !== undefined && (sent.isPart === true || sent.sizeBytes === undefined || sent.receivedBytes < sent.sizeBytes);

export const UploadWaiting = Type.Object(
  {
    message: Type.String({ maxLength: 1024, description: 'Failure of the link’s server, as a sentence.' }),
    since: Type.String({ format: 'date-time', description: 'Time of the first failure.' }),
    nextTryAt: Type.String({ format: 'date-time', description: 'Time of the next attempt.' }),
    until: Type.String({ format: 'date-time', description: 'Time at which the import is given up.' }),
    tries: Type.Integer({ minimum: 1, description: 'Number of failed attempts.' }),
  },
  {
    description:
      'Set while the link’s server is unavailable. Removed when the file has arrived or the import is given up.',
  },
);
export type UploadWaiting = Static<typeof UploadWaiting>;

export const UploadStatus = Type.Object({
  uid: Type.Optional(
    Type.String({
      maxLength: 63,
      description:
        'UID of the Upload that this status describes. A status that was restored from a backup names another one and is not believed.',
    }),
  ),
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Generation of the spec that this status describes.' }),
  ),
  phase: Type.Optional(Type.Enum(UPLOAD_STATES, { description: 'State of the upload.' })),
  progress: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Progress of the current state, from 0 to 1.' }),
  ),
  sourceKey: Type.Optional(Type.String({ description: 'Storage key of the imported source.' })),
  media: Type.Optional(MediaInfo),
  poster: Type.Optional(
    Type.String({ maxLength: 512, description: 'Storage key of the poster, a small picture of the source.' }),
  ),
  renditions: Type.Optional(
    Type.Array(RenditionStatus, { maxItems: MAX_RENDITIONS, description: 'Renditions of the source, by profile.' }),
  ),
  warnings: Type.Optional(UploadWarnings),
  error: Type.Optional(UploadError),
  waiting: Type.Optional(UploadWaiting),
  retried: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Last value of the annotation loopstream.dev/retry that caused another attempt.',
    }),
  ),
  conditions: Type.Optional(
    Type.Array(Condition, {
      maxItems: 16,
      description: 'Conditions: Ready, Reconciling, Stalled, Imported, Prepared and Quarantined.',
    }),
  ),
});
export type UploadStatus = Static<typeof UploadStatus>;

/** In a profile's place: the first minute, small, for a browser. No stream plays it. */
export const PREVIEW_PROFILE = 'preview';
/** Enough to know it again, in seconds. */
export const PREVIEW_SECONDS = 60;
/** Whether it stands in a profile's place for something that no stream waits for: a preview, a sound, a look, a card or a slate. */
export const isAside = (profile: string): boolean =>
  profile === PREVIEW_PROFILE ||
  [parseSoundProfile, parseLookProfile, parseCardProfile, parseSlateProfile].some(
    (parse) => parse(profile) !== undefined,
  );
/** Whether it is the source as it is: no sound of its own, nothing that a stream adds. A preview is. */
export const isPlain = (profile: string): boolean => profile === PREVIEW_PROFILE || !isAside(profile);
export const PREVIEW_STATES = ['preparing', 'ready', 'failed'] as const;
export type PreviewState = (typeof PREVIEW_STATES)[number];

/** Storage key below which the pieces are that a client sends. */
export const incomingKey = (uploadUid: string): string => `incoming/${uploadUid}`;
/** All storage keys below which the bytes are that clients have sent for an upload, in order. */
export const incomingKeys = ({ metadata, spec }: { metadata: { uid: string }; spec: UploadSpec }): string[] =>
  (spec.source.sent?.parts ?? [metadata]).map(({ uid }) => incomingKey(uid));
/** Storage key of an upload's imported source. */
export const sourceKey = (uploadUid: string): string => `sources/${uploadUid}`;

/**
 * Separates the renditions of accounts. The time of a preparation then tells nobody that another account has the file,
 * and a Job that was taken over poisons only its own account's. Uploads without an account share one scope in their
 * namespace.
 */
export const renditionScope = (namespace: string, accountId = ''): string =>
  createHash('sha256').update(`${namespace}/${accountId}`).digest('hex').slice(0, 24);

/** Names the chosen tracks in a storage key; empty without a choice. Sound alone shows no picture, whichever is chosen. */
function nameTracks(type: (typeof UPLOAD_TYPES)[number], { video, audio, audioRight }: TrackChoice = {}): string {
  const picture = type === 'video' && video !== undefined ? `-v${video}` : '';
  const right = audioRight === undefined ? '' : `r${audioRight}`;
  return audio === undefined ? picture : `${picture}-a${audio}${right}`;
}

/** Whether two choices of tracks are the same for an upload of this type. */
export const isSameChoice = (
  type: (typeof UPLOAD_TYPES)[number],
  one: TrackChoice | undefined,
  other: TrackChoice | undefined,
): boolean => nameTracks(type, one) === nameTracks(type, other);

/** The kind of the tracks of a rendition, its profile, and the chosen tracks. */
export interface RenditionForm {
  type: (typeof UPLOAD_TYPES)[number];
  profile: string;
  tracks?: TrackChoice | undefined;
}

/**
 * Storage key of a rendition: by content (its hash), profile, track kind and chosen tracks, so that each scope has it made once. Without a
 * scope it is shared by everybody.
 */
export const renditionKey = (
  content: string,
  type: (typeof UPLOAD_TYPES)[number],
  profile: string,
  scope?: string,
  tracks?: TrackChoice,
): string =>
  `renditions/${scope === undefined ? '' : `${scope}/`}${content}/${getTrackKind(type)}-${profile}${nameTracks(type, tracks)}.flv`;

/**
 * Takes the place of the content's hash in the key of a rendition that is begun while the upload is imported: the hash is known only
 * when all has arrived. Such a rendition belongs to this upload alone.
 */
export const importContent = (uploadUid: string): string => `upload-${uploadUid}`;

/** The source of a rendition: an upload, and the hash of its content once that is known. */
interface Content {
  uid: string;
  sha256: string | undefined;
}

/** Whether a key is that of such a rendition, in a scope or shared: what was made before the setting changed stays good. */
export function isRenditionKey(
  key: string | undefined,
  { uid, sha256 }: Content,
  { type, profile, tracks }: RenditionForm,
): boolean {
  const scope = /^renditions\/([0-9a-f]{24})\//.exec(key ?? '')?.[1];
  const contents = [importContent(uid), ...(sha256 === undefined ? [] : [sha256])];
  return contents.some((content) => key === renditionKey(content, type, profile, scope, tracks));
}

/** Whether a stream can play a rendition: it is complete, or its beginning is and the rest comes in time. */
export const isPlayable = ({ state, playable }: Pick<RenditionStatus, 'state' | 'playable'>): boolean =>
  state === 'ready' || (state === 'pending' && playable === true);

/** The rendition of an upload in a profile; one that can be played must be made of what the upload now is. */
export function findRendition(
  {
    metadata,
    spec,
    status,
  }: { metadata: { uid: string }; spec: Pick<UploadSpec, 'track' | 'tracks'>; status?: UploadStatus },
  profile: string,
): RenditionStatus | undefined {
  const found = status?.renditions?.find((rendition) => rendition.profile === profile);
  if (!found || !isPlayable(found)) return found;
  const content = { uid: metadata.uid, sha256: status?.media?.sha256 };
  const form = { type: spec.track, profile, tracks: spec.tracks };
  return isRenditionKey(found.key, content, form) ? found : undefined;
}

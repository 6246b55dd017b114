/**
 * Declares each field of a stream once: its schema, its sentence, where it lives in the resource, the requests that set it, and its
 * words on the page. The record, the requests, the view, GraphQL, MCP, the page's forms and the documentation follow from this table.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { findCondition } from '../../../core/resources/common/conditions.ts';
import { readLabels } from '../../../core/resources/common/labels.ts';
import { listOutputs, listReceivers } from '../../../core/resources/stream/destinations.ts';
import { FRAMERATES, type Framerate, QUALITIES, type Quality } from '../../../core/resources/stream/profile.ts';
import {
  LoopStreamSpec,
  LoopStreamStatus,
  MAX_DESTINATIONS,
  MAX_PLAYLISTS,
  PHASES,
  Recurrence,
  Schedule,
} from '../../../core/resources/stream/spec.ts';
import { ON_AIR_FOR_VIEWERS } from '../../../core/resources/stream/viewers.ts';
import { DEFAULT_LOUDNESS, LoudnessTarget } from '../../../core/resources/upload/loudness.ts';
import { computed, fieldsIn, shown } from '../../lib/fields.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import {
  FramerateOutput,
  PUBLIC_FRAMERATES,
  PUBLIC_QUALITIES,
  QualityOutput,
  toPublicFramerate,
  toPublicQuality,
} from '../../lib/public-profile.ts';
import { DisplayName, nullable, Time } from '../../lib/schemas.ts';
import { CardsInput, CardsOutput, showCards, writeCards } from './cards.ts';
import { OverlaysInput, OverlaysOutput, showOverlays, writeOverlays } from './overlays.ts';

/** Parts of a LoopStream that the fields read. */
interface Source {
  metadata: { name: string; creationTimestamp: string; labels?: Record<string, string> };
  spec: LoopStreamSpec;
  status?: LoopStreamStatus;
}

/** While a stream is on air, the operator joins in this condition what its destinations know (PlatformLive). */
function readOnAirForViewers(status: LoopStreamStatus | undefined): boolean | null {
  const condition = findCondition(status?.conditions, ON_AIR_FOR_VIEWERS);
  const isKnown = status?.phase === 'live' && condition !== undefined && condition.status !== 'Unknown';
  return isKnown ? condition.status === 'True' : null;
}

const inSpec = fieldsIn({ schema: LoopStreamSpec, get: ({ spec }: Source) => spec });
const inSchedule = fieldsIn({
  schema: Schedule,
  get: ({ spec }: Source) => spec.schedule,
  put: (schedule) => ({ schedule }),
});
const inStatus = fieldsIn({ schema: LoopStreamStatus, get: ({ status }: Source) => status });

/** Requests that set a field. */
const REQUIRED = { create: 'required', update: 'optional' } as const;
const OPTIONAL = { create: 'optional', update: 'optional' } as const;
const TIMES = { create: 'optional', schedule: 'optional' } as const;

/** The published API contract uses `q_1080p` in requests and once `1080p` in a response. Requests accept both; responses use the first. */
const QualityInput = Type.Enum([...PUBLIC_QUALITIES, ...QUALITIES], {
  title: 'QualityText',
  description: 'Height of the picture, e.g. q_1080p or 1080p.',
});
const FramerateInput = Type.Enum(
  [...PUBLIC_FRAMERATES, ...FRAMERATES.map((f): `${Framerate}` => `${f}`), ...FRAMERATES],
  {
    title: 'FramerateText',
    description: 'Frame rate in frames per second, e.g. f_30 or 30.',
  },
);
const toQuality = (input: Static<typeof QualityInput>): Quality => input.replace(/^q_/, '') as Quality;
const toFramerate = (input: Static<typeof FramerateInput>): Framerate =>
  Number(String(input).replace(/^f_/, '')) as Framerate;

const idLength = { minLength: 1, maxLength: 253 };
const Id = Type.String(idLength);
const Ids = Type.Array(Type.String());
const removeEmpty = (ids: string[]): string[] | null => (ids.length > 0 ? ids : null);

const { cron, timeZone, durationSeconds } = Recurrence.properties;

const DestinationInput = Type.Object(
  {
    destinationID: Id,
    enabled: Type.Optional(
      Type.Boolean({ default: true, description: 'False sends nothing to the destination. Defaults to true.' }),
    ),
  },
  { title: 'StreamDestinationInput', additionalProperties: false },
);

const LoudnessInput = nullable(
  Type.Partial(Type.Object(LoudnessTarget.properties), { title: 'StreamLoudnessInput', additionalProperties: false }),
  'Loudness that all items are brought to, replaced as a whole. Null: each is as loud as its file.',
);

export const STREAM_FIELDS = {
  id: shown(Type.String(), ({ metadata }: Source) => metadata.name),
  name: inSpec('displayName', {
    in: REQUIRED,
    input: DisplayName,
    output: Type.String(),
    read: (name, { metadata }) => name ?? metadata.name,
    label: 'Name',
  }),
  status: computed(
    Type.Enum(PHASES, {
      title: 'StreamStatus',
      description: 'State in one word. live means that a destination accepts media.',
    }),
  ),
  ready: inStatus('canStart', { absent: false }),
  quality: inSpec('quality', {
    in: REQUIRED,
    input: QualityInput,
    output: QualityOutput,
    read: toPublicQuality,
    write: toQuality,
    label: 'Quality',
    choices: { q_720p: '720p', q_1080p: '1080p (Full HD)', q_1440p: '1440p', q_2160p: '2160p (4K)' },
  }),
  framerate: inSpec('framerate', {
    in: REQUIRED,
    input: FramerateInput,
    output: FramerateOutput,
    read: toPublicFramerate,
    write: toFramerate,
    label: 'Frame rate',
    choices: { f_24: '24 fps (film)', f_25: '25 fps', f_30: '30 fps', f_60: '60 fps' },
  }),
  destinationID: inSpec('destinationNames', {
    in: OPTIONAL,
    input: Type.String({ ...idLength, description: 'Destination to send the stream to.' }),
    output: Type.String(),
    read: (_, { spec }) => listReceivers(spec)[0] ?? '',
    write: (id) => [id],
    replaces: 'destinations',
    isFilter: false,
  }),
  destinationIDs: inSpec('destinationNames', {
    in: OPTIONAL,
    input: Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      uniqueItems: true,
      description: 'Destinations to send the stream to at the same time, instead of destinationID. At most 5.',
    }),
    output: Ids,
    read: (_, { spec }) => listReceivers(spec),
    replaces: 'destinations',
    label: 'Destinations',
  }),
  destinations: inSpec('destinations', {
    in: OPTIONAL,
    input: Type.Array(DestinationInput, {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      description:
        'Destinations that can be switched off, instead of destinationIDs, replaced as a whole. Those that stay notice nothing.',
    }),
    // Many tools of agents show it, so it repeats no description.
    output: Type.Array(Type.Object({ destinationID: Type.String(), enabled: Type.Boolean() })),
    read: (_, { spec }) => listOutputs(spec).map(({ name, enabled }) => ({ destinationID: name, enabled })),
    write: (given) => given.map(({ destinationID, enabled = true }) => ({ name: destinationID, enabled })),
    replaces: 'destinationNames',
    isFilter: false,
  }),
  videoUploadObjectID: inSpec('uploadName', {
    in: OPTIONAL,
    absent: null,
    input: Type.String({ ...idLength, description: 'objectID of the video upload to loop.' }),
    output: nullable(Type.String()),
    replaces: 'playlistNames',
    label: 'Video',
  }),
  playlistIDs: inSpec('playlistNames', {
    in: OPTIONAL,
    absent: [],
    input: Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Video playlists to loop, instead of one video. At most 20.',
    }),
    output: Ids,
    replaces: 'uploadName',
    label: 'Playlists',
  }),
  audioPlaylistIDs: inSpec('audioPlaylistNames', {
    in: OPTIONAL,
    absent: [],
    input: Type.Array(Id, {
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Audio playlists to play instead of the video’s own sound. At most 20.',
    }),
    output: Ids,
    write: removeEmpty,
    label: 'Audio playlists',
  }),
  // Labels live in the metadata, which the service writes.
  labels: {
    ...shown(Labels, (stream: Source) => readLabels(stream), { isFilter: false, label: 'Labels' }),
    input: LabelsInput,
    in: OPTIONAL,
  },
  onItemFailure: inSpec('itemFailurePolicy', {
    in: OPTIONAL,
    graphqlType: 'ItemFailurePolicy',
    label: 'Items that cannot be played',
    choices: { Skip: 'Leave them out until they can be played', Block: 'Wait until every item can be played' },
  }),
  start: inSpec('startPolicy', {
    in: OPTIONAL,
    graphqlType: 'StreamStartPolicy',
    label: 'Play the media',
    choices: { Progressive: 'As soon as enough of it is prepared', Prepared: 'When all of it is prepared' },
  }),
  loudness: inSpec('loudness', {
    in: OPTIONAL,
    absent: null,
    input: LoudnessInput,
    write: (loudness) => loudness && { ...DEFAULT_LOUDNESS, ...loudness },
    label: 'Loudness',
  }),
  overlays: inSpec('overlays', {
    in: OPTIONAL,
    input: OverlaysInput,
    output: OverlaysOutput,
    read: showOverlays,
    write: writeOverlays,
    label: 'Overlays',
  }),
  slateUploadObjectID: inSpec('slate', {
    in: OPTIONAL,
    input: nullable(
      Type.String({ ...idLength }),
      'objectID of an upload with a still picture, which is shown while no item can be played. Null: two grey bars on black.',
    ),
    output: nullable(
      Type.String(),
      'Upload whose picture is shown while no item can be played. Null: the built-in one.',
    ),
    read: (slate) => slate?.uploadName ?? null,
    write: (id) => (id === null ? null : { uploadName: id }),
    label: 'Picture while nothing can be played',
  }),
  cards: inSpec('cards', {
    in: OPTIONAL,
    input: CardsInput,
    output: CardsOutput,
    read: showCards,
    write: writeCards,
    label: 'Show a picture for each song',
  }),
  scheduleStartAt: inSchedule('startAt', { in: TIMES, absent: null }),
  scheduleEndAt: inSchedule('endAt', { in: TIMES, absent: null }),
  scheduleOnAirUntil: inSchedule('onAirUntil', { in: TIMES, absent: null }),
  recurrence: inSchedule('recurrence', {
    in: TIMES,
    absent: null,
    input: Type.Object(
      { cron, timeZone: Type.Optional(timeZone), durationSeconds },
      {
        title: 'RecurrenceInput',
        additionalProperties: false,
        description: 'Recurring windows on air, between scheduleStartAt and scheduleEndAt if they are set.',
      },
    ),
    write: (recurrence) => ({ timeZone: 'UTC', ...recurrence }),
  }),
  nextStartAt: computed(nullable(Time, 'Next time at which the schedule puts the stream on air.')),
  nextEndAt: computed(nullable(Time, 'Time at which the schedule takes the stream off air, while it is to be on air.')),
  liveSince: inStatus('liveSince', { absent: null }),
  degraded: computed(
    nullable(
      Type.Object(
        {
          code: Type.String(),
          message: Type.String(),
          fix: Type.String({ description: 'Action that solves the problem.' }),
          since: Time,
        },
        { title: 'Degraded' },
      ),
      'Problem of a stream on air, such as an item that is left out or a destination that cannot be reached. Also what ' +
        'Kubernetes refuses for a stream that is to be on air, and when it is tried again.',
    ),
  ),
  onAirForViewers: shown(
    nullable(
      Type.Boolean(),
      'Whether viewers see the stream, as far as its destinations with a `platform` tell. Null while that is not known, or nobody looks.',
    ),
    ({ status }: Source) => readOnAirForViewers(status),
  ),
  posterUrl: computed(
    nullable(
      Type.String(),
      'Path of a small picture of what the stream plays (JPEG), to be requested with the same credentials: the poster of the first ' +
        'upload that has one. Null if none has.',
    ),
    { isFilter: false },
  ),
  createdAt: shown(Time, ({ metadata }: Source) => metadata.creationTimestamp),
};

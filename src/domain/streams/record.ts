/**
 * Defines a stream as clients see and send it: the shapes of REST, GraphQL and OpenAPI.
 * Pure: no I/O, no clock.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../lib/sentences.ts';
import { FRAMERATES, type Framerate, QUALITIES, type Quality } from '../../resources/stream/profile.ts';
import {
  ITEM_FAILURES,
  MAX_DESTINATIONS,
  MAX_PLAYLISTS,
  PHASES,
  Recurrence,
  STARTS,
} from '../../resources/stream/spec.ts';

const idLength = { minLength: 1, maxLength: 253 };
const Id = Type.String(idLength);
const Time = Type.String({ format: 'date-time' });
const nullable = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);

/** Display names contain no control characters, which would garble lists and logs. */
export const DisplayName = Type.String({ minLength: 1, maxLength: 200, pattern: DISPLAY_NAME_PATTERN });

type PublicQuality = `q_${Quality}`;
type PublicFramerate = `f_${Framerate}`;
export const PUBLIC_QUALITIES = QUALITIES.map((q): PublicQuality => `q_${q}`);
export const PUBLIC_FRAMERATES = FRAMERATES.map((f): PublicFramerate => `f_${f}`);

/** The published API contract uses `q_1080p` in requests and once `1080p` in a response. Requests accept both; responses use the first. */
const QualityInput = Type.Enum([...PUBLIC_QUALITIES, ...QUALITIES], {
  description: 'Height of the picture, e.g. q_1080p or 1080p.',
});
const FramerateInput = Type.Enum(
  [...PUBLIC_FRAMERATES, ...FRAMERATES.map((f): `${Framerate}` => `${f}`), ...FRAMERATES],
  {
    description: 'Frame rate in frames per second, e.g. f_30 or 30.',
  },
);

export const toQuality = (input: Static<typeof QualityInput>): Quality => input.replace(/^q_/, '') as Quality;
export const toFramerate = (input: Static<typeof FramerateInput>): Framerate =>
  Number(String(input).replace(/^f_/, '')) as Framerate;
export const publicQuality = (quality: Quality): PublicQuality => `q_${quality}`;
export const publicFramerate = (framerate: Framerate): PublicFramerate => `f_${framerate}`;

const sources = {
  destinationID: Type.Optional(Type.String({ ...idLength, description: 'Destination to send the stream to.' })),
  destinationIDs: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      uniqueItems: true,
      description: 'Destinations to send the stream to at the same time, instead of destinationID. At most 5.',
    }),
  ),
  videoUploadObjectID: Type.Optional(
    Type.String({ ...idLength, description: 'objectID of the video upload to loop.' }),
  ),
  playlistIDs: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Video playlists to loop, instead of one video. At most 20.',
    }),
  ),
  audioPlaylistIDs: Type.Optional(
    Type.Array(Id, {
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Audio playlists to play instead of the video’s own sound. At most 20.',
    }),
  ),
};

const onItemFailure = Type.Optional(
  Type.Enum(ITEM_FAILURES, {
    description:
      'Skip (default): items that cannot be played are left out until they can. Block: the stream starts only when ' +
      'every item can be played.',
  }),
);

const start = Type.Optional(
  Type.Enum(STARTS, {
    description:
      'Progressive (default): media is played while the rest of it is being prepared. Prepared: media is played only ' +
      'when all of it is prepared.',
  }),
);

const schedule = {
  scheduleStartAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Time at which the stream goes on air.' }),
  ),
  scheduleEndAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which the stream ends.' })),
  scheduleOnAirUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Time until which the stream is on air outside its windows, too. Without it, a stream on air whose schedule has ' +
        'no window now goes off air at once.',
    }),
  ),
  recurrence: Type.Optional(
    Type.Object(
      {
        cron: Recurrence.properties.cron,
        timeZone: Type.Optional(Recurrence.properties.timeZone),
        durationSeconds: Recurrence.properties.durationSeconds,
      },
      {
        additionalProperties: false,
        description: 'Recurring windows on air, between scheduleStartAt and scheduleEndAt if they are set.',
      },
    ),
  ),
};

export const StreamCreate = Type.Object(
  {
    name: DisplayName,
    quality: QualityInput,
    framerate: FramerateInput,
    ...sources,
    onItemFailure,
    start,
    ...schedule,
  },
  { title: 'StreamCreate', additionalProperties: false },
);
export type StreamCreate = Static<typeof StreamCreate>;

export const StreamUpdate = Type.Object(
  {
    name: Type.Optional(DisplayName),
    quality: Type.Optional(QualityInput),
    framerate: Type.Optional(FramerateInput),
    ...sources,
    onItemFailure,
    start,
  },
  { title: 'StreamUpdate', additionalProperties: false, minProperties: 1 },
);
export type StreamUpdate = Static<typeof StreamUpdate>;

export const StreamSchedule = Type.Object(schedule, {
  title: 'StreamSchedule',
  additionalProperties: false,
  minProperties: 1,
});
export type StreamSchedule = Static<typeof StreamSchedule>;

export const StreamSkip = Type.Object(
  {
    track: Type.Optional(
      Type.Enum(['video', 'audio'], {
        default: 'video',
        description: 'Playlist track to skip in: video, or audio for a stream with audio playlists. Defaults to video.',
      }),
    ),
  },
  { title: 'StreamSkip', additionalProperties: false },
);
export type StreamSkip = Static<typeof StreamSkip>;

export const Stream = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(PHASES, { description: 'State in one word. live means that a destination accepts media.' }),
    ready: Type.Boolean({ description: 'False if something prevents the stream from starting.' }),
    quality: Type.Enum(PUBLIC_QUALITIES),
    framerate: Type.Enum(PUBLIC_FRAMERATES),
    destinationID: Type.String(),
    destinationIDs: Type.Array(Type.String()),
    videoUploadObjectID: nullable(Type.String()),
    playlistIDs: Type.Array(Type.String()),
    audioPlaylistIDs: Type.Array(Type.String()),
    onItemFailure: Type.Enum(ITEM_FAILURES, {
      description:
        'Skip: items that cannot be played are left out until they can. Block: the stream starts only when every item ' +
        'can be played.',
    }),
    start: Type.Enum(STARTS, {
      description:
        'Progressive: media is played while the rest of it is being prepared. Prepared: media is played only when all ' +
        'of it is prepared.',
    }),
    scheduleStartAt: nullable(Time),
    scheduleEndAt: nullable(Time),
    scheduleOnAirUntil: Type.Union([Time, Type.Null()], {
      description: 'Time until which the stream is on air outside its windows, too.',
    }),
    recurrence: nullable(Recurrence),
    nextStartAt: Type.Union([Time, Type.Null()], {
      description: 'Next time at which the schedule puts the stream on air.',
    }),
    liveSince: nullable(Time),
    degraded: Type.Union(
      [Type.Object({ code: Type.String(), message: Type.String(), since: Time }, { title: 'Degraded' }), Type.Null()],
      {
        description:
          'Problem of a stream on air, such as an item that is left out or a destination that cannot be reached. Also what ' +
          'Kubernetes refuses for a stream that is to be on air, and when it is tried again.',
      },
    ),
    createdAt: Time,
  },
  { title: 'Stream' },
);
export type Stream = Static<typeof Stream>;

export const ReadinessIssue = Type.Object(
  {
    code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
    message: Type.String({ description: 'The problem, as a sentence.' }),
    fix: Type.String({ description: 'Action that solves the problem.' }),
    field: Type.String({ description: 'Field of the stream that causes the problem. Empty if no field does.' }),
    since: Time,
  },
  { title: 'ReadinessIssue' },
);
export type ReadinessIssue = Static<typeof ReadinessIssue>;

export const UnplayableItem = Type.Object(
  {
    playlistID: Type.Union([Type.String(), Type.Null()], {
      description: 'Playlist that contains the item. Null for a single upload.',
    }),
    index: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Position of the item in the playlist, from 0. Null if the problem is the playlist itself.',
    }),
    objectID: Type.Union([Type.String(), Type.Null()], { description: 'objectID of the upload.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'Display name of the item.' }),
  },
  { title: 'UnplayableItem' },
);
export type UnplayableItem = Static<typeof UnplayableItem>;

export const ReadinessWarning = Type.Object(
  {
    ...ReadinessIssue.properties,
    item: Type.Union([UnplayableItem, Type.Null()], {
      description: 'Item that is left out. Null if the warning counts several.',
    }),
  },
  { title: 'ReadinessWarning' },
);
export type ReadinessWarning = Static<typeof ReadinessWarning>;

export const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    issues: Type.Array(ReadinessIssue),
    warnings: Type.Array(ReadinessWarning, {
      description:
        'Items that the stream leaves out because they cannot be played now. Warnings do not make `ready` false.',
    }),
    prepared: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Part of the media that is prepared, from 0 to 1, by length. A stream can be ready before it is 1.',
    }),
    estimatedReadyAt: Type.Union([Time, Type.Null()], {
      description: 'Time at which all media is expected to be prepared. Null if that is unknown, or if it is prepared.',
    }),
  },
  { title: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;

const Window = Type.Object(
  {
    startAt: Time,
    endAt: Type.Union([Time, Type.Null()], { description: 'End of the window. Null if it has no end.' }),
  },
  { title: 'StreamWindow' },
);

export const StreamWindows = Type.Object(
  {
    scheduleStartAt: nullable(Time),
    scheduleEndAt: nullable(Time),
    recurrence: nullable(Recurrence),
    windows: Type.Array(Window, {
      description: 'The next five windows of the schedule. Empty without a schedule, or while the stream is stopped.',
    }),
  },
  { title: 'StreamWindows' },
);
export type StreamWindows = Static<typeof StreamWindows>;

export const StreamEvent = Type.Object(
  {
    id: Type.String(),
    time: Time,
    createdAt: Time,
    type: Type.String({ description: 'Normal or Warning.' }),
    reason: Type.String({ description: 'Stable reason for programs, in CamelCase.' }),
    message: Type.String({ description: 'The event, as a sentence.' }),
    count: Type.Integer({ description: 'Number of occurrences. time is that of the last one.' }),
  },
  { title: 'StreamEvent' },
);
export type StreamEvent = Static<typeof StreamEvent>;

/**
 * Defines a stream as clients see and send it: the shapes of REST, GraphQL and OpenAPI.
 * Pure: no I/O, no clock.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../lib/sentences.ts';
import { FRAMERATES, type Framerate, QUALITIES, type Quality } from '../../resources/stream/profile.ts';
import { ITEM_FAILURES, MAX_DESTINATIONS, MAX_PLAYLISTS, PHASES, Recurrence } from '../../resources/stream/spec.ts';

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
  description: 'Height of the picture: q_1080p or 1080p.',
});
const FramerateInput = Type.Enum(
  [...PUBLIC_FRAMERATES, ...FRAMERATES.map((f): `${Framerate}` => `${f}`), ...FRAMERATES],
  {
    description: 'Frames per second: f_30, "30" or 30.',
  },
);

export const toQuality = (input: Static<typeof QualityInput>): Quality => input.replace(/^q_/, '') as Quality;
export const toFramerate = (input: Static<typeof FramerateInput>): Framerate =>
  Number(String(input).replace(/^f_/, '')) as Framerate;
export const publicQuality = (quality: Quality): PublicQuality => `q_${quality}`;
export const publicFramerate = (framerate: Framerate): PublicFramerate => `f_${framerate}`;

const sources = {
  destinationID: Type.Optional(Type.String({ ...idLength, description: 'The destination to stream to.' })),
  destinationIDs: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      uniqueItems: true,
      description: 'Several destinations at once, instead of destinationID.',
    }),
  ),
  videoUploadObjectID: Type.Optional(
    Type.String({ ...idLength, description: 'objectID of the uploaded video to loop.' }),
  ),
  playlistIDs: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Video playlists to loop, instead of one video.',
    }),
  ),
  audioPlaylistIDs: Type.Optional(
    Type.Array(Id, {
      maxItems: MAX_PLAYLISTS,
      uniqueItems: true,
      description: 'Audio playlists to play instead of the video’s own sound.',
    }),
  ),
};

const onItemFailure = Type.Optional(
  Type.Enum(ITEM_FAILURES, {
    description:
      'Skip, the default: items that cannot be played are left out, and join when they can. Block: all items must play first.',
  }),
);

const schedule = {
  scheduleStartAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the stream goes live by itself.' }),
  ),
  scheduleEndAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it ends by itself.' })),
  recurrence: Type.Optional(
    Type.Object(
      {
        cron: Recurrence.properties.cron,
        timeZone: Type.Optional(Recurrence.properties.timeZone),
        durationSeconds: Recurrence.properties.durationSeconds,
      },
      {
        additionalProperties: false,
        description: 'On air in windows that recur; scheduleStartAt and scheduleEndAt say from when and until when.',
      },
    ),
  ),
};

export const StreamCreate = Type.Object(
  { name: DisplayName, quality: QualityInput, framerate: FramerateInput, ...sources, onItemFailure, ...schedule },
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
        description: 'Which list goes on: what is seen, or, where the stream has audio playlists, what is heard.',
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
    status: Type.Enum(PHASES, { description: 'The state in one word; live means that a destination accepts media.' }),
    ready: Type.Boolean({ description: 'False when something would stop it from starting.' }),
    quality: Type.Enum(PUBLIC_QUALITIES),
    framerate: Type.Enum(PUBLIC_FRAMERATES),
    destinationID: Type.String(),
    destinationIDs: Type.Array(Type.String()),
    videoUploadObjectID: nullable(Type.String()),
    playlistIDs: Type.Array(Type.String()),
    audioPlaylistIDs: Type.Array(Type.String()),
    onItemFailure: Type.Enum(ITEM_FAILURES, {
      description: 'Skip: items that cannot be played are left out until they can. Block: all items must play first.',
    }),
    scheduleStartAt: nullable(Time),
    scheduleEndAt: nullable(Time),
    recurrence: nullable(Recurrence),
    nextStartAt: Type.Union([Time, Type.Null()], { description: 'When its schedule puts it on air next.' }),
    liveSince: nullable(Time),
    degraded: Type.Union(
      [Type.Object({ code: Type.String(), message: Type.String(), since: Time }, { title: 'Degraded' }), Type.Null()],
      { description: 'What is wrong while it is on air: an item that is left out, a destination that is not reached.' },
    ),
    createdAt: Time,
  },
  { title: 'Stream' },
);
export type Stream = Static<typeof Stream>;

export const ReadinessIssue = Type.Object(
  {
    code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
    message: Type.String({ description: 'What is wrong.' }),
    fix: Type.String({ description: 'What to do about it.' }),
    field: Type.String({ description: 'The field of the stream that it is about; empty when it is about none.' }),
    since: Time,
  },
  { title: 'ReadinessIssue' },
);
export type ReadinessIssue = Static<typeof ReadinessIssue>;

export const UnplayableItem = Type.Object(
  {
    playlistID: Type.Union([Type.String(), Type.Null()], { description: 'Null for a single upload.' }),
    index: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Its place in the playlist, from 0; null where the playlist itself is at fault.',
    }),
    objectID: Type.Union([Type.String(), Type.Null()], { description: 'objectID of its upload.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'What it is called.' }),
  },
  { title: 'UnplayableItem' },
);
export type UnplayableItem = Static<typeof UnplayableItem>;

export const ReadinessWarning = Type.Object(
  {
    ...ReadinessIssue.properties,
    item: Type.Union([UnplayableItem, Type.Null()], {
      description: 'The item that is left out; null where several are counted.',
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
      description: 'What it goes on air without: items that cannot be played now. None of them makes `ready` false.',
    }),
  },
  { title: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;

const Window = Type.Object(
  {
    startAt: Time,
    endAt: Type.Union([Time, Type.Null()], { description: 'Null: it has no end.' }),
  },
  { title: 'StreamWindow' },
);

export const StreamWindows = Type.Object(
  {
    scheduleStartAt: nullable(Time),
    scheduleEndAt: nullable(Time),
    recurrence: nullable(Recurrence),
    windows: Type.Array(Window, {
      description:
        'The next five times that the schedule puts it on air; none where it does not, or while it is stopped.',
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
    reason: Type.String({ description: 'CamelCase, for machines.' }),
    message: Type.String({ description: 'For people.' }),
    count: Type.Integer({ description: 'How often it happened; time is the last one.' }),
  },
  { title: 'StreamEvent' },
);
export type StreamEvent = Static<typeof StreamEvent>;

/**
 * Defines a stream as clients see and send it: the shapes of REST, GraphQL and OpenAPI.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Recurrence } from '../../../core/resources/stream/spec.ts';
import { bodySchema, recordSchema } from '../../lib/fields.ts';
import { EFFECT, nullable, Time } from '../../lib/schemas.ts';
import { STREAM_FIELDS } from './fields.ts';

export const StreamCreate = bodySchema(STREAM_FIELDS, 'create', { title: 'StreamCreate' });
export type StreamCreate = Static<typeof StreamCreate>;

export const StreamUpdate = bodySchema(STREAM_FIELDS, 'update', { title: 'StreamUpdate', minProperties: 1 });
export type StreamUpdate = Static<typeof StreamUpdate>;

export const StreamSchedule = bodySchema(STREAM_FIELDS, 'schedule', { title: 'StreamSchedule', minProperties: 1 });
export type StreamSchedule = Static<typeof StreamSchedule>;

const { name, labels, destinationID, destinationIDs, destinations, videoUploadObjectID, playlistIDs } =
  StreamUpdate.properties;

export const StreamClone = Type.Object(
  { name, labels, destinationID, destinationIDs, destinations, videoUploadObjectID, playlistIDs },
  { title: 'StreamClone', additionalProperties: false },
);
export type StreamClone = Static<typeof StreamClone>;

export const StreamSkip = Type.Object(
  {
    track: Type.Optional(
      Type.Enum(['video', 'audio'], {
        title: 'MediaKind',
        default: 'video',
        description: 'Playlist track to skip in: video, or audio for a stream with audio playlists. Defaults to video.',
      }),
    ),
  },
  { title: 'StreamSkip', additionalProperties: false },
);
export type StreamSkip = Static<typeof StreamSkip>;

export const Stream = recordSchema(STREAM_FIELDS, { title: 'Stream' });
export type Stream = Static<typeof Stream>;

export const StreamChange = Type.Object(
  {
    ...Stream.properties,
    ...EFFECT,
    lostDestinationIDs: Type.Array(Type.String(), {
      description: 'Destinations that receive the stream now, and no longer do after the change.',
    }),
    storageBytes: Type.Integer({
      description:
        'Estimate of the storage that the change takes once its media is prepared, in bytes: renditions, overlays, cards and sounds that are not made yet.',
    }),
  },
  { title: 'StreamChange' },
);
export type StreamChange = Static<typeof StreamChange>;

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
    playlistID: nullable(Type.String(), 'Playlist that contains the item. Null for a single upload.'),
    index: nullable(
      Type.Integer({ minimum: 0 }),
      'Position of the item in the playlist, from 0. Null if the problem is the playlist itself.',
    ),
    objectID: nullable(Type.String(), 'objectID of the upload.'),
    name: nullable(Type.String(), 'Display name of the item.'),
  },
  { title: 'UnplayableItem' },
);
export type UnplayableItem = Static<typeof UnplayableItem>;

export const ReadinessWarning = Type.Object(
  {
    ...ReadinessIssue.properties,
    item: nullable(UnplayableItem, 'Item that is left out. Null if the warning counts several.'),
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
    estimatedReadyAt: nullable(
      Time,
      'Time at which all media is expected to be prepared. Null if that is unknown, or if it is prepared.',
    ),
  },
  { title: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;

const Window = Type.Object(
  {
    startAt: Time,
    endAt: nullable(Time, 'End of the window. Null if it has no end.'),
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

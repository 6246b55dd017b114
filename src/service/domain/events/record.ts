/** Defines an event as clients see it, and the table of all types of events. Pure: no I/O, no clock. */
import { type Static, type TProperties, Type } from 'typebox';
import { nullable } from '../../lib/schemas.ts';

/** Kinds of objects that events are about. */
export const EVENT_OBJECTS = ['stream', 'upload', 'playlist'] as const;
export type EventObject = (typeof EVENT_OBJECTS)[number];

interface Declaration {
  object: EventObject;
  /** When it happens, as a sentence. */
  meaning: string;
}

/** Every type of event, once: descriptions, filters and documents follow from this table. */
export const EVENT_TYPES = {
  'stream.live': { object: 'stream', meaning: 'A destination takes media, after a start that was wanted.' },
  'stream.reconnecting': {
    object: 'stream',
    meaning: 'No destination takes media any more. It is sought again, or the pod is being replaced.',
  },
  'stream.off_air': {
    object: 'stream',
    meaning:
      'Viewers see nothing for five seconds, or nothing seeks a destination, though the stream is meant to be on air.',
  },
  'stream.recovered': {
    object: 'stream',
    meaning: 'A destination takes media again. The event has the length of the outage.',
  },
  'stream.stopped': { object: 'stream', meaning: 'The stream leaves the air as it was meant to.' },
  'stream.degraded': { object: 'stream', meaning: 'The stream is on air with a problem.' },
  'stream.scheduled_start_missed': {
    object: 'stream',
    meaning: 'A window of the schedule began too long ago to be started.',
  },
  'upload.ready': { object: 'upload', meaning: 'The media was fetched and checked: streams can use it.' },
  'upload.failed': { object: 'upload', meaning: 'The media cannot be used. The event has the cause and the fix.' },
  'playlist.published': { object: 'playlist', meaning: 'Streams play a new version of the playlist.' },
} as const satisfies Record<string, Declaration>;
export type AccountEventType = keyof typeof EVENT_TYPES;
export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as AccountEventType[];

/** The types with what they mean, in a sentence each. */
export const listMeanings = (): string =>
  EVENT_TYPE_NAMES.map((type) => `\`${type}\`: ${EVENT_TYPES[type].meaning}`).join(' ');

const CAUSE = {
  code: nullable(Type.String(), 'Stable code of the cause. Null where there is none.'),
  message: nullable(Type.String(), 'The cause, as a sentence. Null where there is none.'),
  fix: nullable(Type.String(), 'What to do about it. Null where nothing has to be done.'),
} satisfies TProperties;

export const EventData = Type.Object(
  {
    name: Type.String({ description: 'Name of the object at that time.' }),
    ...CAUSE,
    offAirSeconds: nullable(Type.Integer(), 'Length of the outage that has ended. Null for other events.'),
    version: nullable(Type.Integer(), 'Version of the playlist. Null for other events.'),
  },
  { title: 'EventData' },
);
export type EventData = Static<typeof EventData>;

export const AccountEvent = Type.Object(
  {
    id: Type.String({ description: 'The same however often the event is read or sent: drop what you know already.' }),
    type: Type.Enum(EVENT_TYPE_NAMES, { title: 'EventType', description: 'What has happened.' }),
    timestamp: Type.String({ format: 'date-time', description: 'Time at which it happened.' }),
    object: Type.Enum(EVENT_OBJECTS, { description: 'Kind of the object.' }),
    objectID: Type.String({ description: 'Id of the object.' }),
    seq: Type.Integer({
      minimum: 1,
      description:
        'Number of the event among those of its object. A number that is missing was lost before it was told.',
    }),
    data: EventData,
  },
  { title: 'AccountEvent' },
);
export type AccountEvent = Static<typeof AccountEvent>;

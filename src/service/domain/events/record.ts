/** Defines an event as clients see it, and the table of all types of events. Pure: no I/O, no clock. */
import { type Static, type TProperties, Type } from 'typebox';
import { PROGRAMME_TRACKS } from '../../../core/programme/tracks.ts';
import { nullable } from '../../lib/schemas.ts';
import type { Scope } from '../../lib/scopes.ts';
import { StreamTimelineItem } from '../timeline/record.ts';

/** Kinds of objects that events are about. `deposit` is a crypto deposit, `key` an API key. */
export const EVENT_OBJECTS = [
  'stream',
  'upload',
  'playlist',
  'destination',
  'account',
  'invoice',
  'deposit',
  'key',
] as const;
export type EventObject = (typeof EVENT_OBJECTS)[number];

interface Declaration {
  object: EventObject;
  /** When it happens, as a sentence. */
  meaning: string;
  /** The scope that its readers need besides that of all events. */
  needs?: Scope;
  /** It comes to those alone who ask for it by name. */
  isOptIn?: true;
  /** It is sent to webhooks, and recorded nowhere. */
  isTransient?: true;
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
  'upload.quarantined': {
    object: 'upload',
    meaning: 'Somebody has taken the upload off every list. The event has the reason.',
  },
  'upload.released': { object: 'upload', meaning: 'The quarantine of the upload has ended: lists play it again.' },
  'playlist.published': { object: 'playlist', meaning: 'Streams play a new version of the playlist.' },
  'destination.rejected': {
    object: 'destination',
    meaning: 'The destination refuses the key, the login or the publisher of a stream.',
  },
  'platform.live': {
    object: 'stream',
    meaning:
      'Viewers see the stream at a destination whose platform is watched: for the first time since it went on air, or again.',
  },
  'platform.ended': {
    object: 'stream',
    meaning: 'Viewers do not see the stream, though the destination takes media. The event has the cause and the fix.',
  },
  'platform.health': {
    object: 'stream',
    meaning: 'Viewers see the stream, and the platform of a destination asks for attention.',
  },
  'insert.dropped': {
    object: 'stream',
    meaning: 'A rule of a playlist was due and was left out.',
  },
  'item.started': {
    object: 'stream',
    meaning:
      'An item of 30 seconds or more begins on air. It is sent to webhooks alone that name it, and is not recorded: it has no `seq`, and is in no list of events.',
    isOptIn: true,
    isTransient: true,
  },
  'schedule.upcoming': {
    object: 'stream',
    meaning: 'A window of the schedule begins within 15 minutes.',
    isOptIn: true,
  },
  'credit.low': {
    object: 'account',
    meaning: 'The credit lasts for less than 24 hours, or for less than an hour, at the current rate.',
    needs: 'billing',
  },
  'credit.exhausted': {
    object: 'account',
    meaning: 'The credit is used up: streams stop after the grace that the service gives.',
    needs: 'billing',
  },
  'invoice.issued': { object: 'invoice', meaning: 'An invoice or a credit note was issued.', needs: 'billing' },
  'deposit.credited': {
    object: 'deposit',
    meaning: 'A payment in crypto currency has its confirmations, and its credits were booked.',
    needs: 'billing',
  },
  'key.created': { object: 'key', meaning: 'An API key was created.', needs: 'billing' },
} as const satisfies Record<string, Declaration>;
export type AccountEventType = keyof typeof EVENT_TYPES;
export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as AccountEventType[];

const getDeclaration = (type: AccountEventType): Declaration => EVENT_TYPES[type];

/** The types that are recorded, so that all doors have them. */
export const RECORDED_TYPES = EVENT_TYPE_NAMES.filter((type) => !getDeclaration(type).isTransient);

/** The types that are recorded with what they mean, in a sentence each. */
export const listMeanings = (): string =>
  RECORDED_TYPES.map((type) => `\`${type}\`: ${EVENT_TYPES[type].meaning}`).join(' ');

/** The types that come to those alone who ask for them by name. */
export const OPT_IN_TYPES = EVENT_TYPE_NAMES.filter((type) => getDeclaration(type).isOptIn);

/** The types that a reader with these scopes receives. `named` are those that the reader asks for; undefined asks for no type by name. */
export const listReceivedTypes = (
  scopes: ReadonlySet<Scope>,
  named: readonly AccountEventType[] | undefined,
): AccountEventType[] =>
  (named ?? EVENT_TYPE_NAMES.filter((type) => !OPT_IN_TYPES.includes(type))).filter((type) => {
    const { needs } = getDeclaration(type);
    return needs === undefined || scopes.has(needs);
  });

const CAUSE = {
  code: nullable(Type.String(), 'Stable code of the cause. Null where there is none.'),
  message: nullable(Type.String(), 'The cause, as a sentence. Null where there is none.'),
  fix: nullable(Type.String(), 'What to do about it. Null where nothing has to be done.'),
} satisfies TProperties;

export const StartedItem = Type.Object(
  {
    track: Type.Enum(PROGRAMME_TRACKS, { title: 'MediaKind', description: 'The list that the item is of.' }),
    ...StreamTimelineItem.properties,
    title: nullable(Type.String(), 'Title of the upload, if it has one.'),
    artist: nullable(Type.String(), 'Artist of the upload, if it has one.'),
    album: nullable(Type.String(), 'Album of the upload, if it has one.'),
  },
  { title: 'StartedItem' },
);
export type StartedItem = Static<typeof StartedItem>;

export const EventData = Type.Object(
  {
    name: Type.String({ description: 'Name of the object at that time.' }),
    ...CAUSE,
    offAirSeconds: nullable(Type.Integer(), 'Length of the outage that has ended. Null for other events.'),
    version: nullable(Type.Integer(), 'Version of the playlist. Null for other events.'),
    streamID: nullable(Type.String(), 'Stream that the destination has refused. Null for other events.'),
    destinationID: nullable(
      Type.String(),
      'Destination whose viewers the event is about. Null for events of other types than `platform.…`.',
    ),
    startAt: nullable(
      Type.String({ format: 'date-time' }),
      'Start of the window that is to begin. Null for other events.',
    ),
    rule: nullable(Type.String(), 'Name of the rule that was left out. Null for other events.'),
    dueAt: nullable(
      Type.String({ format: 'date-time' }),
      'When that rule was due, the last time. Null for other events.',
    ),
    count: nullable(Type.Integer(), 'How many times that rule was left out since `since`. Null for other events.'),
    since: nullable(
      Type.String({ format: 'date-time' }),
      'When that rule was due, the first time of `count`: each process of a pod counts anew. Null for other events.',
    ),
    item: nullable(StartedItem, 'The item that begins. Null for other events than `item.started`.'),
    hoursLeft: nullable(Type.Integer(), 'The credit lasts for less than so many hours. Null for other events.'),
    credits: nullable(Type.String({ pattern: '^[0-9]+$' }), 'Credits of the payment. Null for other events.'),
  },
  { title: 'EventData' },
);
export type EventData = Static<typeof EventData>;

/**
 * Builds the id of an event from the fact alone, so that one that is found again has the same id. `subject` is an id that stays, such as a
 * UID or the id of an account.
 */
export const buildEventId = (subject: string, what: string | number): string =>
  `evt_${subject.replaceAll('-', '')}_${what}`.replaceAll(/[^A-Za-z0-9_]/g, '_');

/** The data of an event that has nothing but a name. */
export const NO_DATA: Omit<EventData, 'name'> = {
  code: null,
  message: null,
  fix: null,
  offAirSeconds: null,
  version: null,
  streamID: null,
  destinationID: null,
  startAt: null,
  rule: null,
  dueAt: null,
  count: null,
  since: null,
  item: null,
  hoursLeft: null,
  credits: null,
};

/** A record of the API, as JSON. */
export const Snapshot = Type.Object({}, { title: 'EventSnapshot', additionalProperties: true });
export type Snapshot = Readonly<Record<string, unknown>>;

export const AccountEvent = Type.Object(
  {
    id: Type.String({ description: 'The same however often the event is read or sent: drop what you know already.' }),
    type: Type.Enum(EVENT_TYPE_NAMES, { title: 'EventType', description: 'What has happened.' }),
    timestamp: Type.String({ format: 'date-time', description: 'Time at which it happened.' }),
    object: Type.Enum(EVENT_OBJECTS, { description: 'Kind of the object.' }),
    objectID: Type.String({ description: 'Id of the object.' }),
    seq: Type.Integer({
      minimum: 0,
      description:
        'Number of the event among those of its object, from 1. A number that is missing was lost before it was told. 0 for `item.started`.',
    }),
    data: EventData,
    snapshot: nullable(
      Type.Unsafe<Snapshot>(Snapshot),
      'The object as it was then, with the fields that reading it returns, without long lists. Null if it was gone already, and for `item.started`.',
    ),
  },
  { title: 'AccountEvent' },
);
export type AccountEvent = Static<typeof AccountEvent>;

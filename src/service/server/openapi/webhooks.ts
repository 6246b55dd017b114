/**
 * Describes the requests that webhooks receive (OpenAPI 3.1, `webhooks`; https://www.standardwebhooks.com): one for each type of events.
 * Pure: no I/O, no clock.
 */
import type { CodeText } from '../../../core/lib/codes/code-text.ts';
import { DESTINATION_ERRORS } from '../../../core/lib/codes/destinations.ts';
import { PLATFORM_FAULTS, PLATFORM_WARNINGS } from '../../../core/lib/codes/platforms.ts';
import { DEGRADATIONS, DROPPED_RULES, READINESS_ISSUES } from '../../../core/lib/codes/streams.ts';
import { type DroppedRule, describeDroppedRule } from '../../../core/resources/stream/dropped-rules.ts';
import { exampleDeposit } from '../../billing/crypto/operations.ts';
import { exampleInvoice } from '../../billing/invoices/operations.ts';
import { summarize } from '../../billing/invoices/service.ts';
import { exampleApiKey, exampleUser } from '../../domain/accounts/examples.ts';
import { exampleDestination } from '../../domain/destinations/operations.ts';
import { exampleEvent } from '../../domain/events/operations.ts';
import {
  type AccountEvent,
  type AccountEventType,
  EVENT_TYPE_NAMES,
  EVENT_TYPES,
  type EventData,
  type EventObject,
  NO_DATA,
  RECORDED_TYPES,
  type Snapshot,
  type StartedItem,
} from '../../domain/events/record.ts';
import { exampleStream } from '../../domain/streams/examples.ts';
import { exampleUpload } from '../../domain/uploads/operations.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import type { Json } from './document.ts';

const HEADERS: Record<string, { description: string; schema: Json; example: unknown }> = {
  'webhook-id': {
    description: 'Id of the event. It is the same in each attempt to deliver it: drop an event that you know.',
    schema: { type: 'string' },
    example: exampleEvent.id,
  },
  'webhook-timestamp': {
    description:
      'Time of the attempt, in seconds since 1970. Refuse one that is more than five minutes from your clock.',
    schema: { type: 'integer', format: 'int64' },
    example: 1_801_418_407,
  },
  'webhook-signature': {
    description:
      'Signatures with the secrets of the endpoint, with spaces between them: `v1,` and the HMAC-SHA256, in base64, of ' +
      'id, timestamp and body with dots between them. Compare before you read the body.',
    schema: { type: 'string' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
};

const ANSWERS: Record<string, string> = {
  '2XX': 'The event was received. The body is ignored.',
  '410': 'The endpoint wants no events any more: it is disabled.',
  default: 'The event was not received. It is sent again, after longer and longer waits, for a day.',
};

const toOperationId = (type: AccountEventType): string =>
  `on${type
    .split(/[._]/)
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')}`;

interface ExampleObject {
  id: string;
  name: string;
  snapshot: Snapshot | null;
}

const OBJECTS: Record<EventObject, ExampleObject> = {
  stream: { id: EXAMPLE.stream, name: exampleStream.name, snapshot: exampleStream },
  upload: { id: EXAMPLE.upload, name: exampleUpload.name, snapshot: exampleUpload },
  playlist: { id: EXAMPLE.playlist, name: 'Evening', snapshot: null },
  destination: { id: EXAMPLE.destination, name: exampleDestination.name, snapshot: exampleDestination },
  account: { id: exampleUser.id, name: 'Credit', snapshot: null },
  invoice: { id: exampleInvoice.id, name: exampleInvoice.number, snapshot: summarize(exampleInvoice) },
  deposit: { id: exampleDeposit.id, name: 'ETH on ethereum', snapshot: null },
  key: { id: exampleApiKey.id, name: exampleApiKey.name, snapshot: exampleApiKey },
};

const { DestinationReconnecting } = DEGRADATIONS;
const { InsufficientCredits } = READINESS_ISSUES;
const { publish_rejected: rejected } = DESTINATION_ERRORS;
const { broadcast_ended: ended } = PLATFORM_FAULTS;
const { limit_near: near } = PLATFORM_WARNINGS;

const aboutViewers = (code: string, { meaning, fix }: CodeText): Partial<EventData> => ({
  code,
  message: `Destination "${exampleDestination.name}": ${meaning}`,
  fix,
  destinationID: EXAMPLE.destination,
});

const LEFT_OUT: DroppedRule = {
  number: 1,
  rule: 'news',
  track: 'video',
  dueAt: '2027-01-31T18:00:00.000Z',
  at: '2027-01-31T18:04:10.000Z',
  reason: 'RuleLate',
  count: 3,
  since: '2027-01-31T17:56:00.000Z',
};

const STARTED: StartedItem = {
  track: 'video',
  startAt: '2027-01-31T18:00:00.000Z',
  endAt: '2027-01-31T18:03:32.000Z',
  durationSeconds: 212,
  id: EXAMPLE.upload,
  name: exampleUpload.name,
  playlistID: EXAMPLE.playlist,
  index: 4,
  rule: null,
  exact: true,
  title: 'Fireplace',
  artist: 'The Logs',
  album: null,
};

/** The part of an event that its type alone has. */
const DATA: Partial<Record<AccountEventType, Partial<EventData>>> = {
  'stream.off_air': { ...exampleEvent.data },
  'stream.degraded': {
    code: DestinationReconnecting.code,
    message: exampleEvent.data.message,
    fix: DestinationReconnecting.fix,
  },
  'stream.recovered': { offAirSeconds: 252 },
  'playlist.published': { version: 7 },
  'destination.rejected': {
    code: 'publish_rejected',
    message: rejected.meaning,
    fix: rejected.fix,
    streamID: EXAMPLE.stream,
  },
  'platform.live': { destinationID: EXAMPLE.destination },
  'platform.ended': aboutViewers('broadcast_ended', ended),
  'platform.health': aboutViewers('limit_near', near),
  'insert.dropped': {
    code: DROPPED_RULES.RuleLate.code,
    message: describeDroppedRule(LEFT_OUT),
    fix: DROPPED_RULES.RuleLate.fix,
    rule: LEFT_OUT.rule,
    dueAt: LEFT_OUT.dueAt,
    count: LEFT_OUT.count,
    since: LEFT_OUT.since,
  },
  'item.started': { item: STARTED },
  'schedule.upcoming': { startAt: '2027-01-31T18:15:00.000Z' },
  'credit.low': {
    message: 'The credit of the account lasts for less than 24 hours at the current rate.',
    hoursLeft: 24,
  },
  'credit.exhausted': {
    code: InsufficientCredits.code,
    message: 'The credit of the account is used up.',
    fix: InsufficientCredits.fix,
  },
  'deposit.credited': { credits: '300000' },
};

function buildExample(type: AccountEventType): AccountEvent {
  const { object } = EVENT_TYPES[type];
  const { id: objectID, name, snapshot } = OBJECTS[object];
  const event = { ...exampleEvent, type, object, objectID, data: { ...NO_DATA, ...DATA[type], name }, snapshot };
  return RECORDED_TYPES.includes(type) ? event : { ...event, seq: 0, snapshot: null };
}

const buildWebhook = (type: AccountEventType): Json => {
  const example = buildExample(type);
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/AccountEvent' },
      { type: 'object', properties: { type: { type: 'string', const: type } } },
    ],
  };
  return {
    post: {
      operationId: toOperationId(type),
      summary: `The event ${type}`,
      description: EVENT_TYPES[type].meaning,
      tags: ['events'],
      security: [],
      parameters: Object.entries(HEADERS).map(([name, header]) => ({ name, in: 'header', required: true, ...header })),
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: Object.fromEntries(Object.entries(ANSWERS).map(([status, description]) => [status, { description }])),
    },
  };
};

/** `components.pathItems`, by the type of the event. */
export const buildPathItems = (): Json =>
  Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, buildWebhook(type)]));

/** `webhooks`: references, since openapi-generator makes broken clients of webhooks that it can read. */
export const buildWebhooks = (): Json =>
  Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, { $ref: `#/components/pathItems/${type}` }]));

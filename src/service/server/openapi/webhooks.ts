/**
 * Describes the requests that webhooks receive (OpenAPI 3.1, `webhooks`; https://www.standardwebhooks.com): one for each type of events.
 * Pure: no I/O, no clock.
 */
import { exampleEvent } from '../../domain/events/operations.ts';
import { type AccountEventType, EVENT_TYPE_NAMES, EVENT_TYPES } from '../../domain/events/record.ts';
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

const buildWebhook = (type: AccountEventType): Json => {
  const { meaning, object } = EVENT_TYPES[type];
  const { snapshot, ...event } = exampleEvent;
  const example = { ...event, type, object, snapshot: type === exampleEvent.type ? snapshot : null };
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
      description: meaning,
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

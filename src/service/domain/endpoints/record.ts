/** Defines an endpoint and its deliveries as clients see and send them. Pure: no I/O, no clock. */

import { type Static, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../../core/lib/sentences.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { DisplayName, nullable, Time } from '../../lib/schemas.ts';
import { EVENT_TYPE_NAMES } from '../events/record.ts';

/** `webhook` is for programs, and the others are for people. */
export const ENDPOINT_KINDS = ['webhook', 'mail', 'slack', 'discord', 'template'] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/** `unverified`: the receiver has not shown yet that it wants events. */
export const ENDPOINT_STATES = ['unverified', 'active', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DEFAULT_RULE = { offAirSeconds: 30, flappingCount: 3, flappingSeconds: 600 } as const;
const MAX_OBJECTS = 100;
const MAX_HEADERS = 20;

const Kind = Type.Enum(ENDPOINT_KINDS, {
  title: 'EndpointKind',
  description:
    '`webhook`: a program, which gets each event, signed (Standard Webhooks). For people, who get messages: `mail`, `slack` and `discord` (addresses of incoming ' +
    'webhooks), and `template` (any address, with a body of your own).',
});

const Types = Type.Array(Type.Enum(EVENT_TYPE_NAMES, { title: 'EventType' }), {
  maxItems: 100,
  description: 'Types of events to send. Empty: all but those that have to be named.',
});

const ObjectIDs = Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: DISPLAY_NAME_PATTERN }), {
  maxItems: MAX_OBJECTS,
  description: 'Ids of objects whose events to send. Empty: all.',
});

const seconds = (description: string, minimum: number) => Type.Integer({ minimum, maximum: 3600, description });

export const Rule = Type.Object(
  {
    offAirSeconds: Type.Optional(
      seconds('A message is sent when a stream is off air for so long. 30 without it, 0 for at once.', 0),
    ),
    flappingCount: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 100,
        description: 'So many outages within `flappingSeconds` are one message, until it is calm. 3 without it.',
      }),
    ),
    flappingSeconds: Type.Optional(seconds('600 without it.', 60)),
  },
  { title: 'EndpointRule', additionalProperties: false },
);

export const METHODS = ['POST', 'PUT', 'GET'] as const;

export const Header = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }),
    value: Type.String({ maxLength: 1000 }),
  },
  { title: 'EndpointHeader', additionalProperties: false },
);

export const EndpointTemplate = Type.Object(
  {
    method: Type.Optional(Type.Enum(METHODS, { title: 'EndpointMethod', description: 'POST without it.' })),
    headers: Type.Optional(
      Type.Array(Header, {
        maxItems: MAX_HEADERS,
        description: 'Headers of the request, write-only, since they may hold a token.',
      }),
    ),
    body: Type.Optional(
      Type.String({ maxLength: 10_000, description: 'Body of the request, with placeholders such as `{{text}}`.' }),
    ),
  },
  { title: 'EndpointTemplate', additionalProperties: false },
);
export type EndpointTemplate = Static<typeof EndpointTemplate>;

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Address to send to: `https://` or `http://`, of every kind but `mail`.',
});
const Address = Type.String({ minLength: 3, maxLength: 254, description: 'Mailbox to write to, of the kind `mail`.' });

const settings = {
  name: Type.Optional(DisplayName),
  labels: LabelsInput,
  url: Type.Optional(Url),
  address: Type.Optional(Address),
  template: Type.Optional(EndpointTemplate),
  types: Type.Optional(Types),
  objectIDs: Type.Optional(ObjectIDs),
  rule: Type.Optional(Rule),
};

export const EndpointCreate = Type.Object(
  { kind: Kind, ...settings },
  { title: 'EndpointCreate', additionalProperties: false },
);
export type EndpointCreate = Static<typeof EndpointCreate>;

export const EndpointUpdate = Type.Object(
  {
    ...settings,
    enabled: Type.Optional(
      Type.Boolean({ description: 'False: nothing is sent. `recoverEndpoint` sends later what happened meanwhile.' }),
    ),
  },
  { title: 'EndpointUpdate', additionalProperties: false, minProperties: 1 },
);
export type EndpointUpdate = Static<typeof EndpointUpdate>;

export const Endpoint = Type.Object(
  {
    id: Type.String(),
    kind: Kind,
    name: Type.String(),
    labels: Labels,
    target: Type.String({ description: 'Where it leads. Parts of a URL that may be secret are hidden.' }),
    state: Type.Enum(ENDPOINT_STATES, {
      title: 'EndpointState',
      description:
        '`unverified`: nothing is sent until the receiver has confirmed the code (`verifyEndpoint`). `disabled`: nothing is sent.',
    }),
    disabledCode: nullable(
      Type.String(),
      'Why it is disabled: `by_request`, or `gone` (it answered 410). Null where it is not.',
    ),
    types: Type.Array(Type.String(), {
      description: 'Types of events that are sent. Empty: all, except those that have to be named.',
    }),
    objectIDs: Type.Array(Type.String(), { description: 'Objects whose events are sent. Empty: all.' }),
    rule: nullable(
      Type.Object(
        { offAirSeconds: Type.Integer(), flappingCount: Type.Integer(), flappingSeconds: Type.Integer() },
        { title: 'EndpointRuleInForce' },
      ),
      'When people are told of outages. Null for a webhook, which gets each event.',
    ),
    previousSecretUntil: nullable(
      Time,
      'Until when requests are signed with the previous secret as well. Null where only one is valid.',
    ),
    createdAt: Time,
  },
  { title: 'Endpoint' },
);
export type Endpoint = Static<typeof Endpoint>;

export const EndpointSecret = Type.Object(
  {
    secret: Type.String({ description: 'Secret that requests are signed with: `whsec_` and base64.' }),
    previousSecretUntil: Endpoint.properties.previousSecretUntil,
  },
  { title: 'EndpointSecret' },
);
export type EndpointSecret = Static<typeof EndpointSecret>;

const DeliveryAnswer = Type.Object(
  {
    status: nullable(Type.Integer(), 'Status of the response. Null where there was none.'),
    body: nullable(Type.String(), 'Beginning of the response.'),
    code: nullable(Type.String(), 'Why it failed. Null where it did not.'),
    message: Type.String({ description: 'The result, as a sentence.' }),
    fix: nullable(Type.String(), 'How to mend it. Null where nothing has to be mended.'),
    tookMs: Type.Integer({ minimum: 0 }),
    at: Time,
  },
  { title: 'DeliveryAnswer' },
);
export type DeliveryAnswer = Static<typeof DeliveryAnswer>;

export const EndpointTest = Type.Object(
  { ok: Type.Boolean({ description: 'True if the receiver accepted it.' }), answer: DeliveryAnswer },
  { title: 'EndpointTest' },
);
export type EndpointTest = Static<typeof EndpointTest>;

export const Delivery = Type.Object(
  {
    id: Type.String(),
    number: Type.Integer({ minimum: 1, description: 'Order in which deliveries were queued.' }),
    messageID: Type.String({ description: 'Id of the event, or of the message to people: the header `webhook-id`.' }),
    type: Type.String({ description: 'Type of the event.' }),
    state: Type.Enum(DELIVERY_STATES, {
      title: 'DeliveryState',
      description: '`failed`: it was not accepted within a day. `replayDelivery` sends it again.',
    }),
    attempts: Type.Integer({ minimum: 0 }),
    createdAt: Time,
    nextAttemptAt: nullable(Time, 'Null where no attempt follows.'),
    lastAnswer: nullable(DeliveryAnswer, 'Result of the last attempt. Null before the first.'),
  },
  { title: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;

export const EndpointRecovery = Type.Object(
  { count: Type.Integer({ minimum: 0, description: 'Number of deliveries that are sent again.' }) },
  { title: 'EndpointRecovery' },
);
export type EndpointRecovery = Static<typeof EndpointRecovery>;

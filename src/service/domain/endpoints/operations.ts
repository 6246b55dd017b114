/** Declares the operations on endpoints and their deliveries. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { created, createOperationBuilder, deleted, FILTERED, OWNED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { ENDPOINT_LIST } from './list.ts';
import {
  DELIVERY_STATES,
  Delivery,
  Endpoint,
  EndpointCreate,
  EndpointRecovery,
  EndpointSecret,
  EndpointTest,
  EndpointUpdate,
} from './record.ts';
import type { EndpointService } from './service.ts';

const EXAMPLE_ID = 'end-01k8zq5w8j3n0y4d6c7p8q9r0s';

const operation = createOperationBuilder<{ endpoints: EndpointService }>({
  tag: 'endpoints',
  object: {
    idName: 'Endpoint id',
    listTool: 'list_endpoints',
    exampleId: EXAMPLE_ID,
    notFound: 'endpoint_not_found',
  },
});

export const exampleEndpoint: Endpoint = {
  id: EXAMPLE_ID,
  kind: 'webhook',
  name: 'Playout monitor',
  labels: {},
  target: 'https://example.com/hooks/loopstream',
  state: 'active',
  disabledCode: null,
  types: ['stream.off_air', 'stream.recovered'],
  objectIDs: [],
  rule: null,
  previousSecretUntil: null,
  createdAt: EXAMPLE.createdAt,
};

const exampleAnswer = {
  status: 200,
  body: 'ok',
  code: null,
  message: 'The receiver accepted it.',
  fix: null,
  tookMs: 41,
  at: EXAMPLE.since,
};

const exampleDelivery: Delivery = {
  id: 'dlv_4b1f0d5e6a7c4f2d8e9b0a1c2d3e4f50',
  number: 4711,
  messageID: 'evt_0c9b4a3c5d1f4f1e8b2a7d6e5f4c3b2a_7',
  type: 'stream.off_air',
  state: 'delivered',
  attempts: 1,
  createdAt: EXAMPLE.since,
  nextAttemptAt: null,
  lastAnswer: exampleAnswer,
};

const describeEndpoint = ({ name, id, kind, target, state }: Endpoint): string => {
  const waits = state === 'unverified' ? ' A code was sent there; confirm it with verify_endpoint.' : '';
  return `Endpoint "${name}" (${id}) is the ${kind} ${target}, and is ${state}.${waits}`;
};

const VERIFY =
  'Before anything else, a code is sent there. A webhook that answers it with the code alone, or with `{"code": "…"}`, is verified ' +
  'at once; else confirm the code with `verifyEndpoint`.';

export const endpointOperations = [
  operation({
    id: 'createEndpoint',
    scope: 'write',
    http: 'POST /endpoints',
    summary: 'Create an endpoint',
    description:
      `Events are sent to it: to a program as webhooks (https://www.standardwebhooks.com), to people as messages. ${VERIFY} The secret of ` +
      'a webhook is at `getEndpointSecret`. Events of billing are sent only if the credential has that scope.',
    input: EndpointCreate,
    output: created(Endpoint, ({ id }) => `/endpoints/${id}`),
    errors: ['endpoint_forbidden', 'quota_exceeded'],
    examples: {
      input: { kind: 'webhook', name: 'Playout monitor', url: 'https://example.com/hooks/loopstream' },
      output: exampleEndpoint,
    },
    mcp: {
      title: 'Create an endpoint',
      description: `Creates an endpoint, to which events are sent from then on. ${VERIFY}`,
      summarize: describeEndpoint,
      reachesOut: true,
    },
    graphql: { description: `Creates an endpoint, to which events are sent. ${VERIFY}` },
    client: { extraSeconds: 30 },
    run: ({ endpoints }, { principal, input }) => endpoints.create(principal, input),
  }),

  operation({
    id: 'listEndpoints',
    scope: 'read',
    http: 'GET /endpoints',
    summary: 'List endpoints, newest first',
    description: `Returns who is told of events, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(ENDPOINT_LIST),
    output: page(Endpoint, 'EndpointList'),
    isUncached: true,
    examples: { output: exampleEndpoint, parameters: { type: 'mail', state: 'active', sort: 'name' } },
    mcp: {
      query: listQuery(ENDPOINT_LIST, 'short'),
      title: 'List endpoints',
      description: 'Lists who is told of events: webhooks, mailboxes and chats.',
    },
    graphql: {
      description: 'Lists endpoints, newest first unless orderBy says otherwise.',
      query: listQuery(ENDPOINT_LIST),
    },
    run: ({ endpoints }, { accountId, page, query, where }) =>
      endpoints.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getEndpoint',
    scope: 'read',
    http: 'GET /endpoints/{id}',
    summary: 'Get an endpoint',
    description: `Returns an endpoint. ${OWNED}`,
    output: record(Endpoint),
    isUncached: true,
    examples: { output: exampleEndpoint },
    graphql: { description: 'Returns an endpoint.' },
    run: ({ endpoints }, { accountId, id }) => endpoints.get(accountId, id),
  }),

  operation({
    id: 'updateEndpoint',
    scope: 'write',
    http: 'PATCH /endpoints/{id}',
    summary: 'Change an endpoint',
    description: 'Another address has to be verified again. With `enabled` false, nothing is sent.',
    input: EndpointUpdate,
    output: record(Endpoint),
    errors: ['endpoint_forbidden'],
    examples: { input: { name: 'Playout monitor', enabled: true }, output: exampleEndpoint },
    mcp: {
      title: 'Change an endpoint',
      description: 'Changes the name, address, types, objects or rule of an endpoint, or enables and disables it.',
      summarize: describeEndpoint,
      isRepeatable: true,
      reachesOut: true,
    },
    graphql: { description: 'Changes an endpoint. Another address has to be verified again.' },
    client: { extraSeconds: 30 },
    run: ({ endpoints }, { principal, id, input }) => endpoints.update(principal, id, input),
  }),

  operation({
    id: 'deleteEndpoint',
    scope: 'destructive',
    http: 'DELETE /endpoints/{id}',
    summary: 'Delete an endpoint',
    description: 'Nothing is sent there any more. Its deliveries are deleted as well.',
    output: deleted,
    mcp: { title: 'Delete an endpoint', description: 'Deletes an endpoint. Nothing is sent there any more.' },
    graphql: { description: 'Deletes an endpoint and its deliveries.' },
    run: ({ endpoints }, { accountId, id }) => endpoints.delete(accountId, id),
  }),

  operation({
    id: 'verifyEndpoint',
    scope: 'write',
    http: 'POST /endpoints/{id}/verify',
    summary: 'Confirm the code of an endpoint',
    description: 'Confirms the code that was sent there last. Without a code, another one is sent.',
    input: Type.Object(
      {
        code: Type.Optional(Type.String({ minLength: 1, maxLength: 20, description: 'The code that arrived there.' })),
      },
      { title: 'EndpointVerification', additionalProperties: false },
    ),
    output: record(Endpoint),
    errors: ['endpoint_code_wrong'],
    examples: { input: { code: '40417312' }, output: exampleEndpoint },
    mcp: {
      title: 'Confirm the code of an endpoint',
      description: 'Confirms the code that was sent to an endpoint. Without a code, another one is sent.',
      summarize: describeEndpoint,
      isRepeatable: true,
      reachesOut: true,
    },
    graphql: { description: 'Confirms the code of an endpoint. Without a code, another one is sent.' },
    client: { extraSeconds: 30 },
    run: ({ endpoints }, { accountId, id, input }) => endpoints.verify(accountId, id, input.code),
  }),

  operation({
    id: 'testEndpoint',
    scope: 'write',
    http: 'POST /endpoints/{id}/test',
    summary: 'Test an endpoint',
    description: 'Sends a message of the type `endpoint.test` now, once, and returns the answer.',
    output: record(EndpointTest),
    errors: ['endpoint_not_active'],
    examples: { output: { ok: true, answer: exampleAnswer } },
    mcp: {
      title: 'Test an endpoint',
      description: 'Sends a test message to an endpoint, and returns its answer. It may take half a minute.',
      summarize: ({ ok, answer }) => (ok ? `It works. ${answer.message}` : `It failed. ${answer.message}`),
      reachesOut: true,
    },
    graphql: { description: 'Sends a test message to an endpoint.', payload: 'test' },
    client: { extraSeconds: 30 },
    run: ({ endpoints }, { accountId, id }) => endpoints.test(accountId, id),
  }),

  operation({
    id: 'getEndpointSecret',
    scope: 'write',
    http: 'GET /endpoints/{id}/secret',
    summary: 'Get the secret of an endpoint',
    description:
      'Returns the secret that requests to a webhook are signed with. Check signatures with it, before you trust a request.',
    output: record(EndpointSecret),
    errors: ['endpoint_has_no_secret'],
    isUncached: true,
    examples: { output: { secret: 'whsec_RXhhbXBsZU9mQVNlY3JldFRoYXRTaWduc05vdGhpbmc=', previousSecretUntil: null } },
    graphql: { description: 'Returns the secret that requests to a webhook are signed with.' },
    run: ({ endpoints }, { accountId, id }) => endpoints.secret(accountId, id),
  }),

  operation({
    id: 'rotateEndpointSecret',
    scope: 'write',
    http: 'POST /endpoints/{id}/rotate-secret',
    summary: 'Replace the secret of an endpoint',
    description:
      'Requests carry two signatures for a day, of the new secret and of the previous one. The new one is at `getEndpointSecret`.',
    output: record(Endpoint),
    errors: ['endpoint_has_no_secret'],
    examples: { output: { ...exampleEndpoint, previousSecretUntil: '2027-02-01T18:00:02.000Z' } },
    graphql: { description: 'Replaces the secret of a webhook. The previous one is valid for a day more.' },
    run: ({ endpoints }, { accountId, id }) => endpoints.rotateSecret(accountId, id),
  }),

  operation({
    id: 'recoverEndpoint',
    scope: 'write',
    http: 'POST /endpoints/{id}/recover',
    summary: 'Send again what an endpoint missed',
    description:
      'Sends what failed since a time, and for a webhook also what happened while the endpoint was disabled, up to seven days back. Nothing that was accepted is ' +
      'sent again.',
    input: Type.Object(
      { since: Type.String({ format: 'date-time', description: 'Time from which on.' }) },
      { title: 'EndpointRecover', additionalProperties: false },
    ),
    output: record(EndpointRecovery),
    errors: ['endpoint_not_active'],
    examples: { input: { since: EXAMPLE.since }, output: { count: 17 } },
    mcp: {
      title: 'Send again what an endpoint missed',
      description: 'Sends again what an endpoint did not accept since a time.',
      summarize: ({ count }) => `${count} deliveries are sent again.`,
      isRepeatable: true,
      reachesOut: true,
    },
    graphql: { description: 'Sends again what an endpoint did not accept since a time.', payload: 'recovery' },
    run: ({ endpoints }, { accountId, id, input }) => endpoints.recover(accountId, id, input.since),
  }),

  operation({
    id: 'listEndpointDeliveries',
    scope: 'read',
    http: 'GET /endpoints/{id}/deliveries',
    summary: 'List deliveries of an endpoint, newest first',
    description: `Returns the latest 1,000 deliveries of the last seven days, with their answers. ${PAGED}`,
    query: {
      state: Type.Optional(
        Type.Enum(DELIVERY_STATES, { title: 'DeliveryState', description: 'Only deliveries in this state.' }),
      ),
    },
    output: page(Delivery, 'DeliveryList'),
    isUncached: true,
    examples: { output: exampleDelivery, parameters: { state: 'failed' } },
    mcp: {
      title: 'List deliveries of an endpoint',
      description: 'Lists what was sent to an endpoint, newest first, with the answers.',
    },
    graphql: { description: 'Lists deliveries of an endpoint, newest first unless orderBy says otherwise.' },
    run: ({ endpoints }, { principal, id, page, query, where }) =>
      endpoints.deliveries(principal, id, page, { state: query.state, where }),
  }),

  operation({
    id: 'replayDelivery',
    scope: 'write',
    http: 'POST /endpoints/{id}/deliveries/{deliveryID}/replay',
    summary: 'Send a delivery again',
    description: 'Sends it again soon, with the same id, also if it was accepted.',
    path: { deliveryID: Type.String({ maxLength: 100, description: 'Delivery id.' }) },
    output: record(Delivery),
    errors: ['delivery_not_found', 'endpoint_not_active'],
    examples: {
      output: { ...exampleDelivery, state: 'waiting', attempts: 0, nextAttemptAt: EXAMPLE.since },
      parameters: { deliveryID: exampleDelivery.id },
    },
    graphql: { description: 'Sends a delivery again, with the same id.' },
    run: ({ endpoints }, { accountId, id, path }) => endpoints.replay(accountId, id, path.deliveryID),
  }),
] as const;

/** Declares the operations on destinations. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import { created, deleted, OWNED, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import { Destination, DestinationCreate, DestinationTest, DestinationUpdate } from './record.ts';
import type { DestinationService } from './service.ts';

const operation = operationsOf<{ destinations: DestinationService }>({
  tag: 'destinations',
  object: {
    idName: 'Destination id',
    listTool: 'list_destinations',
    exampleId: EXAMPLE.destination,
    notFound: 'destination_not_found',
  },
});

export const exampleDestination: Destination = {
  id: EXAMPLE.destination,
  name: 'Main channel',
  rtmpUrl: 'rtmp://live.example.com/app',
  rtmpKeyHint: '7x2q',
  hasLogin: false,
  createdAt: EXAMPLE.createdAt,
};

const sayDestination = ({ name, id, rtmpUrl }: Destination): string =>
  `Destination "${name}" (${id}) is ${rtmpUrl}; its stream key is kept and not shown.`;

export const destinationOperations = [
  operation({
    id: 'createDestination',
    scope: 'write',
    http: 'POST /destinations',
    summary: 'Create a destination',
    description: 'Keeps the address and the key to publish to. The key is never told again.',
    input: DestinationCreate,
    output: created(Destination, ({ id }) => `/destinations/${id}`),
    errors: ['destination_forbidden'],
    examples: {
      input: { name: 'Main channel', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'abcd-efgh-ijkl-7x2q' },
      output: exampleDestination,
    },
    mcp: {
      title: 'Create a destination',
      description:
        'A place to stream to: the ingest URL and the stream key, which the platform shows. A server that asks for a login gets rtmpUser and rtmpPassword too. Key and login are never told again. Call test_destination to see whether it is right.',
      say: sayDestination,
    },
    graphql: { description: 'Creates a destination. Its key goes in and never comes out.' },
    run: ({ destinations }, { accountId, input }) => destinations.create(accountId, input),
  }),

  operation({
    id: 'listDestinations',
    scope: 'read',
    http: 'GET /destinations',
    summary: 'Destinations, newest first',
    description: `Where the account’s streams can be sent, without keys. ${PAGED}`,
    output: page(Destination, 'DestinationList'),
    examples: { output: exampleDestination },
    mcp: {
      title: 'List destinations',
      description: 'Destinations of the account, newest first; of a stream key only the last four characters are told.',
    },
    graphql: { description: 'Destinations, newest first unless orderBy says otherwise.' },
    run: ({ destinations }, { accountId, page, where }) => destinations.list(accountId, page, where),
  }),

  operation({
    id: 'getDestination',
    scope: 'read',
    http: 'GET /destinations/{id}',
    summary: 'One destination',
    description: `A destination, without its key. ${OWNED}`,
    output: record(Destination),
    examples: { output: exampleDestination },
    mcp: {
      title: 'Look at a destination',
      description:
        'One destination; of its stream key only the last four characters are told. test_destination tries it.',
      say: sayDestination,
    },
    graphql: { description: 'One destination.' },
    run: ({ destinations }, { accountId, id }) => destinations.get(accountId, id),
  }),

  operation({
    id: 'updateDestination',
    scope: 'write',
    http: 'PATCH /destinations/{id}',
    summary: 'Change a destination',
    description: 'A stream on air is published again with what is new.',
    input: DestinationUpdate,
    output: record(Destination),
    errors: ['destination_forbidden', 'conflict'],
    examples: { input: { name: 'Second channel' }, output: exampleDestination },
    mcp: {
      title: 'Change a destination',
      description:
        'Sets name, URL, key or login anew; an empty rtmpUser and rtmpPassword end the login. A stream on air is published again with what is new, which viewers may see as a short break.',
      say: sayDestination,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Changes a destination. A stream on air is published again with what is new.' },
    run: ({ destinations }, { accountId, id, input }) => destinations.update(accountId, id, input),
  }),

  operation({
    id: 'deleteDestination',
    scope: 'destructive',
    http: 'DELETE /destinations/{id}',
    summary: 'Delete a destination',
    description: '409 `destination_in_use` while a stream sends to it.',
    output: deleted,
    errors: ['destination_in_use', 'conflict'],
    mcp: {
      title: 'Delete a destination',
      description: 'Deletes a destination and its stream key. Refused while a stream sends to it.',
    },
    graphql: { description: 'Deletes a destination; `destination_in_use` while a stream sends to it.' },
    run: ({ destinations }, { accountId, id }) => destinations.delete(accountId, id),
  }),

  operation({
    id: 'testDestination',
    scope: 'write',
    http: 'POST /destinations/{id}/test',
    summary: 'Publish to a destination for a moment',
    description:
      'Black pictures and silence for two seconds, sent from where streams are; the answer says how far that came. ' +
      'Requests that come while a test is under way are one with it. ' +
      '409 `destination_on_air` while a stream is sent there, which a second publisher would cut off.',
    output: record(DestinationTest),
    errors: ['destination_on_air', 'conflict'],
    examples: {
      output: {
        ok: false,
        stage: 'connect',
        code: 'connection_refused',
        message: 'The destination refuses connections.',
        tookMs: 12,
      },
    },
    mcp: {
      title: 'Test a destination',
      description:
        'Publishes black pictures and silence for two seconds and tells how far that came; it may take half a minute. Refused while a stream is sent there.',
      say: ({ ok, stage, message }) => (ok ? `It works. ${message}` : `It came as far as ${stage}. ${message}`),
      reachesOut: true,
    },
    graphql: {
      description: 'Publishes to a destination for a moment; `destination_on_air` while a stream is sent there.',
      payload: 'test',
    },
    run: ({ destinations }, { accountId, id }) => destinations.test(accountId, id),
  }),
] as const;

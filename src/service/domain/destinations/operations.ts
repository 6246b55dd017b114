/** Declares the operations on destinations. Pure: no I/O, no clock. */
import { DESTINATION_ERRORS } from '../../../core/lib/codes/destinations.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import {
  change,
  created,
  createOperationBuilder,
  DRY_RUN,
  deleted,
  FILTERED,
  OWNED,
  PAGED,
  page,
  record,
} from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { DESTINATION_LIST } from './list.ts';
import {
  Destination,
  DestinationChange,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
  LISTED_ADDRESS,
} from './record.ts';
import type { DestinationService } from './service.ts';

const operation = createOperationBuilder<{ destinations: DestinationService }>({
  tag: 'destinations',
  isOpenToLimitedKeys: true,
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
  labels: {},
  rtmpUrl: 'rtmp://live.example.com/app',
  url: 'rtmp://live.example.com/app',
  rtmpKeyHint: '7x2q',
  keyHint: '7x2q',
  hasLogin: false,
  leastBitrateKbps: null,
  platform: {
    kind: 'youtube',
    policy: 'Observe',
    url: null,
    channel: null,
    videoId: 'aqz-KE-bpKQ',
    hasToken: false,
  },
  platformLive: {
    status: 'true',
    code: null,
    message: 'Viewers see the stream.',
    fix: null,
    since: EXAMPLE.since,
    checkedAt: EXAMPLE.since,
    lastSeenAt: EXAMPLE.since,
    viewers: 128,
    issues: [],
    repairStalled: false,
  },
  lastTest: {
    ok: true,
    stage: 'publish',
    code: null,
    message: 'The destination accepted the stream.',
    tookMs: 2310,
    finishedAt: EXAMPLE.since,
  },
  createdAt: EXAMPLE.createdAt,
};

const exampleChange: DestinationChange = {
  ...exampleDestination,
  name: 'Second channel',
  takesOffAir: false,
  effect: 'Viewers see no change: no stream leaves this destination.',
  dryRun: false,
  streamIDs: [],
};

const describeDestination = ({ name, id, rtmpUrl, platformLive }: Destination): string =>
  `Destination "${name}" (${id}) is ${rtmpUrl}. Its stream key is stored and not shown.${describeView(platformLive)}`;

const describeView = (view: Destination['platformLive']): string =>
  view ? ` ${[view.message, view.fix].filter(Boolean).join(' ')}` : '';

export const destinationOperations = [
  operation({
    id: 'createDestination',
    scope: 'write',
    http: 'POST /destinations',
    summary: 'Create a destination',
    description: 'Stores the URL and the stream key to publish to. The key is never returned again.',
    input: DestinationCreate,
    output: created(Destination, ({ id }) => `/destinations/${id}`),
    errors: ['destination_forbidden'],
    examples: {
      input: { name: 'Main channel', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'abcd-efgh-ijkl-7x2q' },
      output: exampleDestination,
    },
    mcp: {
      title: 'Create a destination',
      listed: LISTED_ADDRESS,
      description:
        'Creates a destination from the ingest URL and the stream key that the platform shows. For a server that ' +
        'requires a login, add rtmpUser and rtmpPassword. Key and login are never returned. Check the result with ' +
        'test_destination. With `platform`, somebody looks whether viewers see the stream.',
      summarize: describeDestination,
    },
    graphql: { description: 'Creates a destination. Its key is never returned.' },
    run: ({ destinations }, { accountId, input }) => destinations.create(accountId, input),
  }),

  operation({
    id: 'listDestinations',
    scope: 'read',
    http: 'GET /destinations',
    summary: 'List destinations, newest first',
    description: `Returns the account’s destinations without their keys, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(DESTINATION_LIST),
    output: page(Destination, 'DestinationList'),
    examples: { output: exampleDestination, parameters: { type: 'rtmps', sort: 'name' } },
    mcp: {
      query: listQuery(DESTINATION_LIST, 'short'),
      title: 'List destinations',
      description:
        'Lists the account’s destinations, newest first, optionally filtered by a word in the name. Of a stream key, only the ' +
        'last four characters are shown.',
    },
    graphql: {
      description: 'Lists destinations, newest first unless orderBy says otherwise.',
      query: listQuery(DESTINATION_LIST),
    },
    run: ({ destinations }, { accountId, page, query, where }) =>
      destinations.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getDestination',
    scope: 'read',
    http: 'GET /destinations/{id}',
    summary: 'Get a destination',
    description: `Returns a destination, without its key. ${OWNED}`,
    output: record(Destination),
    examples: { output: exampleDestination },
    mcp: {
      title: 'Get a destination',
      description:
        'Returns a destination. Of its stream key, only the last four characters are shown. test_destination tests it.',
      summarize: describeDestination,
    },
    graphql: { description: 'Returns a destination.' },
    run: ({ destinations }, { accountId, id }) => destinations.get(accountId, id),
  }),

  operation({
    id: 'updateDestination',
    scope: 'write',
    http: 'PATCH /destinations/{id}',
    summary: 'Change a destination',
    description:
      'A stream on air is published again with the new values. `takesOffAir` in the response says whether viewers lose ' +
      'the picture meanwhile; with `dryRun=true` you learn that first.',
    input: DestinationUpdate,
    query: DRY_RUN,
    output: change(DestinationChange, Destination),
    errors: ['destination_forbidden', 'conflict'],
    examples: { input: { name: 'Second channel' }, output: exampleChange, parameters: { dryRun: true } },
    mcp: {
      title: 'Change a destination',
      listed: LISTED_ADDRESS,
      description:
        'Changes name, URL, key or login. An empty rtmpUser and rtmpPassword remove the login. A stream on air is ' +
        'published again: call it with `dryRun` true first, where `takesOffAir` says whether viewers lose the picture.',
      summarize: ({ dryRun, streamIDs, effect, ...destination }) => {
        if (dryRun) return `Nothing was changed. With this change: ${effect}`;
        const sentence = describeDestination(destination);
        return streamIDs.length > 0 ? `${sentence} ${effect}` : sentence;
      },
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Changes a destination. A stream on air is published again with the new values.' },
    run: ({ destinations }, { accountId, id, input, query }) => destinations.update(accountId, id, input, query),
  }),

  operation({
    id: 'deleteDestination',
    scope: 'destructive',
    http: 'DELETE /destinations/{id}',
    summary: 'Delete a destination',
    description: 'Fails with 409 `destination_in_use` while a stream uses it.',
    output: deleted,
    errors: ['destination_in_use', 'conflict'],
    mcp: {
      title: 'Delete a destination',
      description: 'Deletes a destination and its stream key. Fails while a stream uses it.',
    },
    graphql: { description: 'Deletes a destination. Fails with `destination_in_use` while a stream uses it.' },
    run: ({ destinations }, { accountId, id }) => destinations.delete(accountId, id),
  }),

  operation({
    id: 'resumeDestinationRepair',
    scope: 'write',
    http: 'POST /destinations/{id}/resume-repair',
    summary: 'Go on with a stalled repair',
    description:
      'Repairs of broadcasts stall when the platform ends each new one, or after too many in a day. Fails with 409 ' +
      '`repair_not_stalled` where none has.',
    output: record(Destination),
    errors: ['repair_not_stalled', 'conflict'],
    examples: { output: exampleDestination },
    mcp: {
      title: 'Go on with a stalled repair',
      description:
        'Lets the repair of broadcasts go on where `platformLive.repairStalled` is true. Solve the cause first: a new ' +
        'broadcast on a channel that was warned may make it worse.',
      summarize: describeDestination,
    },
    graphql: {
      description:
        'Goes on with a stalled repair of broadcasts. Fails with `repair_not_stalled` where none has stalled.',
    },
    client: { method: 'resumeRepair' },
    run: ({ destinations }, { accountId, id }) => destinations.resumeRepair(accountId, id),
  }),

  operation({
    id: 'testDestination',
    scope: 'write',
    http: 'POST /destinations/{id}/test',
    summary: 'Test a destination',
    description:
      'Publishes two seconds of black video and silence from the place that streams publish from. Returns the last ' +
      'step that the test reached. Requests during a running test share it. Fails with 409 `destination_on_air` ' +
      'while a stream is sent there, because a second publisher would interrupt it.',
    output: record(DestinationTest),
    errors: ['destination_on_air', 'conflict'],
    examples: {
      output: {
        ok: false,
        stage: 'connect',
        code: 'connection_refused',
        message: DESTINATION_ERRORS.connection_refused.meaning,
        tookMs: 12,
      },
    },
    mcp: {
      title: 'Test a destination',
      description:
        'Publishes two seconds of black video and silence, and reports the last step reached. It may take half a ' +
        'minute. Fails while a stream is sent there.',
      summarize: ({ ok, stage, message }) =>
        ok ? `It works. ${message}` : `The test ended at the step ${stage}. ${message}`,
      reachesOut: true,
    },
    graphql: {
      description:
        'Tests a destination by publishing for two seconds. Fails with `destination_on_air` while a stream is sent there.',
      payload: 'test',
    },
    client: { extraSeconds: 30 },
    run: ({ destinations }, { accountId, id }) => destinations.test(accountId, id),
  }),
] as const;

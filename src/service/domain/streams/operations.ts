/** Declares the operations on streams. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { PHASES } from '../../../core/resources/stream/spec.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import {
  change,
  content,
  created,
  createOperationBuilder,
  DRY_RUN,
  deletedInTime,
  FILTERED,
  OWNED,
  PAGED,
  page,
  progress,
  record,
} from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { LiveStats } from '../stats/record.ts';
import type { StatsService } from '../stats/service.ts';
import {
  exampleChange,
  exampleEvent,
  exampleIssue,
  exampleLiveStats,
  exampleRecurrence,
  exampleStream,
  exampleWindows,
} from './examples.ts';
import { STREAM_LIST } from './list.ts';
import {
  Readiness,
  Stream,
  StreamChange,
  StreamClone,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from './record.ts';
import type { Progress, StreamService } from './service.ts';

const operation = createOperationBuilder<{ streams: StreamService; stats: Pick<StatsService, 'live'> }>({
  tag: 'streams',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const STATUS = Type.Optional(Type.Enum(PHASES, { title: 'StreamStatus', description: 'The same as `state`.' }));
const wait = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 60,
    description: 'Time to wait for the result, in seconds. If it takes longer, the status is 202 in REST.',
  }),
);

const whenReady = Type.Optional(
  Type.Boolean({
    description:
      'If true, a stream that is not ready becomes `waiting` and goes on air when it is ready, instead of failing with ' +
      '`stream_not_ready`.',
  }),
);

/** GraphQL cost of a request to a pod or to Kubernetes, which costs more than a read from memory. */
const REMOTE_COST = 200;

const describeStream = ({ name, id, status, ready, degraded }: Stream): string =>
  `Stream "${name}" (${id}) is ${status}${ready ? '' : ', and not ready'}.${degraded ? ` ${degraded.message} ${degraded.fix}` : ''}`;

const describeProgress = ({ stream, done }: Progress): string =>
  done
    ? describeStream(stream)
    : `${describeStream(stream)} The change is still in progress: call get_stream to follow it.`;

/** A dry run says what would be; a change says what is, and what viewers lose by it. */
const describeChange = ({ dryRun, takesOffAir, effect, ...stream }: StreamChange): string => {
  if (dryRun) return `Nothing was changed. With this change: ${effect}`;
  return takesOffAir ? `${describeStream(stream)} ${effect}` : describeStream(stream);
};

/** Ends the description of a tool that may take a stream off air. */
const TRY_FIRST =
  'Call it with `dryRun` true first where the stream may be on air: `takesOffAir` says whether viewers lose the picture, and you should ask before you do that.';

const recordOperations = [
  operation({
    id: 'createStream',
    scope: 'write',
    http: 'POST /streams',
    summary: 'Create a stream',
    description: 'The stream stays off air until it is started, or until scheduleStartAt.',
    input: StreamCreate,
    output: created(Stream, ({ id }) => `/streams/${id}`),
    examples: {
      input: {
        name: 'Night fireplace',
        quality: 'q_1080p',
        framerate: 'f_30',
        destinationID: EXAMPLE.destination,
        videoUploadObjectID: EXAMPLE.upload,
      },
      output: exampleStream,
    },
    mcp: {
      title: 'Create a stream',
      description:
        'Creates a stream that loops one upload (videoUploadObjectID) or playlists (playlistIDs) to a destination. It ' +
        'stays off air until start_stream, or until scheduleStartAt.',
      summarize: describeStream,
    },
    graphql: { description: 'Creates a stream. It stays off air until it is started, or until scheduleStartAt.' },
    run: ({ streams }, { accountId, input }) => streams.create(accountId, input),
  }),

  operation({
    id: 'listStreams',
    scope: 'read',
    http: 'GET /streams',
    summary: 'List streams, newest first',
    description: `Returns the account’s streams, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: { ...listQuery(STREAM_LIST), status: STATUS },
    output: page(Stream, 'StreamList', { isMemoized: true }),
    examples: {
      output: exampleStream,
      parameters: { state: 'live', status: 'live', label: ['team=news'], q: 'fireplace', sort: 'onAir' },
    },
    mcp: {
      query: { ...listQuery(STREAM_LIST, 'short'), status: STATUS },
      title: 'List streams',
      description:
        'Lists the account’s streams, newest first, optionally filtered by state, label or a word in the name.',
    },
    graphql: {
      description: 'Lists streams, newest first unless orderBy says otherwise.',
      query: listQuery(STREAM_LIST),
    },
    run: ({ streams }, { accountId, page, query: { status, ...query }, where }) =>
      streams.list(accountId, readListing(page, { ...(status && { state: status }), ...query }), where),
  }),

  operation({
    id: 'getStream',
    scope: 'read',
    http: 'GET /streams/{id}',
    summary: 'Get a stream',
    description: `Returns a stream with its status and its media. ${OWNED}`,
    output: record(Stream, { isMemoized: true }),
    examples: { output: exampleStream },
    mcp: {
      title: 'Get a stream',
      description: 'Returns a stream and its state. If something is wrong, diagnose_stream explains it.',
      summarize: describeStream,
    },
    graphql: { description: 'Returns a stream.' },
    run: ({ streams }, { accountId, id }) => streams.get(accountId, id),
  }),

  operation({
    id: 'updateStream',
    scope: 'write',
    http: 'PATCH /streams/{id}',
    summary: 'Change a stream',
    description:
      'Changes the given fields only. `takesOffAir` in the response says whether it ends what viewers see; with ' +
      '`dryRun=true` you learn that first.',
    input: StreamUpdate,
    query: DRY_RUN,
    output: change(StreamChange, Stream),
    errors: ['conflict'],
    examples: {
      input: { name: 'Day fireplace', playlistIDs: [EXAMPLE.playlist] },
      output: exampleChange,
      parameters: { dryRun: true },
    },
    mcp: {
      title: 'Change a stream',
      description:
        'Changes the given fields, such as video, playlists, destination or quality, also on air. schedule_stream ' +
        `changes its times. ${TRY_FIRST}`,
      summarize: describeChange,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Changes a stream.' },
    run: ({ streams }, { accountId, id, input, query }) => streams.update(accountId, id, input, query),
  }),

  operation({
    id: 'cloneStream',
    scope: 'write',
    http: 'POST /streams/{id}/clone',
    summary: 'Clone a stream',
    description:
      'Creates a stream off air with the settings and labels of another one, but without its schedule. Given fields replace those of the ' +
      'other stream; its name gets the suffix “(copy)” otherwise. Both send to the same destinations unless others are given, which must ' +
      'not be at the same time. Fails with 409 `conflict` while the other stream is being deleted.',
    input: StreamClone,
    output: created(Stream, ({ id }) => `/streams/${id}`),
    errors: ['conflict'],
    examples: { input: { name: 'Day fireplace', destinationID: EXAMPLE.destination }, output: exampleStream },
    mcp: {
      title: 'Clone a stream',
      description:
        'Creates a stream off air with the settings of another one, without its schedule. Given fields replace its own.',
      summarize: describeStream,
    },
    graphql: { description: 'Creates a stream off air with the settings of another one, without its schedule.' },
    run: ({ streams }, { accountId, id, input }) => streams.clone(accountId, id, input),
  }),

  operation({
    id: 'deleteStream',
    scope: 'destructive',
    http: 'DELETE /streams/{id}',
    summary: 'Delete a stream',
    description: 'Takes the stream off air first. Returns 204 when it is gone, or 202 if that takes longer.',
    output: deletedInTime,
    errors: ['conflict'],
    mcp: {
      title: 'Delete a stream',
      description:
        'Takes a stream off air and deletes it. Uploads, playlists and destinations stay. `done` is false while it is ' +
        'still going off air; no further call is needed.',
    },
    graphql: { description: 'Deletes a stream, after taking it off air.' },
    run: ({ streams }, { accountId, id }) => streams.delete(accountId, id),
  }),
] as const;

const actionOperations = [
  operation({
    id: 'startStream',
    scope: 'write',
    http: 'POST /streams/{id}/start',
    summary: 'Start a stream',
    description:
      'Safe to repeat: a stream that is on air is returned unchanged. A stream whose pod Kubernetes refuses tries again at once.',
    query: { wait, whenReady },
    output: progress('stream', Stream),
    errors: ['stream_not_ready', 'insufficient_credits', 'conflict'],
    examples: { output: exampleStream, parameters: { wait: 30, whenReady: true } },
    mcp: {
      title: 'Start a stream',
      description:
        'Puts a stream on air. Safe to repeat. Fails with the open issues if it is not ready, unless `whenReady` is ' +
        'true. With `wait`, returns once a destination accepts the stream. If you stop waiting, the stream continues.',
      query: { whenReady },
      wait: { until: 'it is live', summarize: describeStream },
      summarize: describeProgress,
      isRepeatable: true,
      reachesOut: true,
    },
    graphql: {
      description:
        'Puts a stream on air. Safe to repeat. The extensions of the error `stream_not_ready` list the `issues`.',
    },
    run: ({ streams }, { accountId, id, query, watch }) =>
      streams.start(accountId, id, query.wait, { ...watch, whenReady: query.whenReady }),
  }),

  operation({
    id: 'stopStream',
    scope: 'write',
    http: 'POST /streams/{id}/stop',
    summary: 'Stop a stream',
    description: 'Safe to repeat: a stream that is off air is returned unchanged.',
    query: { wait },
    output: progress('stream', Stream),
    errors: ['conflict'],
    examples: { output: exampleStream, parameters: { wait: 30 } },
    mcp: {
      title: 'Stop a stream',
      description: 'Takes a stream off air. Safe to repeat. With `wait`, returns once it is off air.',
      query: {},
      wait: { until: 'it is off air', summarize: describeStream },
      summarize: describeProgress,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Takes a stream off air. Safe to repeat.' },
    run: ({ streams }, { accountId, id, query, watch }) => streams.stop(accountId, id, query.wait, watch),
  }),

  operation({
    id: 'skipStreamItem',
    scope: 'write',
    http: 'POST /streams/{id}/skip',
    summary: 'Skip to the next item',
    description:
      'Skips immediately and without a reconnect. Returns 200 when the next item has begun, or 202 if that takes ' +
      'longer. Requests during a running skip share it.',
    input: StreamSkip,
    output: progress('stream', Stream),
    errors: ['stream_not_live', 'conflict'],
    examples: { input: { track: 'video' }, output: exampleStream },
    mcp: {
      title: 'Skip to the next item',
      description:
        'Ends the current item of a live stream and plays the next one, without a reconnect. Fails while the stream ' +
        'is not live.',
      summarize: describeProgress,
    },
    graphql: { description: 'Skips to the next item immediately and without a reconnect.', isFlat: true },
    run: ({ streams }, { accountId, id, input }) => streams.skip(accountId, id, input),
  }),
] as const;

const scheduleOperations = [
  operation({
    id: 'getStreamSchedule',
    scope: 'read',
    http: 'GET /streams/{id}/upcoming',
    summary: 'Get the schedule of a stream and its next times on air',
    description: 'Returns the schedule and the next windows that it produces.',
    output: record(StreamWindows),
    examples: { output: exampleWindows },
    mcp: {
      title: 'Get the schedule of a stream',
      description: 'Returns the schedule of a stream and its next times on air.',
      summarize: ({ windows: [next] }) =>
        next ? `It goes on air at ${next.startAt}.` : 'It does not go on air on its own.',
    },
    client: { method: 'windows' },
    run: ({ streams }, { accountId, id }) => streams.windows(accountId, id),
  }),

  operation({
    id: 'scheduleStream',
    scope: 'write',
    http: 'POST /streams/{id}/schedule',
    summary: 'Schedule a stream',
    description:
      'Sets when the stream goes on air and off air automatically: once, or repeatedly by `recurrence`. Replaces ' +
      'the whole schedule. A stream on air without a window now goes off air at once, unless scheduleOnAirUntil keeps ' +
      'it: `takesOffAir` in the response says so, with `dryRun=true` before anything is changed.',
    input: StreamSchedule,
    query: DRY_RUN,
    output: change(StreamChange, Stream),
    errors: ['conflict'],
    examples: { input: { recurrence: exampleRecurrence }, output: exampleChange, parameters: { dryRun: true } },
    mcp: {
      title: 'Schedule a stream',
      description:
        'Sets when the stream goes on air and off air: once, by scheduleStartAt and scheduleEndAt, or repeatedly, by ' +
        'recurrence. Replaces the whole schedule: omitted fields are removed. A stream on air without a window now goes ' +
        'off air at once, unless scheduleOnAirUntil keeps it: set it to the nextStartAt of the dry run. ' +
        `get_stream_schedule returns the next times. ${TRY_FIRST}`,
      summarize: describeChange,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Replaces the schedule of a stream. Omitted fields are removed.' },
    run: ({ streams }, { accountId, id, input, query }) => streams.schedule(accountId, id, input, query),
  }),

  operation({
    id: 'unscheduleStream',
    scope: 'write',
    http: 'DELETE /streams/{id}/schedule',
    summary: 'Remove the schedule of a stream',
    description: 'The stream no longer goes on air automatically. A stream on air stays on air.',
    query: DRY_RUN,
    output: change(StreamChange, Stream),
    errors: ['conflict'],
    examples: { output: exampleChange, parameters: { dryRun: true } },
    mcp: {
      title: 'Remove the schedule of a stream',
      description:
        'Removes the schedule. A stream on air stays on air. A stream that waited for its start time does not start.',
      summarize: describeChange,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Removes the schedule of a stream.' },
    run: ({ streams }, { accountId, id, query }) => streams.unschedule(accountId, id, query),
  }),
] as const;

/** Completes "It is ready". */
const describePrepared = (prepared: number): string =>
  prepared < 1 ? `; ${Math.floor(100 * prepared)} % of its media is prepared` : '';

const liveOperations = [
  operation({
    id: 'getStreamReadiness',
    scope: 'read',
    http: 'GET /streams/{id}/readiness',
    summary: 'Check whether a stream can start',
    description:
      'Each issue has a code, a message and the field that causes it. The stream can start if there are no issues. ' +
      'It may start before all of its media is prepared.',
    output: record(Readiness, { isMemoized: true }),
    examples: {
      output: { ready: false, issues: [exampleIssue], warnings: [], prepared: 0.01, estimatedReadyAt: EXAMPLE.since },
    },
    mcp: {
      title: 'Check whether a stream can start',
      description:
        'Returns `issues` that prevent start_stream, each with a `fix`, and `warnings` about items it would leave ' +
        'out. If `ready` is true, the stream can start. Media in preparation becomes ready without a further call.',
      summarize: ({ ready, issues, warnings, prepared }) =>
        ready
          ? [`It is ready${describePrepared(prepared)}.`, ...warnings.map(({ message }) => message)].join(' ')
          : `It is not ready: ${issues.map(({ message, fix }) => `${message} ${fix}`).join(' ')}`,
    },
    run: ({ streams }, { accountId, id }) => streams.readiness(accountId, id),
  }),

  operation({
    id: 'getStreamLiveStats',
    scope: 'read',
    http: 'GET /streams/{id}/live-stats',
    summary: 'Get live statistics of a stream',
    description: 'Returns current values for each destination while the stream is on air.',
    output: record(LiveStats),
    examples: { output: exampleLiveStats },
    mcp: {
      title: 'Get live statistics of a stream',
      description:
        'Returns bit rate, frames, loops, the current and the next item, and the state of each destination. Values ' +
        'are null off air.',
      summarize: ({ live, bitrateKbps, loopCount, current }) =>
        live
          ? `It is live at ${Math.round(bitrateKbps ?? 0)} kbit/s, after ${loopCount ?? 0} loops. Current item: "${current?.name ?? 'nothing'}".`
          : 'It is not live.',
    },
    graphql: { description: 'Live statistics of a stream.', field: 'liveStats', cost: REMOTE_COST },
    run: ({ stats }, { accountId, id }) => stats.live(accountId, id),
  }),

  operation({
    id: 'listStreamEvents',
    scope: 'read',
    http: 'GET /streams/{id}/events',
    summary: 'List events of a stream, newest first',
    description:
      'Read from Kubernetes directly, which stores events for about an hour: fails with 502 while it is unavailable.',
    output: page(StreamEvent, 'StreamEventList'),
    isUncached: true,
    examples: { output: exampleEvent },
    mcp: {
      title: 'List events of a stream',
      description:
        'Lists starts, stops, lost connections and failures with their reasons, newest first. Events are stored for ' +
        'about an hour.',
    },
    graphql: {
      description: 'Lists events of a stream, newest first unless orderBy says otherwise.',
      field: 'streamEvents',
      cost: REMOTE_COST,
    },
    run: ({ streams }, { accountId, id, page, where }) => streams.events(accountId, id, page, where),
  }),

  operation({
    id: 'getStreamPreview',
    scope: 'read',
    http: 'GET /streams/{id}/preview.flv',
    summary: 'Watch a stream as HTTP-FLV',
    description: 'Sends the output’s video and audio with a short delay, until the client disconnects.',
    // OpenAPI 3.1: a binary body has no schema.
    output: content({ 'video/x-flv': Type.Unsafe<unknown>({}) }),
    errors: ['stream_not_live', 'too_many_previews', 'server_busy'],
    isUncached: true,
  }),
] as const;

export const streamOperations = [
  ...recordOperations,
  ...actionOperations,
  ...scheduleOperations,
  ...liveOperations,
] as const;

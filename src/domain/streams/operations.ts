/** Declares the operations on streams. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import {
  content,
  created,
  deletedInTime,
  OWNED,
  operationsOf,
  PAGED,
  page,
  progress,
  record,
} from '../../lib/operation.ts';
import { PHASES } from '../../resources/stream/spec.ts';
import { LiveStats } from '../stats/record.ts';
import type { StatsService } from '../stats/service.ts';
import {
  exampleEvent,
  exampleIssue,
  exampleLiveStats,
  exampleRecurrence,
  exampleStream,
  exampleWindows,
} from './examples.ts';
import {
  Readiness,
  Stream,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from './record.ts';
import type { Progress, StreamService } from './service.ts';

const operation = operationsOf<{ streams: StreamService; stats: Pick<StatsService, 'live'> }>({
  tag: 'streams',
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const wait = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for it to happen; 202 if it took longer.' }),
);

const waitInGraphql = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for it to happen.' }),
);

/** GraphQL cost of a request to a pod or to Kubernetes, which costs more than a read from memory. */
const REMOTE_COST = 200;

const sayStream = ({ name, id, status, ready, degraded }: Stream): string =>
  `Stream "${name}" (${id}) is ${status}${ready ? '' : ', and not ready'}.${degraded ? ` ${degraded.message}` : ''}`;

const sayProgress = ({ stream, done }: Progress): string =>
  done ? sayStream(stream) : `${sayStream(stream)} What was asked for is still on its way: call get_stream to see it.`;

const recordOperations = [
  operation({
    id: 'createStream',
    scope: 'write',
    http: 'POST /streams',
    summary: 'Create a stream',
    description: 'It is off air until it is started, or until scheduleStartAt.',
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
        'A channel that loops to a destination (of create_destination) either one upload, given as videoUploadObjectID, or playlists, given as playlistIDs. It is off air until start_stream, or until scheduleStartAt.',
      say: sayStream,
    },
    graphql: { description: 'Creates a stream. It is off air until it is started, or until scheduleStartAt.' },
    run: ({ streams }, { accountId, input }) => streams.create(accountId, input),
  }),

  operation({
    id: 'listStreams',
    scope: 'read',
    http: 'GET /streams',
    summary: 'Streams, newest first',
    description: `The streams of the account; by \`status\`, or by a part of their names in \`q\`. ${PAGED}`,
    query: {
      status: Type.Optional(Type.Enum(PHASES, { description: 'Only streams in this state.' })),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'Only streams with this in their name.' })),
    },
    output: page(Stream, 'StreamList', { isMemoized: true }),
    examples: { output: exampleStream, parameters: { status: 'live', q: 'fireplace' } },
    mcp: {
      title: 'List streams',
      description:
        'Streams of the account, newest first; only those in a state, or with a word in their name, if asked.',
    },
    graphql: { description: 'Streams, newest first unless orderBy says otherwise.' },
    run: ({ streams }, { accountId, page, query, where }) => streams.list(accountId, page, query, where),
  }),

  operation({
    id: 'getStream',
    scope: 'read',
    http: 'GET /streams/{id}',
    summary: 'One stream',
    description: `A stream with its status and what it plays. ${OWNED}`,
    output: record(Stream, { isMemoized: true }),
    examples: { output: exampleStream },
    mcp: {
      title: 'Look at a stream',
      description: 'One stream and its state. When something is wrong with it, diagnose_stream tells more.',
      say: sayStream,
    },
    graphql: { description: 'One stream.' },
    run: ({ streams }, { accountId, id }) => streams.get(accountId, id),
  }),

  operation({
    id: 'updateStream',
    scope: 'write',
    http: 'PATCH /streams/{id}',
    summary: 'Change a stream',
    description: 'Changes the fields that are sent and no others.',
    input: StreamUpdate,
    output: record(Stream),
    errors: ['conflict'],
    examples: { input: { name: 'Day fireplace', playlistIDs: [EXAMPLE.playlist] }, output: exampleStream },
    mcp: {
      title: 'Change a stream',
      description:
        'Sets what is given anew, such as its video, playlists, destination or quality, and leaves the rest; on air too. Its times are changed by schedule_stream.',
      say: sayStream,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Changes a stream.' },
    run: ({ streams }, { accountId, id, input }) => streams.update(accountId, id, input),
  }),

  operation({
    id: 'deleteStream',
    scope: 'destructive',
    http: 'DELETE /streams/{id}',
    summary: 'Delete a stream',
    description: 'Takes it off air first. 204 when nothing of it is left, 202 when that takes longer.',
    output: deletedInTime,
    errors: ['conflict'],
    mcp: {
      title: 'Delete a stream',
      description:
        'Takes a stream off air and deletes it; uploads, playlists and destinations stay. `done` is false while it is still going off air: nothing more is to be done then.',
    },
    graphql: { description: 'Deletes a stream; takes it off air first.' },
    run: ({ streams }, { accountId, id }) => streams.delete(accountId, id),
  }),
] as const;

const actionOperations = [
  operation({
    id: 'startStream',
    scope: 'write',
    http: 'POST /streams/{id}/start',
    summary: 'Put a stream on air',
    description: 'Safe to repeat: a stream that is on air answers as it is.',
    query: {
      wait,
      whenReady: Type.Optional(
        Type.Boolean({
          description:
            'One that is not ready is `waiting` until it is, and goes on air by itself then, instead of 409.',
        }),
      ),
    },
    output: progress('stream', Stream),
    errors: ['stream_not_ready', 'insufficient_credits', 'conflict'],
    examples: { output: exampleStream, parameters: { wait: 30, whenReady: true } },
    mcp: {
      title: 'Put a stream on air',
      description:
        'Safe to repeat. Refused while it is not ready, with what is in the way, unless `whenReady` is given. With `wait` it answers when a destination takes the stream; to stop waiting does not stop the stream.',
      query: {
        whenReady: Type.Optional(
          Type.Boolean({
            description:
              'One that is not ready waits until it is, and goes on air by itself then, instead of being refused.',
          }),
        ),
      },
      wait: { until: 'it is live', say: sayStream },
      say: sayProgress,
      isRepeatable: true,
      reachesOut: true,
    },
    graphql: {
      description: 'Puts a stream on air. Safe to repeat. `stream_not_ready` tells the `issues` in its extensions.',
      query: {
        wait: waitInGraphql,
        whenReady: Type.Optional(
          Type.Boolean({ description: 'One that is not ready waits until it is, and goes on air by itself then.' }),
        ),
      },
    },
    run: ({ streams }, { accountId, id, query, watch }) =>
      streams.start(accountId, id, query.wait, { ...watch, whenReady: query.whenReady }),
  }),

  operation({
    id: 'stopStream',
    scope: 'write',
    http: 'POST /streams/{id}/stop',
    summary: 'Take a stream off air',
    description: 'Safe to repeat: a stream that is off air answers as it is.',
    query: { wait },
    output: progress('stream', Stream),
    errors: ['conflict'],
    examples: { output: exampleStream, parameters: { wait: 30 } },
    mcp: {
      title: 'Take a stream off air',
      description: 'Safe to repeat. With `wait` it answers when nothing of it is on air any more.',
      query: {},
      wait: { until: 'it is off air', say: sayStream },
      say: sayProgress,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Takes a stream off air. Safe to repeat.', query: { wait: waitInGraphql } },
    run: ({ streams }, { accountId, id, query, watch }) => streams.stop(accountId, id, query.wait, watch),
  }),

  operation({
    id: 'skipStreamItem',
    scope: 'write',
    http: 'POST /streams/{id}/skip',
    summary: 'Go on to the next item',
    description:
      'At once and without a reconnect. 200 when the next item has begun, 202 when that takes longer; ' +
      'requests that come while one is under way are one with it.',
    input: StreamSkip,
    output: progress('stream', Stream),
    errors: ['stream_not_live', 'conflict'],
    examples: { input: { track: 'video' }, output: exampleStream },
    mcp: {
      title: 'Go on to the next item',
      description:
        'Ends the item that a live stream plays and goes on to the next, without a reconnect. Refused while the stream is not live.',
      say: sayProgress,
    },
    graphql: { description: 'Goes on to the next item, at once and without a reconnect.', isFlat: true },
    run: ({ streams }, { accountId, id, input }) => streams.skip(accountId, id, input),
  }),
] as const;

const scheduleOperations = [
  operation({
    id: 'getStreamSchedule',
    scope: 'read',
    http: 'GET /streams/{id}/upcoming',
    summary: 'A stream’s schedule and the next times it is on air',
    description: 'The schedule with the next times that it leads to.',
    output: record(StreamWindows),
    examples: { output: exampleWindows },
    mcp: {
      title: 'Look at a stream’s schedule',
      description: 'The schedule of a stream and the next times that it puts the stream on air.',
      say: ({ windows: [next] }) => (next ? `It goes on air at ${next.startAt}.` : 'It does not go on air by itself.'),
    },
    run: ({ streams }, { accountId, id }) => streams.windows(accountId, id),
  }),

  operation({
    id: 'scheduleStream',
    scope: 'write',
    http: 'POST /streams/{id}/schedule',
    summary: 'Schedule a stream',
    description: 'Sets when the stream goes on air and off air by itself: once, or again and again by `recurrence`.',
    input: StreamSchedule,
    output: record(Stream),
    errors: ['conflict'],
    examples: { input: { recurrence: exampleRecurrence }, output: exampleStream },
    mcp: {
      title: 'Schedule a stream',
      description:
        'When the stream goes on air and off by itself: once, by scheduleStartAt and scheduleEndAt, or again and again, by recurrence. The whole schedule is set anew: what is left out is taken away. get_stream_schedule tells the next times.',
      say: sayStream,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Sets the schedule of a stream anew: what is left out is taken away.' },
    run: ({ streams }, { accountId, id, input }) => streams.schedule(accountId, id, input),
  }),

  operation({
    id: 'unscheduleStream',
    scope: 'write',
    http: 'DELETE /streams/{id}/schedule',
    summary: 'Take a stream’s schedule away',
    description: 'The stream no longer goes on air by itself. A stream on air stays there.',
    output: record(Stream),
    errors: ['conflict'],
    examples: { output: exampleStream },
    mcp: {
      title: 'Take a stream’s schedule away',
      description: 'A stream on air stays there; one that waited for its time does not start.',
      say: sayStream,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Takes the schedule of a stream away.' },
    run: ({ streams }, { accountId, id }) => streams.unschedule(accountId, id),
  }),
] as const;

const liveOperations = [
  operation({
    id: 'getStreamReadiness',
    scope: 'read',
    http: 'GET /streams/{id}/readiness',
    summary: 'What would stop the stream from starting',
    description:
      'Each issue has a code, a sentence and the field that has the fault; without issues the stream can be started.',
    output: record(Readiness, { isMemoized: true }),
    examples: { output: { ready: false, issues: [exampleIssue], warnings: [] } },
    mcp: {
      title: 'What would stop a stream from starting',
      description:
        'What is in the way of start_stream now: `issues`, each with a `fix`, and what it would go without: `warnings`. When `ready` is true it can be started; media that is being prepared becomes ready by itself.',
      say: ({ ready, issues, warnings }) =>
        ready
          ? ['It is ready.', ...warnings.map(({ message }) => message)].join(' ')
          : `It is not ready: ${issues.map(({ message, fix }) => `${message} ${fix}`).join(' ')}`,
    },
    run: ({ streams }, { accountId, id }) => streams.readiness(accountId, id),
  }),

  operation({
    id: 'getStreamLiveStats',
    scope: 'read',
    http: 'GET /streams/{id}/live-stats',
    summary: 'Live numbers of a stream',
    description: 'Numbers of this moment, by destination, while the stream is on air.',
    output: record(LiveStats),
    examples: { output: exampleLiveStats },
    mcp: {
      title: 'Live numbers of a stream',
      description:
        'Bit rate, frames, loops, what plays now and next, and how each destination takes it; nulls off air.',
      say: ({ live, bitrateKbps, loopCount, current }) =>
        live
          ? `It is live at ${Math.round(bitrateKbps ?? 0)} kbit/s, after ${loopCount ?? 0} loops; "${current?.name ?? 'nothing'}" plays.`
          : 'It is not live.',
    },
    graphql: { description: 'Live numbers of a stream.', field: 'liveStats', cost: REMOTE_COST },
    run: ({ stats }, { accountId, id }) => stats.live(accountId, id),
  }),

  operation({
    id: 'listStreamEvents',
    scope: 'read',
    http: 'GET /streams/{id}/events',
    summary: 'What happened to a stream, newest first',
    description: 'Asked of Kubernetes itself, which keeps them for about an hour: 502 while it is away.',
    output: page(StreamEvent, 'StreamEventList'),
    isUncached: true,
    examples: { output: exampleEvent },
    mcp: {
      title: 'What happened to a stream',
      description: 'Starts, stops, lost connections, refusals and their reasons, newest first; kept for about an hour.',
    },
    graphql: {
      description: 'What happened to a stream, newest first unless orderBy says otherwise.',
      field: 'streamEvents',
      cost: REMOTE_COST,
    },
    run: ({ streams }, { accountId, id, page, where }) => streams.events(accountId, id, page, where),
  }),

  operation({
    id: 'getStreamPreview',
    scope: 'read',
    http: 'GET /streams/{id}/preview.flv',
    summary: 'What is on air, as HTTP-FLV',
    description: 'The picture and the sound that are sent, a moment later, until the client ends it.',
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

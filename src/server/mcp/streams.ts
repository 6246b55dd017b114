/** Tools: streams; what is seen of one on air is in live.ts. */
import { Type } from 'typebox';
import {
  Stream,
  StreamCreate,
  type Stream as StreamRecord,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from '../../domain/streams/record.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import { PHASES } from '../../resources/stream/spec.ts';
import { flatten, listOf } from '../http/page.ts';
import { Deleted, idOf, PAGE, pageOf, progressOf, sayDeleted, sayPage, waitFor } from './inputs.ts';
import { type Call, type Tool, tool } from './tool.ts';
import { waiting } from './waiting.ts';

const id = idOf('Stream id, as list_streams tells it.');
const Progress = progressOf(Stream);
const WhenReady = {
  whenReady: Type.Optional(
    Type.Boolean({
      description: 'One that is not ready waits until it is, and goes on air by itself then, instead of being refused.',
    }),
  ),
};

export const sayStream = ({ name, id, status, ready, degraded }: StreamRecord): string =>
  `Stream "${name}" (${id}) is ${status}${ready ? '' : ', and not ready'}.${degraded ? ` ${degraded.message}` : ''}`;

const sayProgress = ({ stream, done }: { stream: StreamRecord; done: boolean }): string =>
  done ? sayStream(stream) : `${sayStream(stream)} What was asked for is still on its way: call get_stream to see it.`;

export const streamTools = (streams: StreamService): Tool[] => [
  ...recordTools(streams),
  ...actionTools(streams),
  ...scheduleTools(streams),
];

const recordTools = (streams: StreamService): Tool[] => [
  tool({
    name: 'create_stream',
    title: 'Create a stream',
    description:
      'A channel that loops to a destination (of create_destination) either one upload, given as videoUploadObjectID, or playlists, given as playlistIDs. It is off air until start_stream, or until scheduleStartAt.',
    operations: ['createStream'],
    ...{ body: StreamCreate, output: Stream, keyed: true },
    say: sayStream,
    run: ({ accountId }, _own, body) => streams.create(accountId, body),
  }),
  tool({
    name: 'list_streams',
    title: 'List streams',
    description: 'Streams of the account, newest first; only those in a state, or with a word in their name, if asked.',
    operations: ['listStreams'],
    own: {
      ...PAGE,
      status: Type.Optional(Type.Enum(PHASES, { description: 'Only streams in this state.' })),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'Only streams with this in their name.' })),
    },
    output: listOf(Stream, 'StreamList'),
    say: sayPage,
    run: ({ accountId }, { status, q, ...page }) => flatten(streams.list(accountId, pageOf(page), { status, q })),
  }),
  tool({
    name: 'get_stream',
    title: 'Look at a stream',
    description: 'One stream and its state. When something is wrong with it, diagnose_stream tells more.',
    operations: ['getStream'],
    ...{ own: id, output: Stream },
    say: sayStream,
    run: ({ accountId }, { id }) => streams.get(accountId, id),
  }),
  tool({
    name: 'update_stream',
    title: 'Change a stream',
    description:
      'Sets what is given anew, such as its video, playlists, destination or quality, and leaves the rest; on air too. Its times are changed by schedule_stream.',
    operations: ['updateStream'],
    ...{ own: id, body: StreamUpdate, output: Stream, repeatable: true, takesAway: true },
    say: sayStream,
    run: ({ accountId }, { id }, body) => streams.update(accountId, id, body),
  }),
  tool({
    name: 'delete_stream',
    title: 'Delete a stream',
    description:
      'Takes a stream off air and deletes it; uploads, playlists and destinations stay. `done` is false while it is still going off air: nothing more is to be done then.',
    operations: ['deleteStream'],
    ...{ own: id, output: Deleted },
    say: sayDeleted,
    run: async ({ accountId }, { id }) => ({ id, done: await streams.delete(accountId, id) }),
  }),
];

function actionTools(streams: StreamService): Tool[] {
  const start = (call: Call, id: string, seconds = 0, whenReady = false) =>
    waiting(call, seconds, sayStream, (watch) => streams.start(call.accountId, id, seconds, { ...watch, whenReady }));
  const stop = (call: Call, id: string, seconds = 0) =>
    waiting(call, seconds, sayStream, (watch) => streams.stop(call.accountId, id, seconds, watch));
  return [
    tool({
      name: 'start_stream',
      title: 'Put a stream on air',
      description:
        'Safe to repeat. Refused while it is not ready, with what is in the way, unless `whenReady` is given. With `wait` it answers when a destination takes the stream; to stop waiting does not stop the stream.',
      operations: ['startStream'],
      ...{ own: { ...id, ...waitFor('it is live'), ...WhenReady }, output: Progress },
      ...{ repeatable: true, reachesOut: true, keyed: true },
      say: sayProgress,
      run: (call, { id, wait, whenReady }) => start(call, id, wait, whenReady),
    }),
    tool({
      name: 'stop_stream',
      title: 'Take a stream off air',
      description: 'Safe to repeat. With `wait` it answers when nothing of it is on air any more.',
      operations: ['stopStream'],
      ...{ own: { ...id, ...waitFor('it is off air') }, output: Progress },
      ...{ repeatable: true, takesAway: true, keyed: true },
      say: sayProgress,
      run: (call, { id, wait }) => stop(call, id, wait),
    }),
    tool({
      name: 'skip_stream_item',
      title: 'Go on to the next item',
      description:
        'Ends the item that a live stream plays and goes on to the next, without a reconnect. Refused while the stream is not live.',
      operations: ['skipStreamItem'],
      ...{ own: id, body: StreamSkip, output: Progress, keyed: true },
      say: sayProgress,
      run: ({ accountId }, { id }, body) => streams.skip(accountId, id, body),
    }),
  ];
}

const scheduleTools = (streams: StreamService): Tool[] => [
  tool({
    name: 'schedule_stream',
    title: 'Schedule a stream',
    description:
      'When the stream goes on air and off by itself: once, by scheduleStartAt and scheduleEndAt, or again and again, by recurrence. The whole schedule is set anew: what is left out is taken away. get_stream_schedule tells the next times.',
    operations: ['scheduleStream'],
    ...{ own: id, body: StreamSchedule, output: Stream, repeatable: true, takesAway: true, keyed: true },
    say: sayStream,
    run: ({ accountId }, { id }, body) => streams.schedule(accountId, id, body),
  }),
  tool({
    name: 'unschedule_stream',
    title: 'Take a stream’s schedule away',
    description: 'A stream on air stays there; one that waited for its time does not start.',
    operations: ['unscheduleStream'],
    ...{ own: id, output: Stream, repeatable: true, takesAway: true },
    say: sayStream,
    run: ({ accountId }, { id }) => streams.unschedule(accountId, id),
  }),
  tool({
    name: 'get_stream_schedule',
    title: 'Look at a stream’s schedule',
    description: 'The schedule of a stream and the next times that it puts the stream on air.',
    operations: ['getStreamSchedule'],
    ...{ own: id, output: StreamWindows },
    say: ({ windows: [next] }) => (next ? `It goes on air at ${next.startAt}.` : 'It does not go on air by itself.'),
    run: ({ accountId }, { id }) => streams.windows(accountId, id),
  }),
];

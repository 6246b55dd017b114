/** GraphQL: what can be done to streams. */
import { GraphQLBoolean, GraphQLObjectType } from 'graphql';
import { Type } from 'typebox';
import {
  PUBLIC_FRAMERATES,
  PUBLIC_QUALITIES,
  StreamCreate,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
} from '../../domain/streams/record.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import { ITEM_FAILURES } from '../../resources/stream/spec.ts';
import { DeletePayload, inputType, mutationField, payloadOf } from './input.ts';
import type { Fields } from './relay.ts';
import { enumOf, required } from './scalars.ts';

export const Quality = enumOf('StreamQuality', PUBLIC_QUALITIES, 'Height of the picture.');
export const Framerate = enumOf('StreamFramerate', PUBLIC_FRAMERATES, 'Frames per second.');
export const ItemFailure = enumOf(
  'ItemFailurePolicy',
  ITEM_FAILURES,
  'Skip: items that cannot be played are left out until they can. Block: all items must play first.',
);
const Track = enumOf('StreamTrack', ['video', 'audio']);

const named = {
  quality: Quality,
  framerate: Framerate,
  onItemFailure: ItemFailure,
  recurrence: inputType('RecurrenceInput', StreamSchedule.properties.recurrence),
};
const CreateInput = inputType('StreamCreateInput', StreamCreate, named);
const UpdateInput = inputType('StreamUpdateInput', StreamUpdate, named);
const ScheduleInput = inputType('StreamScheduleInput', StreamSchedule, named);

const Wait = Type.Object({
  wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for it to happen.' })),
});

const Start = Type.Object({
  ...Wait.properties,
  whenReady: Type.Optional(
    Type.Boolean({ description: 'One that is not ready waits until it is, and goes on air by itself then.' }),
  ),
});

const progressType = (type: GraphQLObjectType) =>
  new GraphQLObjectType({
    name: 'StreamProgress',
    fields: {
      stream: { type: required(type) },
      done: { type: required(GraphQLBoolean), description: 'False while what was asked for is still on its way.' },
    },
  });

export function streamMutations(type: GraphQLObjectType, streams: StreamService): Fields {
  const Payload = payloadOf('StreamPayload', 'stream', type);
  const Progress = progressType(type);
  return {
    createStream: mutationField({
      operation: 'createStream',
      description: 'Creates a stream. It is off air until it is started, or until scheduleStartAt.',
      type: Payload,
      input: { type: CreateInput, schema: StreamCreate },
      run: async ({ principal }, { input }) => ({ stream: await streams.create(principal.accountId, input) }),
    }),
    updateStream: mutationField({
      operation: 'updateStream',
      description: 'Changes a stream.',
      type: Payload,
      withId: true,
      input: { type: UpdateInput, schema: StreamUpdate },
      run: async ({ principal }, { id, input }) => ({ stream: await streams.update(principal.accountId, id, input) }),
    }),
    deleteStream: mutationField({
      operation: 'deleteStream',
      description: 'Deletes a stream; takes it off air first.',
      type: DeletePayload,
      withId: true,
      run: async ({ principal }, { id }) => ({ id, done: await streams.delete(principal.accountId, id) }),
    }),
    startStream: mutationField({
      operation: 'startStream',
      description: 'Puts a stream on air. Safe to repeat. `stream_not_ready` tells the `issues` in its extensions.',
      type: Progress,
      withId: true,
      args: { schema: Start },
      run: async ({ principal }, { id, args: { wait, whenReady } }) => ({
        ...(await streams.start(principal.accountId, id, wait, { whenReady })),
      }),
    }),
    stopStream: mutationField({
      operation: 'stopStream',
      description: 'Takes a stream off air. Safe to repeat.',
      type: Progress,
      withId: true,
      args: { schema: Wait },
      run: async ({ principal }, { id, args }) => ({ ...(await streams.stop(principal.accountId, id, args.wait)) }),
    }),
    skipStreamItem: mutationField({
      operation: 'skipStreamItem',
      description: 'Goes on to the next item, at once and without a reconnect.',
      type: Progress,
      withId: true,
      args: { schema: StreamSkip, named: { track: Track } },
      run: async ({ principal }, { id, args }) => ({ ...(await streams.skip(principal.accountId, id, args)) }),
    }),
    scheduleStream: mutationField({
      operation: 'scheduleStream',
      description: 'Sets the schedule of a stream anew: what is left out is taken away.',
      type: Payload,
      withId: true,
      input: { type: ScheduleInput, schema: StreamSchedule },
      run: async ({ principal }, { id, input }) => ({ stream: await streams.schedule(principal.accountId, id, input) }),
    }),
    unscheduleStream: mutationField({
      operation: 'unscheduleStream',
      description: 'Takes the schedule of a stream away.',
      type: Payload,
      withId: true,
      run: async ({ principal }, { id }) => ({ stream: await streams.unschedule(principal.accountId, id) }),
    }),
  };
}

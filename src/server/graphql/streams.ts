/** Defines the GraphQL fields of streams. */

import { streamOperations } from '../../domain/streams/operations.ts';
import {
  ReadinessIssue,
  Readiness as ReadinessSchema,
  ReadinessWarning,
  type StreamEvent as StreamEventRecord,
  StreamEvent as StreamEventSchema,
  type Stream as StreamRecord,
  Stream as StreamSchema,
  StreamWindows,
  UnplayableItem as UnplayableItemSchema,
} from '../../domain/streams/record.ts';
import type { EventOrder, StreamService } from '../../domain/streams/service.ts';
import { PHASES, Recurrence as RecurrenceSchema } from '../../resources/stream/spec.ts';
import type { Services } from '../services.ts';
import { operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import type { OrderFields } from './relay.ts';
import { Node, type NounFields } from './relay.ts';
import { enumType, listType, required } from './scalars.ts';
import { LiveStats } from './stats.ts';
import { Framerate, ItemFailure, Quality, STREAM_INPUTS, StartPolicy } from './stream-inputs.ts';
import {
  enumFilter,
  FlagFilter,
  IDFilter,
  IDListFilter,
  NumberFilter,
  TextFilter,
  TimeFilter,
  whereInput,
} from './where.ts';

const State = enumType('StreamState', PHASES, 'live means that a destination accepts media.');

const Recurrence = outputType('Recurrence', RecurrenceSchema, {
  description: 'Recurring windows on air, whose start times a cron expression gives.',
});

const Window = outputType('StreamWindow', innerSchema(StreamWindows, 'windows'), {
  description: 'A window in which the schedule keeps the stream on air.',
  describe: { endAt: true },
});

const Degraded = outputType('Degraded', innerSchema(StreamSchema, 'degraded'), {
  description: 'Problem of a stream on air.',
});

const describeIssue = {
  code: 'Stable code.',
  message: true,
  fix: true,
  field: 'Field that causes the problem. Empty if no field does.',
} as const;

const UnplayableItem = outputType('UnplayableItem', UnplayableItemSchema, {
  description: 'An item that cannot be played, and its position.',
  describe: { playlistID: true, index: 'Position of the item in the playlist, from 0.', objectID: true },
});

const Readiness = outputType('Readiness', ReadinessSchema, {
  description: 'Issues that prevent the stream from starting, and warnings about items it would leave out.',
  types: {
    issues: outputType('ReadinessIssue', ReadinessIssue, { describe: describeIssue }),
    warnings: outputType('ReadinessWarning', ReadinessWarning, {
      description: 'An item that the stream leaves out.',
      types: { item: UnplayableItem },
      describe: { ...describeIssue, item: true },
    }),
  },
  describe: { prepared: true, estimatedReadyAt: true },
});

const StreamEvent = outputType<StreamEventRecord>('StreamEvent', StreamEventSchema, {
  describe: { type: true, reason: true, message: true, count: true },
});

const streamType = (streams: StreamService) =>
  outputType<StreamRecord>('Stream', StreamSchema, {
    interfaces: [Node],
    types: {
      quality: Quality,
      framerate: Framerate,
      recurrence: Recurrence,
      degraded: Degraded,
      onItemFailure: ItemFailure,
      start: StartPolicy,
    },
    describe: {
      ready: true,
      onItemFailure: 'Handling of items that cannot be played.',
      start: 'Handling of media that is still being prepared.',
      scheduleOnAirUntil: true,
      nextStartAt: true,
    },
    omit: ['status'],
    fields: {
      state: { type: required(State), resolve: ({ status }) => status },
      readiness: {
        type: required(Readiness),
        resolve: ({ id }, _args, context) => {
          context.allow('getStreamReadiness');
          return streams.readiness(context.principal.accountId, id);
        },
      },
      upcoming: {
        type: listType(Window),
        description: 'The next five windows of the schedule.',
        // As much work as 50 plain fields where the schedule has not been computed yet.
        extensions: { cost: 50 },
        resolve: ({ id }, _args, context) => {
          context.allow('getStreamSchedule');
          return streams.windows(context.principal.accountId, id).windows;
        },
      },
    },
  });

const where = whereInput<StreamRecord>('StreamWhereInput', {
  id: { type: IDFilter },
  name: { type: TextFilter },
  state: { type: enumFilter(State), value: ({ status }) => status },
  ready: { type: FlagFilter },
  quality: { type: enumFilter(Quality) },
  framerate: { type: enumFilter(Framerate) },
  destinationIDs: { type: IDListFilter },
  videoUploadObjectID: { type: IDFilter },
  playlistIDs: { type: IDListFilter },
  audioPlaylistIDs: { type: IDListFilter },
  onItemFailure: { type: enumFilter(ItemFailure) },
  start: { type: enumFilter(StartPolicy) },
  scheduleStartAt: { type: TimeFilter },
  scheduleEndAt: { type: TimeFilter },
  scheduleOnAirUntil: { type: TimeFilter },
  nextStartAt: { type: TimeFilter },
  liveSince: { type: TimeFilter },
  createdAt: { type: TimeFilter },
});

const EVENT_ORDER: OrderFields<EventOrder> = {
  TIME: { value: 'time', description: 'Time of the last occurrence.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of the first occurrence.' },
  COUNT: { value: 'count' },
};

const eventWhere = whereInput<StreamEventRecord>('StreamEventWhereInput', {
  id: { type: IDFilter },
  time: { type: TimeFilter },
  createdAt: { type: TimeFilter },
  type: { type: TextFilter },
  reason: { type: TextFilter },
  message: { type: TextFilter },
  count: { type: NumberFilter },
});

export function streamFields(services: Pick<Services, 'streams' | 'stats'>): NounFields {
  const Stream = streamType(services.streams);
  return {
    ...operationFields(streamOperations, services, {
      outputs: { Stream, LiveStats, StreamEvent },
      inputs: STREAM_INPUTS,
      lists: { Stream: { where }, StreamEvent: { where: eventWhere, order: EVENT_ORDER } },
    }),
    node: (context, id) => {
      context.allow('getStream');
      return { __typename: Stream.name, ...services.streams.get(context.principal.accountId, id) };
    },
  };
}

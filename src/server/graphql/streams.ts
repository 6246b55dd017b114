/** GraphQL: streams. */

import { GraphQLBoolean, GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { streamOperations } from '../../domain/streams/operations.ts';
import type { StreamEvent as StreamEventRecord, Stream as StreamRecord } from '../../domain/streams/record.ts';
import type { EventOrder, StreamService } from '../../domain/streams/service.ts';
import { PHASES } from '../../resources/stream/spec.ts';
import type { Services } from '../services.ts';
import { operationFields } from './adapter.ts';
import type { OrderFields } from './relay.ts';
import { type GraphContext, Node, type NounFields } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { LiveStats } from './stats.ts';
import { Framerate, ItemFailure, Quality, STREAM_INPUTS } from './stream-inputs.ts';
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

const State = enumOf('StreamState', PHASES, 'live means that a destination accepts media.');

const ids = { type: listOf(GraphQLID) };

const Recurrence = new GraphQLObjectType({
  name: 'Recurrence',
  description: 'Windows in which a stream is on air: they begin at the times of a cron expression.',
  fields: {
    cron: { type: required(GraphQLString) },
    timeZone: { type: required(GraphQLString) },
    durationSeconds: { type: required(GraphQLInt) },
  },
});

const Window = new GraphQLObjectType({
  name: 'StreamWindow',
  description: 'A time in which a stream is on air by its schedule.',
  fields: { startAt: { type: required(DateTime) }, endAt: { type: DateTime, description: 'Null: it has no end.' } },
});

const Degraded = new GraphQLObjectType({
  name: 'Degraded',
  description: 'What is wrong with a stream while it is on air.',
  fields: {
    code: { type: required(GraphQLString) },
    message: { type: required(GraphQLString) },
    since: { type: required(DateTime) },
  },
});

const issueFields = {
  code: { type: required(GraphQLString), description: 'Stable code.' },
  message: { type: required(GraphQLString), description: 'What is wrong.' },
  fix: { type: required(GraphQLString), description: 'What to do about it.' },
  field: { type: required(GraphQLString), description: 'The field that it is about; empty when it is about none.' },
  since: { type: required(DateTime) },
};
const Issue = new GraphQLObjectType({ name: 'ReadinessIssue', fields: issueFields });

const UnplayableItem = new GraphQLObjectType({
  name: 'UnplayableItem',
  description: 'An item that cannot be played, and where it is.',
  fields: {
    playlistID: { type: GraphQLID, description: 'Null for a single upload.' },
    index: { type: GraphQLInt, description: 'Its place in the playlist, from 0.' },
    objectID: { type: GraphQLID, description: 'objectID of its upload.' },
    name: { type: GraphQLString },
  },
});

const Warning = new GraphQLObjectType({
  name: 'ReadinessWarning',
  description: 'An item that the stream goes on air without.',
  fields: {
    ...issueFields,
    item: { type: UnplayableItem, description: 'The item that is left out; null where several are counted.' },
  },
});

const Readiness = new GraphQLObjectType({
  name: 'Readiness',
  description: 'What would stop the stream from starting, and what it would go without.',
  fields: {
    ready: { type: required(GraphQLBoolean) },
    issues: { type: listOf(Issue) },
    warnings: { type: listOf(Warning) },
  },
});

const StreamEvent = new GraphQLObjectType<StreamEventRecord>({
  name: 'StreamEvent',
  fields: {
    id: { type: required(GraphQLID) },
    time: { type: required(DateTime) },
    createdAt: { type: required(DateTime) },
    type: { type: required(GraphQLString), description: 'Normal or Warning.' },
    reason: { type: required(GraphQLString), description: 'CamelCase, for machines.' },
    message: { type: required(GraphQLString), description: 'For people.' },
    count: { type: required(GraphQLInt), description: 'How often it happened; time is the last one.' },
  },
});

const streamType = (streams: StreamService) =>
  new GraphQLObjectType<StreamRecord, GraphContext>({
    name: 'Stream',
    interfaces: [Node],
    fields: {
      id: { type: required(GraphQLID) },
      name: { type: required(GraphQLString) },
      state: { type: required(State), resolve: ({ status }) => status },
      ready: { type: required(GraphQLBoolean), description: 'False when something would stop it from starting.' },
      readiness: {
        type: required(Readiness),
        resolve: ({ id }, _args, context) => {
          context.allow('getStreamReadiness');
          return streams.readiness(context.principal.accountId, id);
        },
      },
      degraded: { type: Degraded },
      quality: { type: required(Quality) },
      framerate: { type: required(Framerate) },
      destinationID: { type: required(GraphQLID) },
      destinationIDs: ids,
      videoUploadObjectID: { type: GraphQLID },
      playlistIDs: ids,
      audioPlaylistIDs: ids,
      onItemFailure: { type: required(ItemFailure), description: 'What becomes of items that cannot be played.' },
      scheduleStartAt: { type: DateTime },
      scheduleEndAt: { type: DateTime },
      recurrence: { type: Recurrence },
      nextStartAt: { type: DateTime, description: 'When its schedule puts it on air next.' },
      upcoming: {
        type: listOf(Window),
        description: 'The next five times that its schedule puts it on air.',
        resolve: ({ id }, _args, context) => {
          context.allow('getStreamSchedule');
          return streams.windows(context.principal.accountId, id).windows;
        },
      },
      liveSince: { type: DateTime },
      createdAt: { type: required(DateTime) },
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
  scheduleStartAt: { type: TimeFilter },
  scheduleEndAt: { type: TimeFilter },
  nextStartAt: { type: TimeFilter },
  liveSince: { type: TimeFilter },
  createdAt: { type: TimeFilter },
});

const EVENT_ORDER: OrderFields<EventOrder> = {
  TIME: { value: 'time', description: 'When it happened last.' },
  CREATED_AT: { value: 'createdAt', description: 'When it first happened.' },
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

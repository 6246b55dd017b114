/** GraphQL: streams. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { byIdField, connectionField, DateTime, type Field, type GraphContext, required } from '../graphql/relay.ts';
import { LiveStats } from '../stats/graphql.ts';
import type { StatsService } from '../stats/service.ts';
import type { Stream as StreamRecord } from './record.ts';
import type { StreamService } from './service.ts';
import { PHASES, type Phase } from './spec.ts';

const State = new GraphQLEnumType({
  name: 'StreamState',
  values: Object.fromEntries(PHASES.map((phase) => [phase, { value: phase }])),
});

const ids = required(new GraphQLList(required(GraphQLString)));

const Recurrence = new GraphQLObjectType({
  name: 'Recurrence',
  description: 'Windows in which a stream is on air: they begin at the times of a cron expression.',
  fields: {
    cron: { type: required(GraphQLString) },
    timeZone: { type: required(GraphQLString) },
    durationSeconds: { type: required(GraphQLInt) },
  },
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

const Issue = new GraphQLObjectType({
  name: 'ReadinessIssue',
  fields: {
    code: { type: required(GraphQLString), description: 'Stable code.' },
    message: { type: required(GraphQLString), description: 'What is wrong.' },
    fix: { type: required(GraphQLString), description: 'What to do about it.' },
    field: { type: required(GraphQLString), description: 'The field that it is about; empty when it is about none.' },
    since: { type: required(DateTime) },
  },
});

const Readiness = new GraphQLObjectType({
  name: 'Readiness',
  description: 'What would stop the stream from starting.',
  fields: { ready: { type: required(GraphQLBoolean) }, issues: { type: required(new GraphQLList(required(Issue))) } },
});

const streamType = (streams: StreamService) =>
  new GraphQLObjectType<StreamRecord, GraphContext>({
    name: 'Stream',
    fields: {
      id: { type: required(GraphQLString) },
      name: { type: required(GraphQLString) },
      state: { type: required(State), resolve: ({ status }) => status },
      ready: { type: required(GraphQLBoolean) },
      readiness: {
        type: required(Readiness),
        resolve: ({ id }, _args, context) => {
          context.allow('getStreamReadiness');
          return streams.readiness(context.principal.accountId, id);
        },
      },
      degraded: { type: Degraded },
      quality: { type: required(GraphQLString) },
      framerate: { type: required(GraphQLString) },
      destinationID: { type: required(GraphQLString) },
      destinationIDs: { type: ids },
      videoUploadObjectID: { type: GraphQLString },
      playlistIDs: { type: ids },
      audioPlaylistIDs: { type: ids },
      scheduleStartAt: { type: DateTime },
      scheduleEndAt: { type: DateTime },
      recurrence: { type: Recurrence },
      nextStartAt: { type: DateTime },
      liveSince: { type: DateTime },
      createdAt: { type: required(DateTime) },
    },
  });

interface Where {
  state?: { eq?: Phase | null; in?: Phase[] | null } | null;
  name?: { contains?: string | null } | null;
}

const StreamWhereInput = new GraphQLInputObjectType({
  name: 'StreamWhereInput',
  fields: {
    state: {
      type: new GraphQLInputObjectType({
        name: 'StreamStateFilter',
        fields: { eq: { type: State }, in: { type: new GraphQLList(required(State)) } },
      }),
    },
    name: {
      type: new GraphQLInputObjectType({
        name: 'NameFilter',
        description: 'Upper and lower case are the same.',
        fields: { contains: { type: GraphQLString } },
      }),
    },
  },
});

export function streamFields(streams: StreamService, stats: Pick<StatsService, 'live'>): Record<string, Field> {
  const type = streamType(streams);
  return {
    stream: byIdField({
      type,
      operation: 'getStream',
      get: ({ principal }, id) => streams.get(principal.accountId, id),
    }),
    liveStats: byIdField({
      type: LiveStats,
      operation: 'getStreamLiveStats',
      get: ({ principal }, id) => stats.live(principal.accountId, id),
    }),
    streams: connectionField<StreamRecord, Where>({
      type,
      operation: 'listStreams',
      description: 'Streams, newest first.',
      where: StreamWhereInput,
      list: ({ principal }, args, where) =>
        streams.list(principal.accountId, args, {
          status: where?.state?.eq ?? undefined,
          statuses: where?.state?.in ?? undefined,
          q: where?.name?.contains ?? undefined,
        }),
    }),
  };
}

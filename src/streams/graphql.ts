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
import { byIdField, connectionField, DateTime, type Field, required } from '../graphql/relay.ts';
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

const Stream = new GraphQLObjectType<StreamRecord>({
  name: 'Stream',
  fields: {
    id: { type: required(GraphQLString) },
    name: { type: required(GraphQLString) },
    state: { type: required(State), resolve: ({ status }) => status },
    ready: { type: required(GraphQLBoolean) },
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

export const streamFields = (streams: StreamService): Record<string, Field> => ({
  stream: byIdField({
    type: Stream,
    operation: 'getStream',
    get: ({ principal }, id) => streams.get(principal.accountId, id),
  }),
  streams: connectionField<StreamRecord, Where>({
    type: Stream,
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
});

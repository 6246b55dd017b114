/** GraphQL: live numbers of a stream, the same as in REST. */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { DateTime, required } from './scalars.ts';

const text = { type: required(GraphQLString) };
const number = { type: GraphQLFloat };
const list = (of: GraphQLObjectType) => ({ type: required(new GraphQLList(required(of))) });

const place = {
  playlistID: { type: GraphQLID, description: 'The playlist that it is of; null where none is.' },
  index: { type: GraphQLInt, description: 'Its place in that playlist, from 0.' },
};
const Item = new GraphQLObjectType({ name: 'LiveItem', fields: { id: text, name: text, ...place } });
const LastError = new GraphQLObjectType({ name: 'LiveError', fields: { code: text, message: text } });
const Seam = new GraphQLObjectType({ name: 'LiveSeam', fields: { count: { type: GraphQLInt }, maxStepMs: number } });
const BrokenItem = new GraphQLObjectType({
  name: 'BrokenItem',
  description: 'An item that is left out: broken, missing, or not ready yet.',
  fields: { id: text, name: text, ...place, track: text, code: text, message: text },
});
const LiveDestination = new GraphQLObjectType({
  name: 'LiveDestination',
  fields: {
    id: text,
    name: text,
    connected: { type: required(GraphQLBoolean) },
    /** More than GraphQL's Int can say. */
    bytesSent: number,
    reconnects: { type: GraphQLInt },
    lastError: { type: LastError },
  },
});

export const LiveStats = new GraphQLObjectType({
  name: 'LiveStats',
  description: 'Live numbers of a stream; nulls when it is not live.',
  fields: {
    live: { type: required(GraphQLBoolean) },
    startedAt: { type: DateTime },
    uptimeSeconds: number,
    bitrateKbps: number,
    fps: number,
    framesSent: number,
    loopCount: { type: GraphQLInt },
    seam: { type: Seam },
    avSkewMs: number,
    reconnects: { type: GraphQLInt },
    current: { type: Item },
    next: { type: Item },
    playable: { type: GraphQLBoolean, description: 'False while no item can be played.' },
    brokenItems: list(BrokenItem),
    destinations: list(LiveDestination),
  },
});

/** Defines the GraphQL fields of live statistics. */
import { type GraphQLEnumType, GraphQLFloat, GraphQLString } from 'graphql';
import type { TSchema } from 'typebox';
import { LiveStats as LiveStatsSchema } from '../../domain/stats/record.ts';
import { innerSchema, outputType } from './output.ts';
import { STREAM_ENUMS } from './stream-enums.ts';

/** Ids of live statistics are strings. */
const ids = { id: GraphQLString };

const inStats = (property: string): TSchema => innerSchema(LiveStatsSchema, property);

const Item = outputType('LiveItem', inStats('current'), {
  types: ids,
});
const LiveDestination = outputType('LiveDestination', inStats('destinations'), {
  // These numbers exceed GraphQL's Int.
  types: {
    ...ids,
    bytesSent: GraphQLFloat,
    lastError: outputType('LiveError', innerSchema(inStats('destinations'), 'lastError')),
  },
});
const BrokenItem = outputType('BrokenItem', inStats('brokenItems'), {
  description: 'An item that is left out because it is broken, missing or not ready yet.',
  types: { ...ids, track: GraphQLString },
});

export const LiveStats = outputType('LiveStats', LiveStatsSchema, {
  description: 'Live statistics of a stream. Values are null while it is not live.',
  types: {
    quality: STREAM_ENUMS.quality as GraphQLEnumType,
    framerate: STREAM_ENUMS.framerate as GraphQLEnumType,
    framesSent: GraphQLFloat,
    seam: outputType('LiveSeam', inStats('seam')),
    current: Item,
    next: Item,
    currentAudio: Item,
    nextAudio: Item,
    brokenItems: BrokenItem,
    destinations: LiveDestination,
  },
});

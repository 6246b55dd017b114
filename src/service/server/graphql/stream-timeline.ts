/** Defines the GraphQL fields of what a stream plays when. */

import { timelineOperations } from '../../domain/timeline/operations.ts';
import {
  StreamTimelineItem as ItemSchema,
  StreamNow as NowSchema,
  StreamTimeline as TimelineSchema,
} from '../../domain/timeline/record.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { outputType } from './output.ts';
import type { GraphqlFields } from './relay.ts';
import { StreamTrack } from './scalars.ts';

const StreamTimelineItem = outputType('StreamTimelineItem', ItemSchema, {
  description: 'An item of a stream, with its time on air.',
});

const StreamTimeline = outputType('StreamTimeline', TimelineSchema, {
  description: 'What a stream plays in a span of time.',
  types: { track: StreamTrack, items: StreamTimelineItem },
});

const StreamNow = outputType('StreamNow', NowSchema, {
  description: 'What a stream plays now, next and before.',
  types: { track: StreamTrack, current: StreamTimelineItem, next: StreamTimelineItem, last: StreamTimelineItem },
});

export const timelineFields = (services: Pick<Services, 'timeline'>): GraphqlFields =>
  operationFields(timelineOperations, services, {
    inputs: { track: StreamTrack },
    outputs: { StreamTimeline, StreamNow },
  }).queries;

/** Defines the GraphQL fields of what a stream plays when. */

import { timelineOperations } from '../../domain/timeline/operations.ts';
import { publicNowOperations } from '../../domain/timeline/public-operations.ts';
import {
  StreamExplanation as ExplanationSchema,
  StreamTimelineItem as ItemSchema,
  StreamNow as NowSchema,
  StreamPublicNow as PublicSchema,
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

const StreamExplanation = outputType('StreamExplanation', ExplanationSchema, {
  description: 'Why a rule or an upload of a stream plays at a time, or does not.',
  types: { track: StreamTrack, turn: StreamTimelineItem, by: StreamTimelineItem },
});

const StreamPublicNow = outputType('StreamPublicNow', PublicSchema, {
  description: 'Whether anyone may read what a stream plays now, and the address.',
});

export const timelineFields = (services: Pick<Services, 'timeline'>): GraphqlFields =>
  operationFields(timelineOperations, services, {
    inputs: { track: StreamTrack },
    outputs: { StreamTimeline, StreamNow, StreamExplanation },
  }).queries;

export const publicNowFields = (services: Pick<Services, 'publicNow'>) =>
  operationFields(publicNowOperations, services, { inputs: {}, outputs: { StreamPublicNow } });

/** Defines the GraphQL fields of streams. */
import type { TSchema } from 'typebox';
import { PHASES, Recurrence as RecurrenceSchema } from '../../../core/resources/stream/spec.ts';
import { ANCHORS, FONTS } from '../../../core/resources/upload/overlays.ts';
import { STREAM_FIELDS } from '../../domain/streams/fields.ts';
import { STREAM_LIST } from '../../domain/streams/list.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import {
  ReadinessIssue,
  Readiness as ReadinessSchema,
  ReadinessWarning,
  type StreamEvent as StreamEventRecord,
  StreamEvent as StreamEventSchema,
  type Stream as StreamRecord,
  StreamSchedule,
  Stream as StreamSchema,
  StreamUpdate,
  StreamWindows,
  UnplayableItem as UnplayableItemSchema,
} from '../../domain/streams/record.ts';
import type { EventOrder, StreamService } from '../../domain/streams/service.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { filterNames } from './fields.ts';
import { inputType } from './input.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields, nounOrder, type OrderFields } from './relay.ts';
import { enumType, listType, required, StreamTrack } from './scalars.ts';
import { LiveStats } from './stats.ts';
import { STREAM_ENUMS } from './stream-enums.ts';
import { enumFilter, filtersOf, whereInput } from './where.ts';

const State = enumType('StreamState', PHASES, 'live means that a destination accepts media.');

const Recurrence = outputType('Recurrence', RecurrenceSchema, {
  description: 'Recurring windows on air, whose start times a cron expression gives.',
});

const Window = outputType('StreamWindow', innerSchema(StreamWindows, 'windows'), {
  description: 'A window in which the schedule keeps the stream on air.',
});

const Loudness = outputType('StreamLoudness', innerSchema(StreamSchema, 'loudness'), {
  description: 'Loudness that the items of a stream are brought to.',
});

const OVERLAY_ENUMS = {
  anchor: enumType('OverlayAnchor', ANCHORS, 'Place of a layer in the picture.'),
  font: enumType('OverlayFont', FONTS),
};
const overlaysOf = (schema: TSchema) => {
  const overlays = innerSchema(schema, 'overlays');
  const layer = innerSchema(overlays, 'layers');
  return { overlays, layer, show: innerSchema(layer, 'show') };
};
const shownOverlays = overlaysOf(StreamSchema);
export const OverlayLayer = outputType('OverlayLayer', shownOverlays.layer, {
  types: { ...OVERLAY_ENUMS, show: outputType('OverlayShow', shownOverlays.show) },
});
const StreamOverlays = outputType('StreamOverlays', shownOverlays.overlays, {
  description: 'Texts and pictures over the items of a stream.',
  types: { layers: OverlayLayer },
});
const givenOverlays = overlaysOf(StreamUpdate);
export const OverlayLayerInput = inputType('OverlayLayerInput', givenOverlays.layer, {
  ...OVERLAY_ENUMS,
  show: inputType('OverlayShowInput', givenOverlays.show),
});
const StreamOverlaysInput = inputType('StreamOverlaysInput', givenOverlays.overlays, { layers: OverlayLayerInput });

const StreamCards = outputType('StreamCards', innerSchema(StreamSchema, 'cards'), {
  description: 'A picture for each song of a stream.',
});

const StreamDestination = outputType('StreamDestination', innerSchema(StreamSchema, 'destinations'), {
  description: 'A destination of a stream, which may be switched off.',
});

const Degraded = outputType('Degraded', innerSchema(StreamSchema, 'degraded'), {
  description: 'Problem of a stream on air.',
});

const UnplayableItem = outputType('UnplayableItem', UnplayableItemSchema, {
  description: 'An item that cannot be played, and its position.',
});

const Readiness = outputType('Readiness', ReadinessSchema, {
  description: 'Issues that prevent the stream from starting, and warnings about items it would leave out.',
  types: {
    issues: outputType('ReadinessIssue', ReadinessIssue),
    warnings: outputType('ReadinessWarning', ReadinessWarning, {
      description: 'An item that the stream leaves out.',
      types: { item: UnplayableItem },
    }),
  },
});

const StreamEvent = outputType<StreamEventRecord>('StreamEvent', StreamEventSchema);

const streamType = (streams: StreamService) =>
  outputType<StreamRecord>('Stream', StreamSchema, {
    interfaces: [Node],
    types: {
      ...STREAM_ENUMS,
      recurrence: Recurrence,
      loudness: Loudness,
      overlays: StreamOverlays,
      cards: StreamCards,
      destinations: StreamDestination,
      degraded: Degraded,
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

const EVENT_ORDER: OrderFields<EventOrder> = {
  TIME: { value: 'time', description: 'Time of the last occurrence.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of the first occurrence.' },
  COUNT: { value: 'count' },
};

const EVENT_FILTERS = ['id', 'time', 'createdAt', 'type', 'reason', 'message', 'count'];

export function streamFields(services: Pick<Services, 'streams' | 'stats'>): NounFields {
  const Stream = streamType(services.streams);
  const where = whereInput<StreamRecord>('StreamWhereInput', {
    ...filtersOf(Stream, filterNames(STREAM_FIELDS)),
    state: { type: enumFilter(State), value: ({ status }) => status },
  });
  return {
    ...operationFields(streamOperations, services, {
      outputs: { Stream, LiveStats, StreamEvent },
      inputs: {
        ...STREAM_ENUMS,
        state: State,
        track: StreamTrack,
        recurrence: inputType('RecurrenceInput', StreamSchedule.properties.recurrence),
        loudness: inputType('StreamLoudnessInput', innerSchema(StreamUpdate, 'loudness')),
        overlays: StreamOverlaysInput,
        cards: inputType('StreamCardsInput', innerSchema(StreamUpdate, 'cards')),
        destinations: inputType('StreamDestinationInput', innerSchema(StreamUpdate, 'destinations')),
      },
      lists: {
        Stream: { where, order: nounOrder(STREAM_LIST) },
        StreamEvent: {
          where: whereInput('StreamEventWhereInput', filtersOf(StreamEvent, EVENT_FILTERS)),
          order: EVENT_ORDER,
        },
      },
    }),
    node: (context, id) => {
      context.allow('getStream');
      return { __typename: Stream.name, ...services.streams.get(context.principal.accountId, id) };
    },
  };
}

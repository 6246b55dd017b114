/** Defines the GraphQL fields of what a stream has played. */

import { asRunOperations } from '../../domain/as-run/operations.ts';
import {
  StreamAsRun as AsRunSchema,
  GAP_REASONS,
  StreamAsRunTotals as TotalsSchema,
} from '../../domain/as-run/record.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import type { GraphqlFields } from './relay.ts';
import { enumType, StreamTrack } from './scalars.ts';

const StreamAsRun = outputType('StreamAsRun', AsRunSchema, {
  description: 'What a stream has played in a span of time.',
  types: {
    track: StreamTrack,
    items: outputType('StreamAsRunItem', innerSchema(AsRunSchema, 'items'), {
      description: 'An item that was on air.',
    }),
    gaps: outputType('StreamAsRunGap', innerSchema(AsRunSchema, 'gaps'), {
      description: 'A time without items.',
      types: { reason: enumType('AsRunGapReason', GAP_REASONS) },
    }),
  },
});

const StreamAsRunTotals = outputType('StreamAsRunTotals', TotalsSchema, {
  description: 'How often and how long a stream has played each item.',
  types: {
    track: StreamTrack,
    items: outputType('StreamAsRunTotal', innerSchema(TotalsSchema, 'items'), {
      description: 'The plays of an item.',
    }),
  },
});

export const asRunFields = (services: Pick<Services, 'asRun'>): GraphqlFields =>
  operationFields(asRunOperations, services, {
    inputs: { track: StreamTrack },
    outputs: { StreamAsRun, StreamAsRunTotals },
  }).queries;

/** Defines the GraphQL field of the sessions of a stream. */

import { sessionOperations } from '../../billing/metering/operations.ts';
import { type StreamSession as SessionRecord, StreamSession as SessionSchema } from '../../billing/metering/record.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import type { GraphqlFields } from './relay.ts';
import { filtersOf, whereInput } from './where.ts';

const StreamSession = outputType<SessionRecord>('StreamSession', SessionSchema, {
  description: 'The time from the first media that a destination takes until the process that sends it ends.',
  types: { end: outputType('StreamSessionEnd', innerSchema(SessionSchema, 'end')) },
});

const where = whereInput('StreamSessionWhereInput', filtersOf(StreamSession, ['number', 'startedAt', 'endedAt']));

export const sessionFields = (services: Pick<Services, 'streamSessions'>): GraphqlFields =>
  operationFields(sessionOperations, services, {
    outputs: { StreamSession },
    lists: {
      StreamSession: { where, order: { NUMBER: { value: 'number', description: 'Order of their beginnings.' } } },
    },
  }).queries;

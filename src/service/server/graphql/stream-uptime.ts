/** Defines the GraphQL field of the uptime of a stream. */

import { uptimeOperations } from '../../domain/uptime/operations.ts';
import { UPTIME_SOURCES, StreamUptime as UptimeSchema } from '../../domain/uptime/record.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import type { GraphqlFields } from './relay.ts';
import { enumType } from './scalars.ts';

const Source = enumType('UptimeSource', UPTIME_SOURCES);

const StreamUptime = outputType('StreamUptime', UptimeSchema, {
  description: 'For how long a stream was on air, of the time in which it was meant to be.',
  types: {
    by: Source,
    outages: outputType('StreamOutage', innerSchema(UptimeSchema, 'outages')),
  },
});

export const uptimeFields = (services: Pick<Services, 'uptime'>): GraphqlFields =>
  operationFields(uptimeOperations, services, { inputs: { by: Source }, outputs: { StreamUptime } }).queries;

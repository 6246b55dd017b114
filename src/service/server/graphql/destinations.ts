/** Defines the GraphQL fields of destinations. */

import { TEST_STAGES } from '../../../core/resources/destination/spec.ts';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import {
  type Destination as DestinationRecord,
  Destination as DestinationSchema,
  DestinationTest,
} from '../../domain/destinations/record.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields } from './relay.ts';
import { enumType } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const stages = { stage: enumType('DestinationTestStage', TEST_STAGES) };

const Destination = outputType<DestinationRecord>('Destination', DestinationSchema, {
  interfaces: [Node],
  types: {
    lastTest: outputType('DestinationLastTest', innerSchema(DestinationSchema, 'lastTest'), { types: stages }),
  },
});

const Test = outputType('DestinationTest', DestinationTest, { types: stages });

const where = whereInput('DestinationWhereInput', filtersOf(Destination, ['id', 'name', 'rtmpUrl', 'createdAt']));

const types: NounTypes = {
  outputs: { Destination, DestinationTest: Test },
  lists: { Destination: { where } },
};

export const destinationFields = (services: Pick<Services, 'destinations'>): NounFields => ({
  ...operationFields(destinationOperations, services, types),
  node: (context, id) => {
    context.allow('getDestination');
    return { __typename: 'Destination', ...services.destinations.get(context.principal.accountId, id) };
  },
});

/** Defines the GraphQL fields of destinations. */

import { GraphQLString } from 'graphql';
import { ISSUE_SEVERITIES, PLATFORM_KINDS, PLATFORM_POLICIES } from '../../../core/resources/destination/platform.ts';
import { TEST_STAGES } from '../../../core/resources/destination/spec.ts';
import { DESTINATION_LIST, PROTOCOLS } from '../../domain/destinations/list.ts';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import {
  DestinationCreate,
  type Destination as DestinationRecord,
  Destination as DestinationSchema,
  DestinationTest,
  PLATFORM_CHOICES,
} from '../../domain/destinations/record.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { inputType } from './input.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields, nounOrder } from './relay.ts';
import { enumType } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const stages = { stage: enumType('DestinationTestStage', TEST_STAGES) };

const policy = enumType('PlatformPolicy', PLATFORM_POLICIES);
const Platform = outputType('DestinationPlatform', innerSchema(DestinationSchema, 'platform'), {
  description: 'Where viewers see the stream.',
  types: { kind: enumType('PlatformKind', PLATFORM_KINDS), policy, videoId: GraphQLString },
});
const viewSchema = innerSchema(DestinationSchema, 'platformLive');
const PlatformLive = outputType('DestinationPlatformLive', viewSchema, {
  description: 'What is known of the view of the viewers.',
  types: {
    status: enumType('PlatformLiveStatus', ['true', 'false', 'unknown']),
    issues: outputType('PlatformIssue', innerSchema(viewSchema, 'issues'), {
      description: 'What the platform says of the media that it gets.',
      types: { severity: enumType('PlatformIssueSeverity', ISSUE_SEVERITIES) },
    }),
  },
});
const PlatformInput = inputType('DestinationPlatformInput', innerSchema(DestinationCreate, 'platform'), {
  kind: enumType('PlatformChoice', PLATFORM_CHOICES),
  policy,
});

const Destination = outputType<DestinationRecord>('Destination', DestinationSchema, {
  interfaces: [Node],
  types: {
    platform: Platform,
    platformLive: PlatformLive,
    lastTest: outputType('DestinationLastTest', innerSchema(DestinationSchema, 'lastTest'), { types: stages }),
  },
});

const Test = outputType('DestinationTest', DestinationTest, { types: stages });

const where = whereInput(
  'DestinationWhereInput',
  filtersOf(Destination, ['id', 'name', 'rtmpUrl', 'url', 'createdAt']),
);

const types: NounTypes = {
  outputs: { Destination, DestinationTest: Test },
  inputs: { platform: PlatformInput, type: enumType('DestinationProtocol', PROTOCOLS) },
  lists: { Destination: { where, order: nounOrder(DESTINATION_LIST) } },
};

export const destinationFields = (services: Pick<Services, 'destinations'>): NounFields => ({
  ...operationFields(destinationOperations, services, types),
  node: (context, id) => {
    context.allow('getDestination');
    return { __typename: 'Destination', ...services.destinations.get(context.principal.accountId, id) };
  },
});

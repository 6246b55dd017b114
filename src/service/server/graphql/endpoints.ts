/** Defines the GraphQL fields of endpoints and their deliveries. */
import { ENDPOINT_LIST } from '../../domain/endpoints/list.ts';
import { endpointOperations } from '../../domain/endpoints/operations.ts';
import {
  DELIVERY_STATES,
  type Delivery as DeliveryRecord,
  Delivery as DeliverySchema,
  ENDPOINT_KINDS,
  ENDPOINT_STATES,
  type Endpoint as EndpointRecord,
  Endpoint as EndpointSchema,
  Header as HeaderSchema,
  METHODS,
  EndpointRecovery as RecoverySchema,
  Rule as RuleSchema,
  EndpointSecret as SecretSchema,
  EndpointTemplate as TemplateSchema,
  EndpointTest as TestSchema,
} from '../../domain/endpoints/record.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { EventType } from './events.ts';
import { inputType } from './input.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields, nounOrder } from './relay.ts';
import { enumType } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const kind = enumType('EndpointKind', ENDPOINT_KINDS);
const endpointState = enumType('EndpointState', ENDPOINT_STATES);

const Endpoint = outputType<EndpointRecord>('Endpoint', EndpointSchema, {
  interfaces: [Node],
  types: {
    kind,
    state: endpointState,
    types: EventType,
    rule: outputType('EndpointRuleInForce', innerSchema(EndpointSchema, 'rule')),
  },
});
const DeliveryAnswer = outputType('DeliveryAnswer', innerSchema(DeliverySchema, 'lastAnswer'));
const state = enumType('DeliveryState', DELIVERY_STATES);
const Delivery = outputType<DeliveryRecord>('Delivery', DeliverySchema, {
  types: { state, lastAnswer: DeliveryAnswer },
});

const types: NounTypes = {
  outputs: {
    Endpoint,
    Delivery,
    EndpointSecret: outputType('EndpointSecret', SecretSchema),
    EndpointTest: outputType('EndpointTest', TestSchema, { types: { answer: DeliveryAnswer } }),
    EndpointRecovery: outputType('EndpointRecovery', RecoverySchema),
  },
  inputs: {
    kind,
    type: kind,
    state: endpointState,
    types: EventType,
    rule: inputType('EndpointRuleInput', RuleSchema),
    template: inputType('EndpointTemplateInput', TemplateSchema, {
      method: enumType('EndpointMethod', METHODS),
      headers: inputType('EndpointHeaderInput', HeaderSchema),
    }),
  },
  lists: {
    Endpoint: {
      where: whereInput('EndpointWhereInput', filtersOf(Endpoint, ['id', 'kind', 'name', 'state', 'createdAt'])),
      order: nounOrder(ENDPOINT_LIST),
    },
    Delivery: {
      where: whereInput('DeliveryWhereInput', filtersOf(Delivery, ['type', 'state', 'messageID', 'createdAt'])),
      order: { NUMBER: { value: 'number', description: 'Order in which they were queued.' } },
    },
  },
};

export const endpointFields = (services: Pick<Services, 'endpoints'>): NounFields => ({
  ...operationFields(endpointOperations, services, types),
  node: async (context, id) => {
    context.allow('getEndpoint');
    return { __typename: 'Endpoint', ...(await services.endpoints.get(context.principal.accountId, id)) };
  },
});

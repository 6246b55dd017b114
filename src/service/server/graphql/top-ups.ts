/** Defines the GraphQL fields of top-ups by card. */

import { TOP_UP_LIST } from '../../billing/cards/list.ts';
import { topUpOperations } from '../../billing/cards/operations.ts';
import { type TopUp as TopUpRecord, TopUp as TopUpSchema } from '../../billing/cards/record.ts';
import { STATES } from '../../billing/cards/settle.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { outputType } from './output.ts';
import { createNodeReader, Node, type NounFields, nounOrder } from './relay.ts';
import { enumType } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const State = enumType('TopUpState', STATES);
const TopUp = outputType<TopUpRecord>('TopUp', TopUpSchema, {
  interfaces: [Node],
  types: { state: State },
});

const where = whereInput('TopUpWhereInput', filtersOf(TopUp, ['id', 'state', 'createdAt']));

const types: NounTypes = {
  outputs: { TopUp },
  inputs: { state: State },
  lists: { TopUp: { where, order: nounOrder(TOP_UP_LIST) } },
};

export const topUpFields = (services: Pick<Services, 'topUps'>): NounFields => ({
  ...operationFields(topUpOperations, services, types),
  node: createNodeReader({
    prefix: 'top',
    type: 'TopUp',
    operation: 'getTopUp',
    notFound: 'topup_not_found',
    get: ({ principal }, id) => services.topUps.get(principal, id),
  }),
});

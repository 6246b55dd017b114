/** Defines the GraphQL fields of the caller's account. */

import { GraphQLString } from 'graphql';
import { accountOperations } from '../../domain/accounts/operations.ts';
import {
  AccountLimits as LimitsSchema,
  type User as UserRecord,
  User as UserSchema,
} from '../../domain/accounts/record.ts';
import { ACCOUNT_CLASSES, LIMIT_NAMES } from '../../settings/limits.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { type GraphqlFields, Node } from './relay.ts';
import { enumType } from './scalars.ts';

const User = outputType<UserRecord>('User', UserSchema, { interfaces: [Node] });

const AccountLimit = outputType('AccountLimit', innerSchema(LimitsSchema, 'limits'), {
  types: { name: enumType('LimitName', LIMIT_NAMES), unit: GraphQLString },
});

const AccountLimits = outputType('AccountLimits', LimitsSchema, {
  description: 'Limits of the account and their use.',
  types: { class: enumType('AccountClass', ACCOUNT_CLASSES), limits: AccountLimit },
});

export const accountFields = (services: Pick<Services, 'account'>): GraphqlFields =>
  operationFields(accountOperations, services, { outputs: { User, AccountLimits } }).queries;

/** GraphQL: the account of who is asking. */

import { GraphQLFloat, GraphQLID, GraphQLObjectType, GraphQLString } from 'graphql';
import { accountOperations } from '../../domain/accounts/operations.ts';
import type { User as UserRecord } from '../../domain/accounts/record.ts';
import { ACCOUNT_CLASSES, LIMIT_NAMES, LIMIT_UNITS } from '../../settings/limits.ts';
import type { Services } from '../services.ts';
import { operationFields } from './adapter.ts';
import { type Fields, Node } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';

const User = new GraphQLObjectType<UserRecord>({
  name: 'User',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID) },
    email: { type: required(GraphQLString) },
    firstName: { type: required(GraphQLString) },
    lastName: { type: GraphQLString },
    createdAt: { type: required(DateTime) },
  },
});

const AccountLimit = new GraphQLObjectType({
  name: 'AccountLimit',
  fields: {
    name: { type: required(enumOf('LimitName', LIMIT_NAMES)) },
    description: { type: required(GraphQLString), description: 'What is limited, for people.' },
    unit: {
      type: required(GraphQLString),
      description: `One of: ${LIMIT_UNITS.join(', ')}.`,
    },
    used: { type: GraphQLFloat, description: 'What the account has of it; null where nothing adds up.' },
    allowed: { type: required(GraphQLFloat), description: 'What the account may have.' },
    full: { type: required(GraphQLFloat), description: 'The same in the class `full`.' },
  },
});

const AccountLimits = new GraphQLObjectType({
  name: 'AccountLimits',
  description: 'What the account may have, and has.',
  fields: {
    class: {
      type: required(enumOf('AccountClass', ACCOUNT_CLASSES)),
      description: 'trial: no credit was ever bought or given.',
    },
    howToLift: {
      type: GraphQLString,
      description: 'How the limits of the class `full` are had; null for who has them.',
    },
    limits: { type: listOf(AccountLimit) },
  },
});

export const accountFields = (services: Pick<Services, 'account'>): Fields =>
  operationFields(accountOperations, services, { outputs: { User, AccountLimits } }).queries;

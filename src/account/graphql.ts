/** GraphQL: the account of who is asking. */
import { GraphQLObjectType, GraphQLString } from 'graphql';
import { DateTime, type Field, required } from '../graphql/relay.ts';
import type { AccountService, User as UserRecord } from './service.ts';

const User = new GraphQLObjectType<UserRecord>({
  name: 'User',
  fields: {
    id: { type: required(GraphQLString) },
    email: { type: required(GraphQLString) },
    firstName: { type: required(GraphQLString) },
    lastName: { type: GraphQLString },
    createdAt: { type: required(DateTime) },
  },
});

export const accountFields = (account: AccountService): Record<string, Field> => ({
  me: {
    type: required(User),
    description: 'The current user.',
    resolve: (_source, _args, context) => {
      context.allow('getMe');
      return account.me(context.principal);
    },
  },
});

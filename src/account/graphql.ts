/** GraphQL: the account of who is asking. */
import { GraphQLID, GraphQLObjectType, GraphQLString } from 'graphql';
import { type Fields, Node } from '../graphql/relay.ts';
import { DateTime, required } from '../graphql/scalars.ts';
import type { User as UserRecord } from './record.ts';
import type { AccountService } from './service.ts';

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

export const accountFields = (account: AccountService): Fields => ({
  me: {
    type: required(User),
    description: 'The current user.',
    resolve: (_source, _args, context) => {
      context.allow('getMe');
      return account.me(context.principal);
    },
  },
});

/** GraphQL: the balance, what was used and what was booked. */

import { GraphQLFloat, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { KINDS } from '../../billing/ledger/ledger.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import {
  GROUPS,
  type LedgerEntry as LedgerEntryRecord,
  PAYMENT_METHODS,
  STATES,
  type UsageAsked,
} from '../../billing/ledger/record.ts';
import type { StatementOrder } from '../../billing/ledger/statement.ts';
import type { Services } from '../services.ts';
import { operationFields } from './adapter.ts';
import { connectionField, type Fields } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, IDFilter, TimeFilter, whereInput } from './where.ts';

const text = { type: required(GraphQLString) };
const Kind = enumOf('LedgerEntryKind', KINDS);
const Group = enumOf('UsageGroup', GROUPS);

const Billing = new GraphQLObjectType({
  name: 'Billing',
  description: 'What is left, in credits, and for how long.',
  fields: {
    state: { type: required(enumOf('BillingState', STATES)) },
    balanceCredits: text,
    availableCredits: text,
    creditsPerHour: text,
    secondsLeft: { type: GraphQLFloat, description: 'null while nothing is on air.' },
    currency: text,
    creditsPerMinorUnit: text,
    paymentMethods: {
      type: listOf(enumOf('PaymentMethod', PAYMENT_METHODS)),
      description: 'How credit can be bought here.',
    },
  },
});

const UsageLine = new GraphQLObjectType({
  name: 'UsageLine',
  fields: {
    day: { type: GraphQLString },
    streamID: { type: GraphQLString },
    credits: text,
    onAirSeconds: { type: required(GraphQLFloat) },
  },
});

const Usage = new GraphQLObjectType({
  name: 'Usage',
  description: 'What was charged in some days, by day or by stream.',
  fields: {
    from: text,
    to: text,
    timeZone: text,
    groupBy: { type: required(Group) },
    credits: text,
    onAirSeconds: { type: required(GraphQLFloat) },
    lines: { type: listOf(UsageLine) },
  },
});

const LedgerEntry = new GraphQLObjectType<LedgerEntryRecord>({
  name: 'LedgerEntry',
  fields: {
    id: text,
    number: { type: required(GraphQLInt) },
    kind: { type: required(Kind) },
    credits: text,
    balanceCredits: { ...text, description: 'After it.' },
    at: { type: required(DateTime), description: 'When what it stands for happened.' },
    postedAt: { type: required(DateTime) },
    streamID: { type: GraphQLString },
    onAirSeconds: { type: GraphQLFloat },
    reference: { type: GraphQLString },
    reason: { type: GraphQLString },
  },
});

const where = whereInput<LedgerEntryRecord>('LedgerEntryWhereInput', {
  kind: { type: enumFilter(Kind) },
  at: { type: TimeFilter },
  streamID: { type: IDFilter },
});

export const billingFields = (services: Pick<Services, 'billing'>): Fields => ({
  ...operationFields(billingOperations, services, { outputs: { Billing } }).queries,
  // Its arguments have defaults here, and the format of REST is none of them.
  usage: {
    type: Usage,
    description: 'What was used, by day or by stream; the last 30 days unless told.',
    extensions: { cost: 400 },
    args: {
      from: { type: GraphQLString, description: 'First day, such as 2027-01-31.' },
      to: { type: GraphQLString, description: 'Last day.' },
      groupBy: { type: required(Group), default: { value: 'day' } },
      timeZone: { type: required(GraphQLString), default: { value: 'UTC' } },
    },
    resolve: (_source, { from, to, groupBy, timeZone }, context) => {
      context.allow('getUsage');
      const asked = { from: from ?? undefined, to: to ?? undefined, groupBy, timeZone };
      return services.billing.usage(context.principal, asked as UsageAsked);
    },
  },
  // The database filters it, as there may be more entries than can be read.
  ledgerEntries: connectionField<LedgerEntryRecord, StatementOrder>({
    type: LedgerEntry,
    operation: 'listLedgerEntries',
    description: 'What was booked, the latest first unless orderBy says otherwise.',
    where,
    order: { NUMBER: { value: 'number', description: 'As they were booked.' } },
    list: ({ principal }, page, _matching, args) => services.billing.ledger(principal, page, args.where as never),
  }),
});

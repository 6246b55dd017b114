/** Defines the GraphQL fields of balance, usage and ledger entries. */

import { type GraphQLEnumType, GraphQLFloat, GraphQLString } from 'graphql';
import { ledgerQuery, toLedgerWhere } from '../../billing/ledger/list.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import {
  Billing as BillingSchema,
  FREE,
  GROUPS,
  KINDS,
  type LedgerEntry as LedgerEntryRecord,
  LedgerEntry as LedgerEntrySchema,
  PAYMENT_METHODS,
  Price as PriceSchema,
  Prices as PricesSchema,
  STATES,
  TopUpRange,
  type UsageAsked,
  UsageLine as UsageLineSchema,
  Usage as UsageSchema,
} from '../../billing/ledger/record.ts';
import type { StatementOrder } from '../../billing/ledger/statement.ts';
import type { RowWhere } from '../../db/where.ts';
import { readSort } from '../../lib/paging/noun-list.ts';
import type { Services } from '../setup/services.ts';
import { listArguments, operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { connectionField, type GraphqlFields } from './relay.ts';
import { enumType, required } from './scalars.ts';
import { STREAM_ENUMS } from './stream-enums.ts';
import { filtersOf, IDFilter, whereInput } from './where.ts';

const Kind = enumType('LedgerEntryKind', KINDS);
const Group = enumType('UsageGroup', GROUPS);

const Billing = outputType('Billing', BillingSchema, {
  description: 'The balance in credits, and how long it lasts.',
  types: {
    state: enumType('BillingState', STATES),
    secondsLeft: GraphQLFloat,
    paymentMethods: enumType('PaymentMethod', PAYMENT_METHODS),
    topUp: outputType('TopUpRange', TopUpRange),
  },
});

const Price = outputType('Price', PriceSchema, {
  types: {
    quality: STREAM_ENUMS.quality as GraphQLEnumType,
    framerate: STREAM_ENUMS.framerate as GraphQLEnumType,
    next: outputType('NextPrice', innerSchema(PriceSchema, 'next')),
  },
});

const Prices = outputType('Prices', PricesSchema, {
  description: 'What an hour on air costs, and what costs nothing.',
  types: { onAir: Price, free: enumType('FreeOfCharge', FREE) },
});

const UsageLine = outputType('UsageLine', UsageLineSchema, { types: { streamID: GraphQLString } });

const Usage = outputType('Usage', UsageSchema, {
  description: 'Charged usage of a range of days, by day or by stream.',
  types: { groupBy: Group, lines: UsageLine },
});

const LedgerEntry = outputType<LedgerEntryRecord>('LedgerEntry', LedgerEntrySchema, {
  types: { id: GraphQLString, kind: Kind, streamID: GraphQLString },
});

const where = whereInput<LedgerEntryRecord>('LedgerEntryWhereInput', {
  ...filtersOf(LedgerEntry, ['kind', 'at']),
  streamID: { type: IDFilter },
});

const entries = listArguments('ledgerEntries', ledgerQuery(), { type: Kind });

export const billingFields = (services: Pick<Services, 'billing'>): GraphqlFields => ({
  ...operationFields(billingOperations, services, { outputs: { Billing, Prices } }).queries,
  // Written by hand: its arguments have defaults here, and it lacks REST's `format`.
  usage: {
    type: Usage,
    description: 'Usage by day or by stream. Defaults to the last 30 days.',
    extensions: { cost: 400 },
    args: {
      from: { type: GraphQLString, description: 'First day, e.g. 2027-01-31.' },
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
  // The database filters the entries, as there may be too many to read.
  ledgerEntries: connectionField<LedgerEntryRecord, StatementOrder>({
    type: LedgerEntry,
    operation: 'listLedgerEntries',
    description: 'Lists ledger entries, newest first unless orderBy says otherwise.',
    where,
    order: { NUMBER: { value: 'number', description: 'Order of booking.' } },
    args: entries.args,
    list: ({ principal }, page, _matching, args) => {
      const { sort, ...filter } = entries.read(args);
      const wheres = [toLedgerWhere(filter), (args.where ?? undefined) as RowWhere | undefined].filter(
        (one) => one !== undefined,
      );
      return services.billing.ledger(principal, readSort(page, sort), wheres.length > 0 ? { and: wheres } : undefined);
    },
  }),
});

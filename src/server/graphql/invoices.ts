/** GraphQL: invoices, and the address that they are sent to. */

import { GraphQLID, GraphQLList, GraphQLObjectType, GraphQLString } from 'graphql';
import { KINDS } from '../../billing/invoices/document.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import { BillingAddress, type Invoice as InvoiceRecord } from '../../billing/invoices/record.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { Node, type NounFields, nodeOf } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, IDFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const text = { type: required(GraphQLString) };
const textOrNull = { type: GraphQLString };

const Line = new GraphQLObjectType({
  name: 'InvoiceLine',
  fields: {
    streamID: { type: GraphQLID },
    name: text,
    profile: textOrNull,
    seconds: textOrNull,
    creditsPerHour: textOrNull,
    credits: text,
    amountMinor: text,
  },
});
const Tax = new GraphQLObjectType({
  name: 'InvoiceTax',
  fields: { name: text, ratePercent: text, amountMinor: text },
});
const Party = new GraphQLObjectType({
  name: 'InvoiceParty',
  fields: {
    name: text,
    address: { type: listOf(GraphQLString) },
    country: textOrNull,
    taxID: textOrNull,
    email: textOrNull,
  },
});
const Kind = enumOf('InvoiceKind', KINDS);

const Invoice = new GraphQLObjectType<InvoiceRecord>({
  name: 'Invoice',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID) },
    kind: { type: required(Kind) },
    number: { ...text, description: 'Numbers of a year have no gaps.' },
    issuedOn: { ...text, description: 'A day, such as 2027-02-01.' },
    periodFrom: textOrNull,
    periodTo: textOrNull,
    currency: text,
    totalCredits: { ...text, description: 'As the ledger has it.' },
    netMinor: { ...text, description: 'The total without taxes.' },
    totalMinor: { ...text, description: 'With taxes; paid from the balance.' },
    correctsNumber: textOrNull,
    correctsID: { type: GraphQLID, description: 'The invoice that a credit note corrects.' },
    createdAt: { type: required(DateTime) },
    lines: { type: listOf(Line), extensions: { cost: 100 } },
    roundingMinor: text,
    taxes: { type: listOf(Tax) },
    seller: { type: required(Party) },
    buyer: { type: required(Party) },
    reason: textOrNull,
    notes: { type: new GraphQLList(required(GraphQLString)) },
  },
});

const Address = new GraphQLObjectType({
  name: 'BillingAddress',
  fields: Object.fromEntries(Object.keys(BillingAddress.properties).map((name) => [name, textOrNull])),
});
const where = whereInput<InvoiceRecord>('InvoiceWhereInput', {
  id: { type: IDFilter },
  kind: { type: enumFilter(Kind) },
  number: { type: TextFilter },
  createdAt: { type: TimeFilter },
});

const types: NounTypes = {
  outputs: { Invoice, InvoiceSummary: Invoice, BillingAddress: Address },
  inputs: { taxID: GraphQLString },
  lists: { InvoiceSummary: { where, order: { CREATED_AT: { value: 'createdAt' } } } },
};

export const invoiceFields = (services: Pick<Services, 'invoices'>): NounFields => ({
  ...operationFields(invoiceOperations, services, types),
  node: nodeOf({
    prefix: 'inv',
    type: 'Invoice',
    operation: 'getInvoice',
    notFound: 'invoice_not_found',
    get: ({ principal }, id) => services.invoices.get(principal, id),
  }),
});

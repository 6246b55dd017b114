/** GraphQL: invoices, and the address that they are sent to. */
import { GraphQLID, GraphQLList, GraphQLObjectType, GraphQLString } from 'graphql';
import { KINDS } from '../../billing/invoices/document.ts';
import { BillingAddress, BillingAddressUpdate, type Invoice as InvoiceRecord } from '../../billing/invoices/record.ts';
import type { InvoiceService } from '../../billing/invoices/service.ts';
import { inputType, mutationField, payloadOf } from './input.ts';
import { byIdField, connectionField, Node, type NounFields, nodeOf } from './relay.ts';
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
const AddressInput = inputType('BillingAddressInput', BillingAddressUpdate, { taxID: GraphQLString });

const where = whereInput<InvoiceRecord>('InvoiceWhereInput', {
  id: { type: IDFilter },
  kind: { type: enumFilter(Kind) },
  number: { type: TextFilter },
  createdAt: { type: TimeFilter },
});

export const invoiceFields = (invoices: InvoiceService): NounFields => ({
  node: nodeOf({
    ...{ prefix: 'inv', type: 'Invoice', operation: 'getInvoice', notFound: 'invoice_not_found' },
    get: ({ principal }, id) => invoices.get(principal, id),
  }),
  queries: {
    invoice: byIdField({
      type: Invoice,
      operation: 'getInvoice',
      description: 'One invoice.',
      get: ({ principal }, id) => invoices.get(principal, id),
    }),
    invoices: connectionField<InvoiceRecord, 'createdAt'>({
      type: Invoice,
      operation: 'listInvoices',
      description: 'Invoices and credit notes, newest first unless orderBy says otherwise.',
      where,
      order: { CREATED_AT: { value: 'createdAt' } },
      list: ({ principal }, page, matching) => invoices.list(principal, page, matching),
    }),
    billingAddress: {
      type: required(Address),
      description: 'Whom invoices are sent to.',
      resolve: (_source, _args, context) => {
        context.allow('getBillingAddress');
        return invoices.address(context.principal);
      },
    },
  },
  mutations: {
    updateBillingAddress: mutationField({
      operation: 'updateBillingAddress',
      description: 'Changes whom invoices are sent to; what is left out stays, an empty text takes a field away.',
      type: payloadOf('BillingAddressPayload', 'address', Address),
      input: { type: AddressInput, schema: BillingAddressUpdate },
      run: async ({ principal }, { input }) => ({ address: await invoices.setAddress(principal, input) }),
    }),
  },
});

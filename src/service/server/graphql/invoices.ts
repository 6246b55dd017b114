/** Defines the GraphQL fields of invoices and of the billing address. */

import { GraphQLList, GraphQLString } from 'graphql';
import { KINDS } from '../../billing/invoices/document.ts';
import { INVOICE_LIST } from '../../billing/invoices/list.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import {
  BillingAddress,
  type Invoice as InvoiceRecord,
  Invoice as InvoiceSchema,
} from '../../billing/invoices/record.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { innerSchema, outputType } from './output.ts';
import { createNodeReader, Node, type NounFields, nounOrder } from './relay.ts';
import { enumType, required } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

const inInvoice = (name: string, property: string) =>
  outputType(name, innerSchema(InvoiceSchema, property), { types: { taxID: GraphQLString } });
const Party = inInvoice('InvoiceParty', 'seller');
const Kind = enumType('InvoiceKind', KINDS);

const Invoice = outputType<InvoiceRecord>('Invoice', InvoiceSchema, {
  interfaces: [Node],
  types: {
    kind: Kind,
    lines: inInvoice('InvoiceLine', 'lines'),
    taxes: inInvoice('InvoiceTax', 'taxes'),
    seller: Party,
    buyer: Party,
  },
  costs: { lines: 100 },
  // The first version of the schema made it nullable.
  fields: { notes: { type: new GraphQLList(required(GraphQLString)) } },
});

const Address = outputType('BillingAddress', BillingAddress, { types: { taxID: GraphQLString } });

const where = whereInput('InvoiceWhereInput', filtersOf(Invoice, ['id', 'kind', 'number', 'createdAt']));

const types: NounTypes = {
  outputs: { Invoice, InvoiceSummary: Invoice, BillingAddress: Address },
  inputs: { taxID: GraphQLString, type: Kind },
  lists: { InvoiceSummary: { where, order: nounOrder(INVOICE_LIST) } },
};

export const invoiceFields = (services: Pick<Services, 'invoices'>): NounFields => ({
  ...operationFields(invoiceOperations, services, types),
  node: createNodeReader({
    prefix: 'inv',
    type: 'Invoice',
    operation: 'getInvoice',
    notFound: 'invoice_not_found',
    get: ({ principal }, id) => services.invoices.get(principal, id),
  }),
});

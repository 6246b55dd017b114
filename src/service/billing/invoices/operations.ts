/** Declares the operations on invoices, and on the address that they are sent to. Pure: no I/O, no clock. */

import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, FILTERED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { formatMinor } from '../ledger/money.ts';
import { INVOICE_LIST } from './list.ts';
import { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from './record.ts';
import { type InvoiceService, summarize } from './service.ts';

const exampleSummary: InvoiceSummary = {
  id: 'inv-01k9b3c7d2e5f8g1h4j6k9m2n5',
  kind: 'invoice',
  number: 'LS-2027-00042',
  issuedOn: '2027-02-01',
  periodFrom: '2027-01-01',
  periodTo: '2027-01-31',
  currency: 'EUR',
  currencyDigits: 2,
  totalCredits: '930000',
  netMinor: '7815',
  totalMinor: '9300',
  correctsNumber: null,
  correctsID: null,
  createdAt: '2027-02-01T02:00:07Z',
};

export const exampleInvoice: Invoice = {
  ...exampleSummary,
  lines: [
    {
      streamID: EXAMPLE.stream,
      name: 'Night fireplace',
      profile: '1080p30',
      seconds: '2678400',
      creditsPerHour: '1250',
      credits: '930000',
      amountMinor: '9300',
    },
  ],
  roundingMinor: '0',
  taxes: [{ name: 'VAT', ratePercent: '19', amountMinor: '1485' }],
  reason: null,
  seller: {
    name: 'Loops Ltd',
    address: ['12 Harbour Street', 'Dublin', 'Ireland'],
    country: 'IE',
    taxID: 'IE1234567X',
    email: 'billing@loops.example',
  },
  buyer: { name: 'Ada', address: [], country: null, taxID: null, email: 'ada@example.com' },
  notes: ['Paid from the prepaid balance of the account. Nothing is due.'],
};

export const exampleAddress: BillingAddress = {
  name: 'Ada Films SARL',
  line1: '8 rue du Port',
  postalCode: '75008',
  city: 'Paris',
  country: 'FR',
};

const operation = createOperationBuilder<{ invoices: InvoiceService }>({
  tag: 'billing',
  object: {
    idName: 'Invoice id',
    listTool: 'list_invoices',
    exampleId: exampleSummary.id,
    notFound: 'invoice_not_found',
  },
  client: { noun: 'invoices' },
});

const describeAddress = (address: BillingAddress): string => {
  const lines = Object.values(address).filter((line) => line !== '');
  return lines.length === 0 ? 'No address is set.' : `Invoices are sent to: ${lines.join(', ')}.`;
};

export const invoiceOperations = [
  operation({
    id: 'listInvoices',
    scope: 'billing',
    http: 'GET /billing/invoices',
    summary: 'List invoices and credit notes, newest first',
    description: `Returns the account’s invoices and credit notes. ${FILTERED} ${PAGED}`,
    query: listQuery(INVOICE_LIST),
    output: page(InvoiceSummary, 'InvoiceList', { summarize }),
    examples: { output: exampleSummary, parameters: { type: 'invoice', sort: 'number' } },
    mcp: {
      query: listQuery(INVOICE_LIST, 'short'),
      title: 'List invoices',
      description: 'Lists invoices and credit notes, newest first. Amounts are in minor units, such as cents.',
    },
    graphql: {
      description: 'Lists invoices and credit notes, newest first unless orderBy says otherwise.',
      query: listQuery(INVOICE_LIST),
    },
    run: ({ invoices }, { principal, page, query, where }) => invoices.list(principal, readListing(page, query), where),
  }),

  operation({
    id: 'getInvoice',
    scope: 'billing',
    http: 'GET /billing/invoices/{id}',
    summary: 'Get an invoice',
    description: 'Returns an invoice with its lines. An issued invoice never changes; a credit note corrects mistakes.',
    output: record(Invoice),
    examples: { output: exampleInvoice },
    mcp: {
      title: 'Get an invoice',
      description: 'Returns an invoice with its lines: what each stream used in a month, and its cost.',
      summarize: ({ number, totalMinor, currency, currencyDigits, issuedOn }) =>
        `${number}, issued on ${issuedOn}: ${formatMinor(BigInt(totalMinor), currency, currencyDigits)}.`,
    },
    graphql: { description: 'Returns an invoice.' },
    run: ({ invoices }, { principal, id }) => invoices.get(principal, id),
  }),

  operation({
    id: 'getInvoicePdf',
    scope: 'billing',
    http: 'GET /billing/invoices/{id}.pdf',
    summary: 'Get an invoice as a PDF',
    description: 'Returns the same bytes each time.',
    // OpenAPI 3.1: bytes in a body have no schema.
    output: content({ 'application/pdf': Type.Unsafe<unknown>({}) }),
    errors: ['server_busy'],
  }),

  operation({
    id: 'getBillingAddress',
    scope: 'billing',
    http: 'GET /billing/address',
    summary: 'Get the billing address',
    description: 'Returns the name, the address and the tax ID that invoices show.',
    output: record(BillingAddress),
    examples: { output: exampleAddress },
    mcp: {
      title: 'Get the billing address',
      description: 'Returns the address that invoices show.',
      summarize: describeAddress,
    },
    graphql: { description: 'Returns the address that invoices show.' },
    client: { noun: 'billingAddress' },
    run: ({ invoices }, { principal }) => invoices.address(principal),
  }),

  operation({
    id: 'updateBillingAddress',
    scope: 'billing',
    http: 'PATCH /billing/address',
    summary: 'Change the billing address',
    description:
      'Changes the given fields only. An empty string removes a field. The change applies to future invoices.',
    input: BillingAddressUpdate,
    output: record(BillingAddress),
    examples: { input: { city: 'Lyon', postalCode: '69001' }, output: exampleAddress },
    mcp: {
      title: 'Change the billing address',
      description:
        'Changes the given fields of the billing address, for future invoices. An empty string removes a field.',
      summarize: describeAddress,
      isRepeatable: true,
    },
    graphql: {
      description: 'Changes the given fields of the billing address. An empty string removes a field.',
      payload: 'address',
      inputName: 'BillingAddressInput',
    },
    client: { noun: 'billingAddress' },
    run: ({ invoices }, { principal, input }) => invoices.setAddress(principal, input),
  }),
] as const;

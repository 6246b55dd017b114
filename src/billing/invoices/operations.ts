/** Declares the operations on invoices, and on the address that they are sent to. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
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

const operation = operationsOf<{ invoices: InvoiceService }>({
  tag: 'billing',
  object: {
    idName: 'Invoice id',
    listTool: 'list_invoices',
    exampleId: exampleSummary.id,
    notFound: 'invoice_not_found',
  },
});

const sayAddress = (address: BillingAddress): string => {
  const lines = Object.values(address).filter((line) => line !== '');
  return lines.length === 0 ? 'No address is set.' : `Invoices are sent to: ${lines.join(', ')}.`;
};

export const invoiceOperations = [
  operation({
    id: 'listInvoices',
    scope: 'billing',
    http: 'GET /billing/invoices',
    summary: 'Invoices and credit notes, newest first',
    description: `What was invoiced, and what was credited again. ${PAGED}`,
    output: page(InvoiceSummary, 'InvoiceList', { summarize: summarize }),
    examples: { output: exampleSummary },
    mcp: {
      title: 'List invoices',
      description: 'Invoices and credit notes, newest first. Amounts are in minor units, such as cents.',
    },
    graphql: { description: 'Invoices and credit notes, newest first unless orderBy says otherwise.' },
    run: ({ invoices }, { principal, page, where }) => invoices.list(principal, page, where),
  }),

  operation({
    id: 'getInvoice',
    scope: 'billing',
    http: 'GET /billing/invoices/{id}',
    summary: 'One invoice',
    description: 'With its lines. It stays as it was issued; what was wrong is corrected by a credit note.',
    output: record(Invoice),
    examples: { output: exampleInvoice },
    mcp: {
      title: 'Look at an invoice',
      description: 'One invoice with its lines: what each stream used in a month, and what that cost.',
      say: ({ number, totalMinor, currency, issuedOn }) =>
        `${number} of ${issuedOn} is about ${totalMinor} minor units of ${currency}.`,
    },
    graphql: { description: 'One invoice.' },
    run: ({ invoices }, { principal, id }) => invoices.get(principal, id),
  }),

  operation({
    id: 'getInvoicePdf',
    scope: 'billing',
    http: 'GET /billing/invoices/{id}.pdf',
    summary: 'One invoice as a PDF',
    description: 'The same bytes each time.',
    // OpenAPI 3.1: bytes in a body have no schema.
    output: content({ 'application/pdf': Type.Unsafe<unknown>({}) }),
  }),

  operation({
    id: 'getBillingAddress',
    scope: 'billing',
    http: 'GET /billing/address',
    summary: 'Whom invoices are sent to',
    description: 'The name, the address and the tax ID that invoices show.',
    output: record(BillingAddress),
    examples: { output: exampleAddress },
    mcp: {
      title: 'Look at the billing address',
      description: 'Whom invoices are sent to.',
      say: sayAddress,
    },
    graphql: { description: 'Whom invoices are sent to.' },
    run: ({ invoices }, { principal }) => invoices.address(principal),
  }),

  operation({
    id: 'updateBillingAddress',
    scope: 'billing',
    http: 'PATCH /billing/address',
    summary: 'Change whom invoices are sent to',
    description: 'What is left out stays; an empty text takes a field away. It holds for invoices from now on.',
    input: BillingAddressUpdate,
    output: record(BillingAddress),
    examples: { input: { city: 'Lyon', postalCode: '69001' }, output: exampleAddress },
    mcp: {
      title: 'Change the billing address',
      description:
        'Sets what is given of the address that invoices are sent to, from the next one on; an empty text takes a field away.',
      say: sayAddress,
      isRepeatable: true,
    },
    graphql: {
      description: 'Changes whom invoices are sent to; what is left out stays, an empty text takes a field away.',
      payload: 'address',
      inputName: 'BillingAddressInput',
    },
    run: ({ invoices }, { principal, input }) => invoices.setAddress(principal, input),
  }),
] as const;

/** Tools: invoices, and the address that they are sent to. */

import { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../../billing/invoices/record.ts';
import { type InvoiceService, summaryOf } from '../../billing/invoices/service.ts';
import { flatten, listOf } from '../../lib/paging/list.ts';
import { idOf, PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const sayAddress = (address: BillingAddress): string => {
  const lines = Object.values(address).filter((line) => line !== '');
  return lines.length === 0 ? 'No address is set.' : `Invoices are sent to: ${lines.join(', ')}.`;
};

export const invoiceTools = (invoices: InvoiceService): Tool[] => [
  tool({
    name: 'list_invoices',
    title: 'List invoices',
    description: 'Invoices and credit notes, newest first. Amounts are in minor units, such as cents.',
    operations: ['listInvoices'],
    ...{ own: PAGE, output: listOf(InvoiceSummary, 'InvoiceList') },
    say: sayPage,
    run: async ({ principal }, page) => {
      const { data, page: told } = flatten(await invoices.list(principal, pageOf(page)));
      return { data: data.map(summaryOf), page: told };
    },
  }),
  tool({
    name: 'get_invoice',
    title: 'Look at an invoice',
    description: 'One invoice with its lines: what each stream used in a month, and what that cost.',
    operations: ['getInvoice'],
    ...{ own: idOf('Invoice id, as list_invoices tells it.'), output: Invoice },
    say: ({ number, totalMinor, currency, issuedOn }) =>
      `${number} of ${issuedOn} is about ${totalMinor} minor units of ${currency}.`,
    run: ({ principal }, { id }) => invoices.get(principal, id),
  }),
  tool({
    name: 'get_billing_address',
    title: 'Look at the billing address',
    description: 'Whom invoices are sent to.',
    operations: ['getBillingAddress'],
    ...{ output: BillingAddress },
    say: sayAddress,
    run: ({ principal }) => invoices.address(principal),
  }),
  tool({
    name: 'update_billing_address',
    title: 'Change the billing address',
    description:
      'Sets what is given of the address that invoices are sent to, from the next one on; an empty text takes a field away.',
    operations: ['updateBillingAddress'],
    ...{ body: BillingAddressUpdate, output: BillingAddress, repeatable: true },
    say: sayAddress,
    run: ({ principal }, _own, body) => invoices.setAddress(principal, body),
  }),
];

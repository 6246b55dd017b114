/** REST: invoices, and the address that they are sent to. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../../billing/invoices/record.ts';
import { type InvoiceService, summaryOf } from '../../billing/invoices/service.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../../lib/paging/list.ts';

const params = Type.Object({ id: Type.String({ description: 'Invoice id.' }) });
const tags = ['billing'];

export const invoiceRoutes: FastifyPluginAsyncTypebox<{ invoices: InvoiceService }> = async (app, { invoices }) => {
  app.get(
    '/billing/invoices',
    {
      schema: {
        operationId: 'listInvoices',
        tags,
        summary: 'Invoices and credit notes, newest first',
        querystring: ListQuery,
        response: { 200: listOf(InvoiceSummary, 'InvoiceList') },
      },
    },
    async ({ principal, query }) => {
      const { data, page } = flatten(await invoices.list(principal, pageArgs(query)));
      return { data: data.map(summaryOf), page };
    },
  );

  app.get(
    '/billing/invoices/:id',
    {
      schema: {
        ...{ operationId: 'getInvoice', tags, summary: 'One invoice', params, response: { 200: Invoice } },
        description: 'With its lines. It stays as it was issued; what was wrong is corrected by a credit note.',
      },
    },
    async ({ principal, params }) => invoices.get(principal, params.id),
  );

  app.get(
    '/billing/invoices/:id.pdf',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'getInvoicePdf',
        tags,
        summary: 'One invoice as a PDF',
        description: 'The same bytes each time.',
        params,
        // OpenAPI 3.1: bytes in a body have no schema.
        response: { 200: { content: { 'application/pdf': { schema: Type.Unsafe<unknown>({}) } } } },
      },
    },
    async ({ principal, params }, reply) => {
      const { name, bytes } = await invoices.pdf(principal, params.id);
      const disposition = `attachment; filename="${name}"`;
      return reply.type('application/pdf').header('content-disposition', disposition).send(bytes);
    },
  );

  app.get(
    '/billing/address',
    {
      schema: {
        ...{ operationId: 'getBillingAddress', tags, summary: 'Whom invoices are sent to' },
        response: { 200: BillingAddress },
      },
    },
    async ({ principal }) => invoices.address(principal),
  );

  app.patch(
    '/billing/address',
    {
      schema: {
        operationId: 'updateBillingAddress',
        tags,
        summary: 'Change whom invoices are sent to',
        description: 'What is left out stays; an empty text takes a field away. It holds for invoices from now on.',
        body: BillingAddressUpdate,
        response: { 200: BillingAddress },
      },
    },
    async ({ principal, body }) => invoices.setAddress(principal, body),
  );
};

/** Sends documents other than JSON: usage as CSV, invoices as PDF. */

import type { InvoiceService } from '../../billing/invoices/service.ts';
import type { UsageAsked } from '../../billing/ledger/record.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import { usageCsv } from '../../billing/ledger/usage.ts';
import type { Handlers } from './adapter.ts';

const CSV = 'text/csv';

interface DocumentDeps {
  billing: Pick<BillingService, 'usage'>;
  invoices: Pick<InvoiceService, 'pdf'>;
}

export const documentHandlers = ({ billing, invoices }: DocumentDeps): Handlers => ({
  async getUsage({ principal, query, headers }, reply) {
    const { format = headers.accept?.includes(CSV) ? 'csv' : 'json', ...asked } = query as UsageAsked & {
      format?: 'json' | 'csv';
    };
    const usage = await billing.usage(principal, asked);
    void reply.header('vary', 'accept');
    if (format === 'json') return usage;
    return reply
      .type(`${CSV}; charset=utf-8; header=present`)
      .header('content-disposition', `attachment; filename="usage-${usage.from}-${usage.to}.csv"`)
      .send(usageCsv(usage));
  },

  async getInvoicePdf({ principal, params }, reply) {
    const { name, bytes } = await invoices.pdf(principal, (params as { id: string }).id);
    return reply.type('application/pdf').header('content-disposition', `attachment; filename="${name}"`).send(bytes);
  },
});

/** Sends documents other than JSON: usage, sessions and uptimes as CSV, invoices as PDF. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { InvoiceService } from '../../billing/invoices/service.ts';
import type { UsageAsked } from '../../billing/ledger/record.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import { usageCsv } from '../../billing/ledger/usage.ts';
import { sessionsCsv } from '../../billing/metering/session-history.ts';
import type { SessionService } from '../../billing/metering/session-service.ts';
import type { AsRunAsked, AsRunService } from '../../domain/as-run/service.ts';
import type { UptimeAsked, UptimeService } from '../../domain/uptime/service.ts';
import { flatten, pageArgs } from '../../lib/paging/list.ts';
import type { Handlers } from './adapter.ts';

const CSV = 'text/csv';

interface Formatted {
  format?: 'json' | 'csv';
}

/** Whether CSV is asked for, by the query or, without a word there, by Accept. */
function asksForCsv({ query, headers }: FastifyRequest, reply: FastifyReply): boolean {
  void reply.header('vary', 'accept');
  const { format = headers.accept?.includes(CSV) ? 'csv' : 'json' } = query as Formatted;
  return format === 'csv';
}

const sendCsv = (reply: FastifyReply, name: string, text: string): FastifyReply =>
  reply
    .type(`${CSV}; charset=utf-8; header=present`)
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(text);

interface DocumentDeps {
  billing: Pick<BillingService, 'usage'>;
  invoices: Pick<InvoiceService, 'pdf'>;
}

export const documentHandlers = ({ billing, invoices }: DocumentDeps): Handlers => ({
  async getUsage(request, reply) {
    const { format: _format, ...asked } = request.query as UsageAsked & Formatted;
    const usage = await billing.usage(request.principal, asked);
    if (!asksForCsv(request, reply)) return usage;
    return sendCsv(reply, `usage-${usage.from}-${usage.to}`, usageCsv(usage));
  },

  async getInvoicePdf({ principal, params }, reply) {
    const { name, bytes } = await invoices.pdf(principal, (params as { id: string }).id);
    return reply.type('application/pdf').header('content-disposition', `attachment; filename="${name}"`).send(bytes);
  },
});

export const sessionHandlers = ({ streamSessions }: { streamSessions: SessionService }): Handlers => ({
  async listStreamSessions(request, reply) {
    const { accountId } = request.principal;
    const { id } = request.params as { id: string };
    if (asksForCsv(request, reply))
      return sendCsv(reply, `sessions-${id}`, sessionsCsv(await streamSessions.all(accountId, id)));
    const args = pageArgs(request.query as { limit: number; cursor?: string });
    return flatten(await streamSessions.list(accountId, id, args));
  },
});

export const uptimeHandlers = ({ uptime }: { uptime: UptimeService }): Handlers => ({
  async getStreamUptime(request, reply) {
    const { accountId } = request.principal;
    const { id } = request.params as { id: string };
    const asked = request.query as UptimeAsked;
    if (asksForCsv(request, reply)) return sendCsv(reply, `uptime-${id}`, await uptime.csv(accountId, id, asked));
    return uptime.get(accountId, id, asked);
  },
});

export const asRunHandlers = ({ asRun }: { asRun: AsRunService }): Handlers => ({
  async exportStreamAsRun({ principal, params, query }, reply) {
    const { id } = params as { id: string };
    return sendCsv(reply, `as-run-${id}`, await asRun.csv(principal.accountId, id, query as AsRunAsked));
  },

  async getStreamAsRunTotals(request, reply) {
    const { id } = request.params as { id: string };
    const { format: _format, ...asked } = request.query as AsRunAsked & Formatted;
    const totals = await asRun.totals(request.principal.accountId, id, asked);
    if (!asksForCsv(request, reply)) return totals;
    return sendCsv(reply, `as-run-totals-${id}`, asRun.totalsCsv(totals.items));
  },
});

/** REST: the balance, what was used and what was booked. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { Billing, LedgerEntry, Usage, usageFields } from '../../billing/ledger/record.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import { usageCsv } from '../../billing/ledger/usage.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../../lib/paging/list.ts';

const tags = ['billing'];
const CSV = 'text/csv';

const UsageQuery = Type.Object({
  ...usageFields,
  format: Type.Optional(
    Type.Enum(['json', 'csv'], { description: 'Without it, the header Accept says: text/csv, or else JSON.' }),
  ),
});

export const billingRoutes: FastifyPluginAsyncTypebox<{ billing: BillingService }> = async (app, { billing }) => {
  app.get(
    '/billing',
    {
      schema: {
        ...{ operationId: 'getBilling', tags, summary: 'What is left, and for how long' },
        response: { 200: Billing },
      },
    },
    async ({ principal }) => billing.get(principal),
  );

  app.get(
    '/billing/usage',
    {
      schema: {
        operationId: 'getUsage',
        tags,
        summary: 'What was used, by day or by stream',
        description:
          'Its sums are those of the charges in the ledger, to the credit. A charge belongs to the day on which the time ' +
          'on air that it is for ended. As JSON, or as CSV (RFC 4180) of its lines.',
        querystring: UsageQuery,
        response: {
          200: {
            content: { 'application/json': { schema: Usage }, [CSV]: { schema: Type.String({ title: 'UsageCsv' }) } },
          },
        },
      },
    },
    async ({ principal, query, headers }, reply) => {
      const { format = headers.accept?.includes(CSV) ? 'csv' : 'json', ...asked } = query;
      const usage = await billing.usage(principal, asked);
      void reply.header('vary', 'accept');
      if (format === 'json') return usage;
      return reply
        .type(`${CSV}; charset=utf-8; header=present`)
        .header('content-disposition', `attachment; filename="usage-${usage.from}-${usage.to}.csv"`)
        .send(usageCsv(usage) as never);
    },
  );

  app.get(
    '/billing/ledger',
    {
      schema: {
        operationId: 'listLedgerEntries',
        tags,
        summary: 'What was booked, the latest first',
        querystring: ListQuery,
        response: { 200: listOf(LedgerEntry, 'LedgerEntryList') },
      },
    },
    async ({ principal, query }) => flatten(await billing.ledger(principal, pageArgs(query))),
  );
};

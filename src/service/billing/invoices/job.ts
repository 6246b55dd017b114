/** Runs the job that issues invoices: each month after its end, and any months that were missed. */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { BillingJob } from '../ledger/jobs.ts';
import type { Issuer } from './issue.ts';

const EVERY_MS = 15 * 60_000;

export interface InvoiceJobDeps {
  issuer: Pick<Issuer, 'issueDue'>;
  log: Pick<Logger, 'info'>;
  clock?: Clock;
}

export const createInvoiceJob = ({ issuer, log, clock = systemClock }: InvoiceJobDeps): BillingJob => ({
  name: 'monthly-invoices',
  everyMs: EVERY_MS,
  async run(signal) {
    const issued = await issuer.issueDue(clock.now(), signal);
    if (issued > 0) log.info({ issued }, 'invoices were issued');
  },
});

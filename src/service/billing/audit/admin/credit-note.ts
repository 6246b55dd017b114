/** Issues credit notes on behalf of staff, and records them in the audit in the same transaction. */
import { randomUUID } from 'node:crypto';
import type { Db } from '../../../db/pool.ts';
import { AppError } from '../../../lib/errors.ts';
import { createIssuer } from '../../invoices/issue.ts';
import type { Seller } from '../../invoices/settings.ts';
import { findByNumber } from '../../invoices/store.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { AdminError } from './service.ts';
import { writeStaffRecord } from './store.ts';

interface CreditNoteRequest {
  /** The number of the invoice. */
  number: string;
  credits: bigint;
  reason: string;
  staff: string;
  key: string | undefined;
}

/** Rejects with AdminError for an invoice that is none, or more than is left of it. */
export async function issueCreditNote(
  { db, seller, currency }: { db: Db; seller: Seller; currency: string },
  { number, credits, reason, staff, key = randomUUID() }: CreditNoteRequest,
): Promise<{ id: string; number: string; accountId: string; credits: bigint; key: string }> {
  const invoice = await findByNumber(db, number);
  if (!invoice) throw new AdminError(`Invoice ${number} does not exist.`);
  const issuer = createIssuer({ db, ledger: createLedger(db), seller, currency });
  const also = (trx: Db, accountId: string) =>
    writeStaffRecord(trx, { staff, action: 'credit-note', accountId, reason: `${reason} (${number})`, credits });
  try {
    const wish = { invoiceId: invoice.id, credits, reason, key: `admin:${key}`, also };
    const { id, accountId, content } = await issuer.correct(wish, new Date());
    return { id, number: content.number, accountId, credits, key };
  } catch (error) {
    if (error instanceof AppError) throw new AdminError(error.message, { cause: error });
    throw error;
  }
}

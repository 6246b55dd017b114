/**
 * Lists the remedy for each difference. None is repaired automatically: each results from something that must not have
 * happened. Pure: no I/O, no clock.
 */

/** By the compared noun, and then by the property that differs; '' for all others. */
const REMEDIES: Record<string, Record<string, string>> = {
  ledger: {
    balance:
      'A balance was changed without its triggers. The entries are correct: find out who has the rights of the database owner, ' +
      'and set the balance to the expected value.',
    '':
      'Entries were changed or removed without the triggers. Restore a backup from before that, and book later transactions ' +
      'again. Until then, trust no balance of the account.',
  },
  meter: {
    'credits for its seconds':
      'The row of the session or one of its charges was changed by hand. Compare it with the charges in the statement of the ' +
      'account, and refund the excess with loopstream admin refund.',
    '':
      'A charge is missing, or has no metered time. Refund an excess with loopstream admin refund. A missing charge is lost to ' +
      'the service, because the meter books the seconds of a session once.',
  },
  prices: {
    'price of an hour':
      'LOOPSTREAM_PRICES has changed since this charge. If old prices were removed, restore them with their dates and run the ' +
      'command again. If the price was wrong, refund the difference with loopstream admin refund.',
    '': 'The charges of the session differ from its seconds at their prices. Refund an excess with loopstream admin refund.',
  },
  sessions: {
    'counted seconds, acknowledged':
      'The session is acknowledged in Kubernetes with another count: its row or the status of the stream was changed. Missing ' +
      'seconds are lost to the service. Refund an excess with loopstream admin refund.',
    '':
      'The meter counted more than the pods reported. Check whether the status of the stream or the row of the session was ' +
      'changed by hand, and refund the excess with loopstream admin refund.',
  },
  'top-ups': {
    '':
      'Compare the ledger with the payment at the payment provider, which is correct. If the ledger has too little, send the event ' +
      'again from there: it books once. If it has too much, loopstream admin audit shows whether staff booked it.',
  },
  deposits: {
    'credits for its amount':
      'The credit of the payment differs from its amount at its rate. Compare it with the transaction on the chain. Then grant ' +
      'the missing credit, or contact the customer.',
    '':
      'Compare the ledger with the transactions of the deposit on the chain, which is correct, and read the log of the role ' +
      'billing. Add missing credit with loopstream admin grant, and give the transaction as the reason.',
  },
  invoices: {
    'sum of the lines':
      'The invoice was changed without its trigger. The issued copy is correct: restore it from a backup.',
    'numbers of the series':
      'An invoice was removed, or the counter was changed. Restore the invoice from a backup, because an issued number must stay.',
    '':
      'The invoices differ from the charges. Correct an invoice that is too high with loopstream admin credit-note. If charges are ' +
      'on no invoice, check whether invoice_progress was changed.',
  },
  staff: {
    '':
      'The ledger and the audit log disagree on the actions of staff. Find out who has the password of the database, and reverse ' +
      'bookings that no staff member confirms.',
  },
};

/** A sentence or two. */
export function findRemedy(noun: string, what: string): string {
  const own = REMEDIES[noun] ?? {};
  return own[what] ?? own[''] ?? 'Ask an engineer of the service to examine the difference.';
}

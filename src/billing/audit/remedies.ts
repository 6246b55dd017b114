/**
 * Lists the remedy for each difference. None is repaired automatically: each results from something that must not have
 * happened. Pure: no I/O, no clock.
 */

/** By the compared noun, and then by the property that differs; '' for all others. */
const REMEDIES: Record<string, Record<string, string>> = {
  ledger: {
    balance:
      'Somebody has changed a balance past its triggers. The entries are right: see who has the rights of the owner, and ' +
      'set the balance to what is expected.',
    '':
      'Somebody has changed or removed entries past the triggers. Take the database’s backup of before that, and book what came ' +
      'since again; until then believe no balance of the account.',
  },
  meter: {
    'credits for its seconds':
      'The row of the session was changed by hand, or a charge of it was. Compare it with the charges in the statement of the ' +
      'account, and give back what is too much: loopstream admin refund.',
    '':
      'A charge was booked that was not metered, or is missing. Where too much was charged, give it back: loopstream admin refund. ' +
      'Where a charge is missing, it is lost to the service: the meter books a session’s seconds once.',
  },
  prices: {
    'price of an hour':
      'LOOPSTREAM_PRICES is not what it was when this was charged. If the list was cut, put the old prices back with their dates ' +
      'and run this again; if the price was wrong, give back the rest: loopstream admin refund.',
    '':
      'The charges of the session do not add up to its seconds at their prices. Give back what is too much: loopstream admin ' +
      'refund.',
  },
  sessions: {
    'counted seconds, acknowledged':
      'Kubernetes was told that a session is counted which is not counted so: somebody has changed its row or the stream’s status. ' +
      'What is missing is lost to the service; what is too much is to be given back: loopstream admin refund.',
    '':
      'More was counted than the pods have told. See whether the status of the stream, or the row of the session, was changed by ' +
      'hand, and give back what is too much: loopstream admin refund.',
  },
  'top-ups': {
    '':
      'Look at the payment at the payment provider, which is right. Too little in the ledger: send its event again from there, ' +
      'which books once. Too much: loopstream admin audit says whether staff did it.',
  },
  deposits: {
    'credits for its amount':
      'The payment was credited at another worth than its amount at its rate. Compare it with the transaction on the chain, and ' +
      'give credit or take it up with the customer.',
    '':
      'Look at the transactions of the deposit on the chain, which is right, and at the role billing’s log. What is missing can be ' +
      'given: loopstream admin grant, with the transaction as the reason.',
  },
  invoices: {
    'sum of the lines':
      'The invoice was changed past its trigger. The copy that was sent is right: restore it from a backup.',
    'numbers of the series':
      'An invoice was removed, or the counter was changed. Restore the invoice from a backup: a number that was given must stay.',
    '':
      'What is billed is not what was charged. Correct an invoice that says too much: loopstream admin credit-note. What is missing ' +
      'stands on none: see whether invoice_progress was changed.',
  },
  staff: {
    '':
      'Credit moved in the name of staff and the audit does not say so, or the other way round. See who has the database’s ' +
      'password, and reverse what nobody answers for.',
  },
};

/** A sentence or two. */
export function findRemedy(noun: string, what: string): string {
  const own = REMEDIES[noun] ?? {};
  return own[what] ?? own[''] ?? 'Somebody who knows the service has to look at it.';
}

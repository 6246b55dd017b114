/** What operations do, for those whose routes say no more than a summary. Pure. */
import type { Operation } from '../operations/scopes.ts';

const PAGE = 'In pages: `page.nextCursor` is the `cursor` of the next one, and is null on the last.';
const OWN = 'Only what the account owns is found.';

export const DESCRIPTIONS: Partial<Record<Operation, string>> = {
  getStatus:
    'Whether the parts that the service needs answer. It needs no key, and is `degraded` rather than an error.',
  getOpenApi: 'This document, for generators of clients and for tools. It needs no key.',
  getMe: 'The user whose key or token it is.',
  listApiKeys: `The keys of the account that were not revoked, without their secrets. ${PAGE}`,
  listSessions: `The browsers in which the person has signed in. ${PAGE}`,
  endOtherSessions: 'Signs the person out everywhere but here.',
  endSession: 'Signs the person out in one browser.',
  listConnectedApps: `The programs that may act for the person, with what they may do. ${PAGE}`,
  getSignInOptions: 'Which ways of signing in the page offers. It needs no key.',
  getBilling: 'The balance, what is spent by the hour at present, and how long the balance lasts at that rate.',
  listLedgerEntries: `Each charge, top-up and correction with the balance after it. ${PAGE}`,
  listTopUps: `Payments by card, whatever became of them. ${PAGE}`,
  getTopUp: `A payment by card and its state. ${OWN}`,
  listInvoices: `What was invoiced, and what was credited again. ${PAGE}`,
  getBillingAddress: 'The name, the address and the tax ID that invoices show.',
  listCryptoDeposits: `Payments by crypto currencies, whatever became of them. ${PAGE}`,
  getCryptoDeposit: `A payment by a crypto currency, with what the chain shows of it. ${OWN}`,
};

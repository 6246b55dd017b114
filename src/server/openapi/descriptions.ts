/** What operations do, for those whose routes say no more than a summary. Pure. */
import type { Operation } from '../../lib/scopes.ts';

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
  listStreams: `The streams of the account; by \`status\`, or by a part of their names in \`q\`. ${PAGE}`,
  getStream: `A stream with its status and what it plays. ${OWN}`,
  updateStream: 'Changes the fields that are sent and no others.',
  getStreamSchedule: 'The schedule with the next times that it leads to.',
  scheduleStream: 'Sets when the stream goes on air and off air by itself: once, or again and again by `recurrence`.',
  unscheduleStream: 'The stream no longer goes on air by itself. A stream on air stays there.',
  getStreamReadiness:
    'Each issue has a code, a sentence and the field that has the fault; without issues the stream can be started.',
  getStreamLiveStats: 'Numbers of this moment, by destination, while the stream is on air.',
  getStreamPreview: 'The picture and the sound that are sent, a moment later, until the client ends it.',
  createDestination: 'Keeps the address and the key to publish to. The key is never told again.',
  listDestinations: `Where the account’s streams can be sent, without keys. ${PAGE}`,
  getDestination: `A destination, without its key. ${OWN}`,
  createUploadFromLink:
    'Begins to fetch the file; `state` of the upload says how far it is. Media are prepared once, for all streams.',
  listUploads: `The media of the account. ${PAGE}`,
  getUpload: `An upload with its state, and with why it failed where it did. ${OWN}`,
  getResumableUploadOptions: 'The versions and extensions of tus, and the largest file. It needs no key.',
  getResumableUpload: 'In headers: where to go on sending.',
  cancelResumableUpload: 'What has come is thrown away, and no longer counts.',
  listPlaylists: `The playlists of the account, without their items. ${PAGE}`,
  getPlaylist: `A playlist with its items. ${OWN}`,
};

/**
 * Keeps the bytes of docs/openapi.json: in some operations the description stands after the responses. A new operation does not
 * need to be listed here.
 * Pure: no I/O, no clock.
 */
const DESCRIBED_LAST = new Set([
  'createDestination',
  'listDestinations',
  'getDestination',
  'getStatus',
  'getOpenApi',
  'getMe',
  'listApiKeys',
  'listSessions',
  'endOtherSessions',
  'endSession',
  'listConnectedApps',
  'getSignInOptions',
  'getBilling',
  'listLedgerEntries',
  'listTopUps',
  'getTopUp',
  'listInvoices',
  'getBillingAddress',
  'listCryptoDeposits',
  'getCryptoDeposit',
  'listStreams',
  'getStream',
  'updateStream',
  'getStreamSchedule',
  'scheduleStream',
  'unscheduleStream',
  'getStreamReadiness',
  'getStreamLiveStats',
  'getStreamPreview',
  'createUploadFromLink',
  'listUploads',
  'getUpload',
  'getResumableUploadOptions',
  'getResumableUpload',
  'cancelResumableUpload',
  'listPlaylists',
  'getPlaylist',
]);

export const isDescribedLast = (id: string): boolean => DESCRIBED_LAST.has(id);

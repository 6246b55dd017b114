/** Which codes of errors.ts each operation may answer with. Pure: no I/O, no clock. */

import type { ErrorCode } from '../../lib/errors.ts';
import {
  isOpenWhileSuspended,
  OPERATION_SCOPES,
  type Operation,
  PERSON,
  takesIdempotencyKey,
} from '../../lib/scopes.ts';
import { collectionOf } from './document.ts';

/** Codes that any operation may answer with, beside those of its own. */
const COMMON: ErrorCode[] = [
  ...(['malformed_request', 'request_timeout', 'headers_too_large'] as const),
  ...(['rate_limited', 'internal', 'shutting_down'] as const),
];
const GUARDED: ErrorCode[] = ['unauthenticated', 'upstream_unavailable'];
const WITH_BODY: ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

const SENDING: ErrorCode[] = ['too_many_uploads_at_once', 'server_busy'];

const OWN: Partial<Record<Operation, ErrorCode[]>> = {
  watchChanges: ['too_many_feeds', 'server_busy'],
  createApiKey: ['api_key_quota_exceeded', 'conflict'],
  deleteAccount: ['not_confirmed'],
  updateStream: ['conflict'],
  deleteStream: ['conflict'],
  startStream: ['stream_not_ready', 'insufficient_credits', 'conflict'],
  stopStream: ['conflict'],
  skipStreamItem: ['stream_not_live', 'conflict'],
  scheduleStream: ['conflict'],
  unscheduleStream: ['conflict'],
  getStreamPreview: ['stream_not_live', 'too_many_previews', 'server_busy'],
  createDestination: ['destination_forbidden'],
  updateDestination: ['destination_forbidden', 'conflict'],
  deleteDestination: ['destination_in_use', 'conflict'],
  testDestination: ['destination_on_air', 'conflict'],
  createUploadFromLink: ['link_forbidden', 'upload_quota_exceeded'],
  retryUpload: [
    'upload_not_failed',
    'upload_not_from_link',
    'link_forbidden',
    'quota_exceeded',
    'upload_quota_exceeded',
    'conflict',
  ],
  createResumableUpload: [
    ...(['upload_quota_exceeded', 'upload_conflict', 'media_too_large', 'tus_version_unsupported'] as const),
    ...(['upload_not_found', 'upload_checksum_mismatch'] as const),
    ...SENDING,
  ],
  getResumableUpload: ['upload_conflict', 'tus_version_unsupported'],
  appendToResumableUpload: [
    ...(['upload_conflict', 'upload_is_final', 'upload_checksum_mismatch', 'upload_quota_exceeded'] as const),
    ...(['media_too_large', 'tus_version_unsupported'] as const),
    ...SENDING,
  ],
  cancelResumableUpload: ['upload_conflict', 'conflict', 'tus_version_unsupported'],
  getUploadPreview: ['upload_not_prepared'],
  deleteUpload: ['upload_in_use', 'conflict'],
  // The contract declares 404 for this list too.
  listPlaylists: ['route_not_found'],
  createPlaylist: ['conflict'],
  updatePlaylist: ['quota_exceeded', 'playlist_version_conflict', 'conflict'],
  changePlaylist: ['playlist_version_conflict', 'conflict'],
  publishPlaylist: ['playlist_version_not_found', 'playlist_not_playable', 'conflict'],
  rollbackPlaylist: ['playlist_version_not_found', 'playlist_not_playable', 'playlist_version_conflict', 'conflict'],
  getPlaylistVersion: ['playlist_version_not_found'],
  diffPlaylistVersion: ['playlist_version_not_found'],
  deletePlaylist: ['playlist_in_use', 'conflict'],
  getBilling: ['billing_disabled'],
  getUsage: ['billing_disabled'],
  listLedgerEntries: ['billing_disabled'],
  createTopUp: ['topups_disabled', 'topups_unavailable', 'upstream_unavailable'],
  listCryptoAssets: ['crypto_disabled'],
  createCryptoDeposit: [
    ...(['crypto_disabled', 'crypto_unavailable', 'crypto_rate_unavailable', 'crypto_deposit_quota_exceeded'] as const),
  ],
  listCryptoDeposits: ['crypto_disabled'],
  getCryptoDeposit: ['crypto_disabled'],
  receiveStripeEvent: [
    'webhook_forged',
    'topups_disabled',
    'topups_unavailable',
    'upstream_unavailable',
    'payload_too_large',
  ],
};

/** By the collection that an id is of, see `collectionOf`. */
const NOT_FOUND: Record<string, ErrorCode> = {
  streams: 'stream_not_found',
  destinations: 'destination_not_found',
  uploads: 'upload_not_found',
  resumable: 'upload_not_found',
  playlists: 'playlist_not_found',
  'api-keys': 'api_key_not_found',
  sessions: 'session_not_found',
  'connected-apps': 'connected_app_not_found',
  'top-ups': 'topup_not_found',
  invoices: 'invoice_not_found',
  deposits: 'crypto_deposit_not_found',
};

export interface Shape {
  /** In lower case. */
  method: string;
  /** With the version, e.g. `/v1/streams/{id}`. */
  path: string;
  hasBody: boolean;
  hasParameters: boolean;
}

/** Each once; a path with a parameter may be so malformed that there is nothing at it. */
export function codesOf(id: Operation, { method, path, hasBody, hasParameters }: Shape): ErrorCode[] {
  const scope: string | null = OPERATION_SCOPES[id];
  const open = scope === null;
  const notFound = path.includes('{') ? NOT_FOUND[collectionOf(path)] : undefined;
  return [
    ...new Set<ErrorCode>([
      ...(open ? [] : GUARDED),
      ...(open || isOpenWhileSuspended(id) ? [] : (['account_suspended'] as const)),
      ...(open ? [] : [scope === PERSON ? ('person_required' as const) : ('insufficient_scope' as const)]),
      ...(open || method === 'get' || method === 'head' ? [] : (['cross_site_request'] as const)),
      ...(notFound ? [notFound] : []),
      ...(path.includes('{') ? (['route_not_found'] as const) : []),
      ...(OWN[id] ?? []),
      ...(takesIdempotencyKey(id, method) ? (['idempotency_key_reused', 'quota_exceeded'] as const) : []),
      ...(hasBody ? WITH_BODY : []),
      ...(hasBody || hasParameters ? (['validation_failed'] as const) : []),
      ...COMMON,
    ]),
  ];
}

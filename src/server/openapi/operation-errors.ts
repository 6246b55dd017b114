/** Which codes of errors.ts each operation may answer with. Pure: no I/O, no clock. */

import type { ErrorCode } from '../../lib/errors.ts';
import { PERSON } from '../../lib/scopes.ts';
import { findOperation } from '../operations/list.ts';
import { isOpenWhileSuspended, OPERATION_SCOPES, type Operation, takesIdempotencyKey } from '../operations/scopes.ts';
import { collectionOf } from './document.ts';

/** Codes that any operation may answer with, beside those of its own. */
const COMMON: ErrorCode[] = [
  ...(['malformed_request', 'request_timeout', 'headers_too_large'] as const),
  ...(['rate_limited', 'internal', 'shutting_down'] as const),
];
const GUARDED: ErrorCode[] = ['unauthenticated', 'upstream_unavailable'];
const WITH_BODY: ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

const OWN: Partial<Record<Operation, ErrorCode[]>> = {
  watchChanges: ['too_many_feeds', 'server_busy'],
  createApiKey: ['api_key_quota_exceeded', 'conflict'],
  deleteAccount: ['not_confirmed'],
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
  const declared = findOperation(id);
  const notFound = path.includes('{') ? (declared?.object?.notFound ?? NOT_FOUND[collectionOf(path)]) : undefined;
  return [
    ...new Set<ErrorCode>([
      ...(open ? [] : GUARDED),
      ...(open || isOpenWhileSuspended(id) ? [] : (['account_suspended'] as const)),
      ...(open ? [] : [scope === PERSON ? ('person_required' as const) : ('insufficient_scope' as const)]),
      ...(open || method === 'get' || method === 'head' ? [] : (['cross_site_request'] as const)),
      ...(notFound ? [notFound] : []),
      ...(path.includes('{') ? (['route_not_found'] as const) : []),
      ...(declared?.errors ?? OWN[id] ?? []),
      ...(takesIdempotencyKey(id, method) ? (['idempotency_key_reused', 'quota_exceeded'] as const) : []),
      ...(hasBody ? WITH_BODY : []),
      ...(hasBody || hasParameters ? (['validation_failed'] as const) : []),
      ...COMMON,
    ]),
  ];
}

/** Lists the codes that an operation can fail with: its own, and those of its method, scope and parameters. Pure: no I/O, no clock. */
import type { ErrorCode } from '../../lib/errors.ts';
import { PERSON } from '../../lib/scopes.ts';
import type { AnyOperation } from '../operations/list.ts';
import { isOpenToLimitedKeys, isOpenWhileSuspended, takesIdempotencyKey } from '../operations/scopes.ts';

/** Codes of any operation, beside its own. */
const COMMON: ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'rate_limited',
  'internal',
  'shutting_down',
];
const GUARDED: ErrorCode[] = ['unauthenticated', 'api_key_expired', 'upstream_unavailable'];
const WITH_BODY: ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

export interface Shape {
  /** In lower case. */
  method: string;
  /** With the version, e.g. `/v1/streams/{id}`. */
  path: string;
  hasBody: boolean;
  hasParameters: boolean;
}

/** Lists each code once; a path with a malformed parameter may match no route. */
export function listCodes(operation: AnyOperation, { method, path, hasBody, hasParameters }: Shape): ErrorCode[] {
  const { id, scope, errors = [], object, run } = operation;
  const open = scope === null;
  const notFound = path.includes('{') ? object?.notFound : undefined;
  return [
    ...new Set<ErrorCode>([
      ...(open ? [] : GUARDED),
      ...(open || isOpenWhileSuspended(id) ? [] : (['account_suspended'] as const)),
      ...(open || scope === PERSON || isOpenToLimitedKeys(id) ? [] : (['key_limited'] as const)),
      ...(open ? [] : [scope === PERSON ? ('person_required' as const) : ('insufficient_scope' as const)]),
      ...(open || method === 'get' || method === 'head' ? [] : (['cross_site_request'] as const)),
      ...(scope === 'write' && (run || method === 'post') ? (['too_many_writes'] as const) : []),
      ...(notFound ? [notFound] : []),
      ...(path.includes('{') ? (['route_not_found'] as const) : []),
      ...errors,
      ...(takesIdempotencyKey(id, method) ? (['idempotency_key_reused', 'quota_exceeded'] as const) : []),
      ...(hasBody ? WITH_BODY : []),
      ...(hasBody || hasParameters ? (['validation_failed'] as const) : []),
      ...COMMON,
    ]),
  ];
}

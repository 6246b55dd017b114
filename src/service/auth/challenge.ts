/**
 * Builds the challenge that shows a refused client how to get a token (RFC 6750, section 3; RFC 9728, section 5.1).
 * Pure: no I/O, no clock.
 */
import type { AppError } from '../lib/errors.ts';
import { PROTECTED_RESOURCE_PATHS, type TokenResource } from './addresses.ts';

/** `hadToken`: whether the request came with a token at all; without one the challenge names no error. */
export interface ChallengedRequest {
  publicUrl: string;
  hadToken: boolean;
  /** The requested resource. */
  resource?: TokenResource;
  /** The path of the request: an address with a slash at its end has a document that names it so (RFC 9728, section 3.3). */
  path?: string;
}

/** The header WWW-Authenticate for 401 and, where a scope is missing, for 403; undefined for all else. */
export function buildChallenge({ status, code, extras }: AppError, asked: ChallengedRequest): string | undefined {
  const { publicUrl, hadToken, resource = 'api', path = '' } = asked;
  const slash = resource === 'agents' && /\/(\?|$)/.test(path) ? '/' : '';
  const metadata = `resource_metadata="${publicUrl}${PROTECTED_RESOURCE_PATHS[resource]}${slash}"`;
  if (code === 'insufficient_scope')
    return `Bearer error="insufficient_scope", scope="${String(extras.scope)}", ${metadata}`;
  if (status !== 401) return undefined;
  const bearer = hadToken ? `Bearer error="invalid_token", ${metadata}` : `Bearer ${metadata}`;
  return resource === 'api' ? `${bearer}, ApiKey realm="loopstream"` : bearer;
}

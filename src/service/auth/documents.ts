/**
 * Builds the discovery documents of the authorization server: RFC 8414, OpenID Connect Discovery 1.0 and RFC 9728.
 * Pure: no I/O, no clock.
 */

import { SCOPES } from '../lib/scopes.ts';
import { AUTH_PATH, listResources, type TokenResource } from './addresses.ts';
import { CLIENT_AUTHENTICATION, GRANTS } from './requests.ts';

interface Site {
  publicUrl: string;
  scopePrefix: string;
}

const ownScopes = (prefix: string): string[] => SCOPES.map((scope) => `${prefix}:${scope}`);

/** Only what can be reached (server/auth/paths.ts) and what is taken is named. */
export function serverMetadata({ publicUrl, scopePrefix }: Site) {
  const at = (path: string) => `${publicUrl}${AUTH_PATH}${path}`;
  return {
    issuer: publicUrl,
    authorization_endpoint: at('/oauth2/authorize'),
    token_endpoint: at('/oauth2/token'),
    registration_endpoint: at('/oauth2/register'),
    revocation_endpoint: at('/oauth2/revoke'),
    userinfo_endpoint: at('/oauth2/userinfo'),
    jwks_uri: at('/jwks'),
    scopes_supported: [...ownScopes(scopePrefix), 'openid', 'profile', 'email', 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...GRANTS],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'name', 'email', 'email_verified'],
    prompt_values_supported: ['login', 'consent', 'none'],
    service_documentation: `${publicUrl}/docs`,
  };
}

/** A resource names itself exactly as clients ask for it (RFC 9728, section 3.3). */
export function resourceMetadata({ publicUrl, scopePrefix }: Site, resource: TokenResource) {
  return {
    resource: listResources(publicUrl)[resource],
    authorization_servers: [publicUrl],
    // Without it a client that asks for what is named here gets no refresh token.
    scopes_supported: [...ownScopes(scopePrefix), 'offline_access'],
    bearer_methods_supported: ['header'],
    resource_name: resource === 'api' ? 'loopstream API' : 'loopstream tools for agents',
    resource_documentation: `${publicUrl}/docs`,
  };
}

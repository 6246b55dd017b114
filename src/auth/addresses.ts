/**
 * Where things of the authorization server are. The paths are the contract's.
 * Pure: no I/O, no clock.
 */

/** Below it are the paths of doors.ts. */
export const AUTH_PATH = '/api/auth';
/** Pages of the dashboard, which send the query they were opened with back as `oauth_query`. */
export const SIGN_IN_PAGE = '/sign-in';
export const CONSENT_PAGE = '/consent';
/** The agents' tools. */
export const AGENTS_PATH = '/mcp';

/** What tokens can be made for (RFC 8707): REST and GraphQL are one, the agents' tools another. */
export const resourcesOf = (publicUrl: string) => ({ api: publicUrl, agents: `${publicUrl}${AGENTS_PATH}` });

export type Resource = keyof ReturnType<typeof resourcesOf>;

/** RFC 9728, section 3.1: the path of the resource comes after the well-known one. */
export const PROTECTED_RESOURCE_PATHS: Record<Resource, string> = {
  api: '/.well-known/oauth-protected-resource',
  agents: `/.well-known/oauth-protected-resource${AGENTS_PATH}`,
};

export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
export const OPENID_METADATA_PATH = '/.well-known/openid-configuration';

/** Over TLS with the prefix that lets no other host set it (RFC 6265bis, section 4.1.3.2). */
export const sessionCookieOf = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-loopstream.session' : 'loopstream.session';

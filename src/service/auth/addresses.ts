/** Lists the addresses of the authorization server. The paths are the contract's. Pure: no I/O, no clock. */

/** Below it are the paths of server/auth/paths.ts. */
export const AUTH_PATH = '/api/auth';
/** Pages of the dashboard, which send the query they were opened with back as `oauth_query`. */
export const SIGN_IN_PAGE = '/sign-in';
export const CONSENT_PAGE = '/consent';
/** The agents' tools. */
export const AGENTS_PATH = '/mcp';

/** The resources that tokens can be made for (RFC 8707): REST and GraphQL are one, the agents' tools another. */
export const listResources = (publicUrl: string) => ({ api: publicUrl, agents: `${publicUrl}${AGENTS_PATH}` });

export type TokenResource = keyof ReturnType<typeof listResources>;

/** RFC 9728, section 3.1: the path of the resource comes after the well-known one. */
export const PROTECTED_RESOURCE_PATHS: Record<TokenResource, string> = {
  api: '/.well-known/oauth-protected-resource',
  agents: `/.well-known/oauth-protected-resource${AGENTS_PATH}`,
};

export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
export const OPENID_METADATA_PATH = '/.well-known/openid-configuration';

/** Over TLS with the prefix that lets no other host set it (RFC 6265bis, section 4.1.3.2). */
export const cookieName = (publicUrl: string, name: string): string =>
  publicUrl.startsWith('https:') ? `__Host-loopstream.${name}` : `loopstream.${name}`;

export const sessionCookieName = (publicUrl: string): string => cookieName(publicUrl, 'session');

/** The cookie in which a browser keeps an API key (server/auth/key-session.ts). */
export const keyCookieName = (publicUrl: string): string => cookieName(publicUrl, 'key');

/** The value of a cookie, as it was sent (RFC 6265, section 4.2). */
export function readCookie(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const [key, ...value] = part.split('=');
    if (key?.trim() === name) return value.join('=').trim();
  }
  return undefined;
}

/** A code that a page has words for; any other code came from elsewhere. */
const ERROR_CODE = /^[A-Za-z_]{1,60}$/;

/**
 * Returns the redirect for a user who comes back from an outside provider to `location` without being signed in. It
 * leads to the sign-in page with a code of the reason, and none of the provider's own text. Undefined for any other
 * location.
 */
export function findOutsideFailure(location: string, publicUrl: string): string | undefined {
  if (!URL.canParse(location, publicUrl)) return undefined;
  const url = new URL(location, publicUrl);
  const error = url.searchParams.get('error');
  if (error === null || url.origin !== new URL(publicUrl).origin) return undefined;
  const query = url.pathname === SIGN_IN_PAGE ? url.searchParams : new URLSearchParams();
  for (const name of ['error', 'error_description']) query.delete(name);
  query.set('error', ERROR_CODE.test(error) ? error : 'failed');
  return `${publicUrl}${SIGN_IN_PAGE}?${query}`;
}

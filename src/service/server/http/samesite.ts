/**
 * Checks that a request with a cookie comes from our own page. Another site's page can make a browser send one, but can change
 * neither header (Fetch Metadata, section 2.4; RFC 6454, section 7).
 * Pure: no I/O, no clock.
 */
import { AppError } from '../../lib/errors.ts';

type Headers = Record<string, string | string[] | undefined>;

/** Older browsers lack the first header and send the second. A request with neither does not come from our page. */
export const isOwnPage = (headers: Headers, publicUrl: string): boolean =>
  headers['sec-fetch-site'] === undefined
    ? headers.origin === new URL(publicUrl).origin
    : headers['sec-fetch-site'] === 'same-origin' || headers.origin === new URL(publicUrl).origin;

/** Safe methods change nothing (RFC 9110, section 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

export const crossSite = (): AppError =>
  new AppError(
    'cross_site_request',
    'A request with a session cookie must come from a page of this service. Programs send an API key or an access token.',
  );

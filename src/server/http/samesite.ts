/**
 * Whether a request that a browser adds a cookie to comes from our own page. Another site's page can make a browser send one,
 * and can change neither header (Fetch Metadata, section 2.4; RFC 6454, section 7).
 * Pure: no I/O, no clock.
 */
import { AppError } from '../../lib/errors.ts';

type Headers = Record<string, string | string[] | undefined>;

/** Browsers that are too old for the first header send the second one. Who sends neither is no page of ours. */
export const isOwnPage = (headers: Headers, publicUrl: string): boolean =>
  headers['sec-fetch-site'] === undefined
    ? headers.origin === new URL(publicUrl).origin
    : headers['sec-fetch-site'] === 'same-origin' || headers.origin === new URL(publicUrl).origin;

/** These change nothing (RFC 9110, section 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

export const crossSite = (): AppError =>
  new AppError('cross_site_request', 'A request with a session cookie must come from a page of this service.');

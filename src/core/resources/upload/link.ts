/**
 * Checks the target of a link as far as its text shows, so that a stranger's link cannot reach our own network
 * (server-side request forgery). The API refuses a bad link at once. The Job checks again for every redirect, name and
 * connection (pods/prepare/link/guard.ts). Pure: no I/O, no clock.
 */
import { hostRefusal } from '../../lib/public-address.ts';

/** A zone (RFC 6874) in an address; no URL with one can be parsed (WHATWG URL, 3.5). */
function hasZone(link: string): boolean {
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(link) ?? [];
  return /^\[[^\]]*%/.test(authority.slice(authority.lastIndexOf('@') + 1));
}

/**
 * Why nothing may be imported from a link, in a sentence; undefined when its text is no reason. Parsing has turned decimal,
 * octal, hexadecimal and short spellings of an IPv4 address into the usual one by then.
 */
export function findLinkRefusal(link: string | URL, allowPrivate: boolean): string | undefined {
  if (hasZone(String(link)))
    return 'The link has an IPv6 address with a zone, which is valid on one machine only. Use a public address.';
  const url = URL.parse(String(link));
  if (!url) return undefined;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https links can be imported.';
  // Below 1024 live mail, name and file servers, which a crafted request could talk to.
  if (url.port !== '' && Number(url.port) < 1024 && url.port !== '80' && url.port !== '443') {
    return `Port ${url.port} is not allowed. Use port 80, 443 or a port above 1023.`;
  }
  return hostRefusal(url.hostname, allowPrivate);
}

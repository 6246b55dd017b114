/**
 * Where a link may lead, as far as its text tells: what keeps a link that a stranger names from reaching our own network
 * (server-side request forgery). The API refuses by it at once, the Job asks again for every redirect, name and connection
 * (prepare/guard.ts). Pure: no I/O, no clock.
 */
import ipaddr from 'ipaddr.js';

/** Ranges that `make run` and private installations may allow; never link-local, where clouds keep their credentials. */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);
/** RFC 4291 2.4: global unicast. Everything outside is reserved, local or a way to write an IPv4 address. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Whether a connection to this address (as a socket or DNS writes it) is allowed. Whatever is not understood is not. */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  // A zone (fe80::1%eth0) names one of our own interfaces.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (allowPrivate && PRIVATE_RANGES.has(range)) return true;
  if (range !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
}

/** RFC 6761 6.3: whatever DNS says of them, these names are this machine. */
const LOCALHOST = /(^|\.)localhost\.?$/;

/** Why nothing may be imported from a host, with or without brackets; undefined when it may, or when only DNS can tell. */
export function hostRefusal(hostname: string, allowPrivate: boolean): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLiteral = host.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(host);
  const allowed = isLiteral ? isAllowedAddress(host, allowPrivate) : allowPrivate || !LOCALHOST.test(host);
  return allowed ? undefined : `${isLiteral ? `The address ${host}` : host} is not a public one.`;
}

/** A zone (RFC 6874) in an address; no URL with one can be parsed (WHATWG URL, 3.5). */
const ZONE = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*@)?\[[^\]/?#]*%/i;

/**
 * Why nothing may be imported from a link, in a sentence; undefined when its text is no reason. Parsing has turned decimal,
 * octal, hexadecimal and short spellings of an IPv4 address into the usual one by then.
 */
export function linkRefusal(link: string | URL, allowPrivate: boolean): string | undefined {
  if (ZONE.test(String(link))) return 'An address with a zone names an interface of our own.';
  const url = URL.parse(String(link));
  if (!url) return undefined;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https links can be imported.';
  // Below 1024 live mail, name and file servers, which a crafted request could talk to.
  if (url.port !== '' && Number(url.port) < 1024 && url.port !== '80' && url.port !== '443') {
    return `Port ${url.port} is not allowed: use 80, 443 or one above 1023.`;
  }
  return hostRefusal(url.hostname, allowPrivate);
}

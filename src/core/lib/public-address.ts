/**
 * Decides to which addresses and hosts users may have us connect, as far as their text shows: for links to import from,
 * and for destinations. Pure: no I/O, no clock.
 */
import ipaddr from 'ipaddr.js';

/** Ranges that `make run` and private installations may allow; never link-local, where clouds keep their credentials. */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);
/** RFC 4291 2.4: global unicast. Everything outside is reserved, local or a way to write an IPv4 address. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Reports whether a connection to this address (as a socket or DNS writes it) is allowed. An address that cannot be
 * parsed is not.
 */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  // A zone (fe80::1%eth0) names one of our own interfaces.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (allowPrivate && PRIVATE_RANGES.has(range)) return true;
  if (range !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
}

const isLiteral = (host: string): boolean => host.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(host);

/**
 * Names that the public DNS does not have, and networks of their own do: those of Kubernetes, of RFC 6761, 6762 and 8375, and what
 * ICANN keeps free for them.
 */
const INTERNAL_NAME = /(^|\.)(localhost|local|internal|svc|lan|home|corp|mail|intranet|private|home\.arpa)$/;

/**
 * Reports whether a name belongs to a private network, as far as its text shows. Such a name is not even resolved: the
 * presence of an answer would reveal names of the cluster.
 */
export function isInternalHost(host: string, allowPrivate: boolean): boolean {
  if (isLiteral(host)) return !isAllowedAddress(host, allowPrivate);
  const name = host.toLowerCase().replace(/\.$/, '');
  return !allowPrivate && (!name.includes('.') || INTERNAL_NAME.test(name));
}

/** Why nothing may be imported from a host, with or without brackets; undefined when it may, or when only DNS can tell. */
export function hostRefusal(hostname: string, allowPrivate: boolean): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!isInternalHost(host, allowPrivate)) return undefined;
  return `${isLiteral(host) ? 'Address' : 'Host'} ${host} is not public.`;
}

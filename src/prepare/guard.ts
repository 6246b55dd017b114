/**
 * What keeps a link that a user names from reaching our own network (server-side request forgery). Three gates, because
 * each alone leaks: the literal in the URL (no lookup happens for it), the answers of DNS, and the address that the socket
 * is really connected to. Redirects pass the same gates, hop by hop.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';
import { PrepareError } from './failure.ts';

/** Ranges that `make run` and private installations may allow; never link-local, where clouds keep their credentials. */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);
/** RFC 4291 2.4: global unicast. Everything outside is reserved, local or a way to write an IPv4 address. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;

const forbidden = (detail: string) => new PrepareError('link_forbidden', detail);

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

/**
 * The parsed link. Throws PrepareError: link_unreachable for another scheme or a port of a system service, link_forbidden
 * for an address that is not allowed; WHATWG URL parsing has already turned decimal, octal and hexadecimal spellings into the usual one.
 */
export function checkLink(link: string | URL, allowPrivate: boolean): URL {
  const url = URL.parse(String(link));
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new PrepareError('link_unreachable', 'Only http and https links can be imported.');
  }
  // Below 1024 live mail, name and file servers, which a crafted request could talk to.
  if (url.port !== '' && Number(url.port) < 1024 && url.port !== '80' && url.port !== '443') {
    throw new PrepareError('link_unreachable', `Port ${url.port} is not allowed: use 80, 443 or one above 1023.`);
  }
  checkLiteral(url.hostname, allowPrivate);
  return url;
}

function checkLiteral(hostname: string, allowPrivate: boolean): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowedAddress(host, allowPrivate)) {
    throw forbidden(`The address ${host} is not a public one.`);
  }
}

/** DNS as node:net asks for it; tests bring their own answers. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** One forbidden answer among good ones refuses the name: it is an attack or a mistake, and luck must not decide. */
const guardedLookup =
  (allowPrivate: boolean, lookup: Lookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address, allowPrivate));
      if (bad) return callback(forbidden(`${hostname} leads to the address ${bad.address}.`), []);
      const first = addresses[0];
      if (options.all) return callback(null, addresses);
      return first ? callback(null, first.address, first.family) : callback(new Error('No address.'), []);
    });
  };

/** An undici Agent whose every connection passes the gates. HTTP/1.1 only; it follows no redirect. Close it after use. */
export function guardedAgent(allowPrivate: boolean, lookup: Lookup = dnsLookup): Agent {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: guardedLookup(allowPrivate, lookup),
  });
  return new Agent({
    headersTimeout: SILENCE_TIMEOUT_MS,
    bodyTimeout: SILENCE_TIMEOUT_MS,
    connect(options, callback) {
      try {
        checkLiteral(options.hostname, allowPrivate);
      } catch (error) {
        return callback(error as Error, null);
      }
      connect(options, (...result) => {
        const [error, socket] = result;
        if (error) return callback(error, null);
        if (isAllowedAddress(socket?.remoteAddress ?? '', allowPrivate)) return callback(...result);
        socket?.destroy();
        callback(forbidden('The connection leads to an address that is not public.'), null);
      });
    },
  });
}

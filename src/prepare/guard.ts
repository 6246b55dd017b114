/**
 * What keeps a link that a user names from reaching our own network (server-side request forgery). Three gates, because
 * each alone leaks: the literal in the URL (no lookup happens for it), the answers of DNS, and the address that the socket
 * is really connected to. Redirects pass the same gates, hop by hop.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { hostRefusal, isAllowedAddress } from '../public-address.ts';
import { linkRefusal } from '../uploads/link.ts';
import { PrepareError } from './failure.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;

const forbidden = (detail: string) => new PrepareError('link_forbidden', detail);

/** The parsed link. Throws PrepareError link_forbidden when its text tells that nothing may be imported from there. */
export function checkLink(link: string | URL, allowPrivate: boolean): URL {
  const refusal = linkRefusal(link, allowPrivate);
  if (refusal !== undefined) throw forbidden(refusal);
  const url = URL.parse(String(link));
  if (!url) throw new PrepareError('link_unreachable', 'It is not a URL.');
  return url;
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
      const refusal = hostRefusal(options.hostname, allowPrivate);
      if (refusal !== undefined) return callback(forbidden(refusal), null);
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

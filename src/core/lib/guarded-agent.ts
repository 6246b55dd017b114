/**
 * Keeps an address that a user names from reaching our own network (server-side request forgery). Three gates check it,
 * because each alone leaks: the literal in the URL (which causes no DNS lookup), the answers of DNS, and the address
 * that the socket connects to. Redirects pass the same gates, hop by hop.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { hostRefusal, isAllowedAddress } from './public-address.ts';

/** Name and TLS included. */
const CONNECT_TIMEOUT_MS = 10_000;
export const SILENCE_TIMEOUT_MS = 30_000;

/** DNS as node:net queries it; tests bring their own answers. */
export type AddressLookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface AddressGuardOptions {
  /** Whether addresses of private networks may be asked. */
  allowPrivate: boolean;
  lookup?: AddressLookup | undefined;
  connectTimeoutMs?: number | undefined;
  /** Makes the error of a host whose text, or of a connection whose end, is not allowed; `detail` is a whole sentence. */
  forbid: (detail: string) => Error;
}

/**
 * As a name without an answer fails: else strangers could try out which names our own networks have. The message is for the log alone, and
 * the code for what people read.
 */
const asUnknown = (detail: string) => Object.assign(new Error(detail), { code: 'ENOTFOUND' });

/** One forbidden answer among good ones refuses the name: it is an attack or a mistake, and luck must not decide. */
const guardedLookup =
  ({ allowPrivate, lookup = dnsLookup }: AddressGuardOptions): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address, allowPrivate));
      if (bad)
        return callback(asUnknown(`${hostname} resolves to the address ${bad.address}, which is not public.`), []);
      const first = addresses[0];
      if (options.all) return callback(null, addresses);
      return first
        ? callback(null, first.address, first.family)
        : callback(new Error('The host name has no address.'), []);
    });
  };

/** Makes connections that pass the gates. */
export function guardedConnector(options: AddressGuardOptions): buildConnector.connector {
  const { allowPrivate, forbid } = options;
  const connect = buildConnector({
    timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: guardedLookup(options),
  });
  return (target, callback) => {
    const refusal = hostRefusal(target.hostname, allowPrivate);
    if (refusal !== undefined) return callback(forbid(refusal), null);
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error) return callback(error, null);
      if (isAllowedAddress(socket?.remoteAddress ?? '', allowPrivate)) return callback(...result);
      socket?.destroy();
      callback(forbid('The connection goes to an address that is not public.'), null);
    });
  };
}

/** An undici Agent whose every connection passes the gates. HTTP/1.1 only; it follows no redirect. Close it after use. */
export const guardedAgent = (options: AddressGuardOptions): Agent =>
  new Agent({
    headersTimeout: SILENCE_TIMEOUT_MS,
    bodyTimeout: SILENCE_TIMEOUT_MS,
    connect: guardedConnector(options),
  });

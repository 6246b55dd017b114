/**
 * From a destination's host to the addresses that may be connected to. ffmpeg is handed one of these and resolves nothing itself, so
 * that the address that was checked is the one that it connects to.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { sleep } from '../../../lib/clock.ts';
import { isAllowedAddress, isInternalHost } from '../../../lib/public-address.ts';
import { type Failure, failure } from './failure.ts';

/** DNS as node:dns/promises asks for it; tests bring their own answers. */
export type DnsLookup = (host: string, options: { all: true }) => Promise<{ address: string }[]>;

export interface ResolveOptions {
  allowPrivate: boolean;
  lookup?: DnsLookup | undefined;
}

export type Resolved =
  | { addresses: [string, ...string[]]; failure?: undefined }
  | { addresses?: undefined; failure: Failure };

const RESOLVE_MS = 5000;
/** Names are resolved by threads that files are read by as well, four by default: those that hang must leave some. */
const MAX_LOOKUPS = 2;
let lookups = 0;
const waiting: (() => void)[] = [];

const FAILED: Resolved = { failure: failure('dns_failed') };

/**
 * The addresses of a host, in the order in which they should be tried. A name that does not exist, one that nobody answers for and one
 * with an address that is not allowed all fail alike: which of these it is tells what is in our network. One forbidden
 * address among good ones is an attack or a mistake, and luck must not decide.
 */
export async function resolveHost(
  host: string,
  { allowPrivate, lookup = dnsLookup }: ResolveOptions,
): Promise<Resolved> {
  if (isInternalHost(host, allowPrivate)) return FAILED;
  // With a dot at its end a name is looked up as it is, and not below the domains of the cluster.
  const absolute = allowPrivate || host.endsWith('.') || host.includes(':') ? host : `${host}.`;
  const over = new AbortController();
  const late = sleep(RESOLVE_MS, over.signal).then(none, none);
  const found = await Promise.race([ask(lookup, isIPv4(host) ? host : absolute), late]).finally(() => over.abort());
  const addresses = [...new Set(found.map(({ address }) => address))];
  const [first, ...others] = addresses;
  if (first === undefined || !addresses.every((address) => isAllowedAddress(address, allowPrivate))) return FAILED;
  return { addresses: [first, ...others] };
}

const none = () => [];
const isIPv4 = (host: string): boolean => /^[\d.]+$/.test(host);

async function ask(lookup: DnsLookup, host: string): Promise<{ address: string }[]> {
  while (lookups >= MAX_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
  lookups += 1;
  try {
    return await lookup(host, { all: true });
  } catch {
    return [];
  } finally {
    lookups -= 1;
    waiting.shift()?.();
  }
}

/**
 * Resolves a destination's host to addresses that may be connected to. ffmpeg gets one of them and resolves nothing
 * itself, so that it connects to the address that was checked.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { sleep } from '../../../lib/clock.ts';
import { isAllowedAddress, isInternalHost } from '../../../lib/public-address.ts';
import type { Failure } from '../../../protocol/codes.ts';
import { failure } from './failure.ts';

/** The signature of node:dns/promises; tests replace it. */
export type DnsLookup = (host: string, options: { all: true }) => Promise<{ address: string }[]>;

export interface ResolveOptions {
  allowPrivate: boolean;
  lookup?: DnsLookup | undefined;
}

export type Resolved =
  | { addresses: [string, ...string[]]; failure?: undefined }
  | { addresses?: undefined; failure: Failure };

const RESOLVE_MS = 5000;
/** Lookups use the threads that file reads use, four by default: hanging lookups must leave some free. */
const MAX_LOOKUPS = 2;
let lookups = 0;
const waiting: (() => void)[] = [];

const FAILED: Resolved = { failure: failure('dns_failed') };

/**
 * Returns the addresses of a host, in the order in which to try them. Unknown names, unanswered names and names with a
 * forbidden address fail alike: the difference would reveal our network. One forbidden address among good ones is an
 * attack or a mistake, and luck must not decide.
 */
export async function resolveHost(
  host: string,
  { allowPrivate, lookup = dnsLookup }: ResolveOptions,
): Promise<Resolved> {
  if (isInternalHost(host, allowPrivate)) return FAILED;
  // A dot at the end keeps the resolver from trying the cluster's domains.
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

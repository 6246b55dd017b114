/**
 * Tests a destination stage by stage, to report how far the attempt came. This module makes the steps that only an RTMP
 * server answers. The streamer's own transport makes the publish, and so reports the same as on air.
 */

import { type Clock, sleep, systemClock } from '../../lib/clock.ts';
import type { FailureCode } from '../../lib/codes/destinations.ts';
import type { GivenDestination } from '../../resources/destination/read.ts';
import type { ProbeResult, TestStage } from '../../resources/destination/spec.ts';
import type { Executable } from '../confinement/confine.ts';
import { type Address, AddressError, readAddress } from '../streamer/output/address.ts';
import { failure } from '../streamer/output/failure.ts';
import { type DnsLookup, resolveHost } from '../streamer/output/resolve.ts';
import { approach, type Stopped } from './approach.ts';
import { publish } from './publish.ts';

export interface ProbeOptions {
  /** The ffmpeg that sends. */
  sender: Executable;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  /** True where destinations at private addresses are allowed. */
  allowPrivate: boolean;
  lookup?: DnsLookup;
  /** Ends the test; its result is then meaningless. */
  signal?: AbortSignal;
  clock?: Clock;
}

/**
 * A refused host is reported after a whole number of these intervals. The delay of a name server would reveal whether
 * it knows the name.
 */
const EVEN_MS = 1000;
/** Limit of the addresses of one host that are tried. */
const MAX_ADDRESSES = 3;
/** Limit of the whole test, within the time that the caller waits. */
const LIMIT_MS = 20_000;
/** Limit until the publish is accepted: no longer than a stream waits, and long enough for a slow server. */
const ACCEPT_MS = { most: 10_000, least: 3000 };
const MAX_MESSAGE = 500;

/** Stages of failed publishes; codes without a stage of their own belong to the publish. */
const STAGES: Partial<Record<FailureCode, TestStage>> = {
  dns_failed: 'resolve',
  connection_refused: 'connect',
  unreachable: 'connect',
  tls_failed: 'tls',
};

/** Rejects only for a fault of our own. */
export async function probe(given: GivenDestination, options: ProbeOptions): Promise<ProbeResult> {
  const { clock = systemClock } = options;
  const startedMs = clock.monotonicMs();
  const elapsedMs = () => Math.round(clock.monotonicMs() - startedMs);
  const stopped = await attempt(given, options, elapsedMs);
  if (stopped?.failure.code === 'dns_failed') {
    const { message } = failure('dns_failed');
    const tookMs = Math.ceil((elapsedMs() + 1) / EVEN_MS) * EVEN_MS;
    await sleep(tookMs - elapsedMs(), options.signal).catch(() => undefined);
    return { ok: false, stage: 'resolve', code: 'dns_failed', message, tookMs };
  }
  if (!stopped) return { ok: true, stage: 'publish', message: 'The destination accepts media.', tookMs: elapsedMs() };
  const { code, message } = stopped.failure;
  return { ok: false, stage: stopped.stage, code, message: message.slice(0, MAX_MESSAGE), tookMs: elapsedMs() };
}

async function attempt(
  given: GivenDestination,
  { sender, caFile, allowPrivate, lookup, signal, clock = systemClock }: ProbeOptions,
  elapsedMs: () => number,
): Promise<Stopped | undefined> {
  let address: Address;
  try {
    address = readAddress(given);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return { stage: 'resolve', failure: failure('not_configured', error.message) };
  }
  const { addresses, failure: unresolved } = await resolveHost(address.host, { allowPrivate, lookup });
  if (unresolved) return { stage: 'resolve', failure: unresolved };
  let [ip] = addresses;
  if (address.format === 'flv') {
    let refused = await approach(address, ip);
    for (const other of addresses.slice(1, MAX_ADDRESSES)) {
      if (refused?.stage !== 'connect') break;
      ip = other;
      refused = await approach(address, ip);
    }
    if (refused) return refused;
  }
  const acceptMs = Math.max(ACCEPT_MS.least, Math.min(ACCEPT_MS.most, LIMIT_MS - elapsedMs()));
  const failed = await publish(address, ip, { sender, caFile, acceptMs, clock, ...(signal && { signal }) });
  if (!failed) return undefined;
  return { stage: STAGES[failed.code] ?? 'publish', failure: failed };
}

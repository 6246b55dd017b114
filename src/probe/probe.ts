/**
 * One attempt at a destination, stage by stage, so that it can be said how far it came. What no server but an RTMP server
 * would answer is asked here; the publish is made by the streamer's own transport, which then tells the same of it as it
 * would on air.
 */
import { lookup } from 'node:dns/promises';
import { type Clock, sleep, systemClock } from '../clock.ts';
import type { Program } from '../confine.ts';
import type { ProbeResult, TestStage } from '../destinations/spec.ts';
import { type Address, AddressError, addressOf } from '../streamer/address.ts';
import { type Failure, type FailureCode, failure } from '../streamer/failure.ts';
import { approach, type Stopped } from './approach.ts';
import { publish } from './publish.ts';

export interface ProbeOptions {
  ffmpeg: Program;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  /** Ends it; what it then answers says nothing. */
  signal?: AbortSignal;
  clock?: Clock;
}

/** Of a name server. */
const RESOLVE_MS = 5000;
/** All of it, so that whoever waits is told. */
const LIMIT_MS = 20_000;
/** For the publish to be accepted: no longer than a stream waits for it, and not so short that nobody could. */
const ACCEPT_MS = { most: 10_000, least: 3000 };
const MAX_MESSAGE = 500;

/** By what a publish says that failed; what has no place of its own happened at the publish. */
const STAGES: Partial<Record<FailureCode, TestStage>> = {
  dns_failed: 'resolve',
  connection_refused: 'connect',
  unreachable: 'connect',
  tls_failed: 'tls',
};

/** Never rejects but for a fault of our own. */
export async function probe(
  { rtmpUrl, rtmpKey }: { rtmpUrl: string; rtmpKey: string },
  options: ProbeOptions,
): Promise<ProbeResult> {
  const { clock = systemClock } = options;
  const startedMs = clock.monotonicMs();
  const elapsedMs = () => Math.round(clock.monotonicMs() - startedMs);
  const stopped = await attempt(rtmpUrl, rtmpKey, options, elapsedMs);
  if (!stopped) return { ok: true, stage: 'publish', message: 'The destination takes media.', tookMs: elapsedMs() };
  const { code, message } = stopped.failure;
  return { ok: false, stage: stopped.stage, code, message: message.slice(0, MAX_MESSAGE), tookMs: elapsedMs() };
}

async function attempt(
  rtmpUrl: string,
  rtmpKey: string,
  { ffmpeg, caFile, signal, clock = systemClock }: ProbeOptions,
  elapsedMs: () => number,
): Promise<Stopped | undefined> {
  let address: Address;
  try {
    address = addressOf(rtmpUrl, rtmpKey, caFile);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return { stage: 'resolve', failure: failure('not_configured', error.message) };
  }
  const unresolved = await resolve(address.host);
  if (unresolved) return { stage: 'resolve', failure: unresolved };
  const refused = address.format === 'flv' ? await approach(address) : undefined;
  if (refused) return refused;
  const acceptMs = Math.max(ACCEPT_MS.least, Math.min(ACCEPT_MS.most, LIMIT_MS - elapsedMs()));
  const failed = await publish(address, { ffmpeg, acceptMs, clock, ...(signal && { signal }) });
  if (!failed) return undefined;
  const stage = STAGES[failed.code] ?? 'publish';
  if (failed.code !== 'tls_failed') return { stage, failure: failed };
  const { certificateFault } = await import('../streamer/certificate.ts');
  const fault = await certificateFault(address.host, address.port, caFile);
  return { stage, failure: fault === undefined ? failed : failure('tls_failed', fault) };
}

async function resolve(host: string): Promise<Failure | undefined> {
  const over = new AbortController();
  const late = sleep(RESOLVE_MS, over.signal).then(
    () => failure('dns_failed', 'the name servers do not answer'),
    () => undefined,
  );
  const found = lookup(host).then(
    () => undefined,
    () => failure('dns_failed'),
  );
  return Promise.race([found, late]).finally(() => over.abort());
}

/**
 * Sends the stream to one destination: runs one ffmpeg at a time, starts it again when it ends, and kills it when it stalls.
 * Outputs do not affect each other.
 *
 * `connected` means that the destination takes media: ffmpeg reports output bytes only after the destination has accepted
 * the publish, and the bytes have grown between two reports within the last seconds.
 */
import { connect } from 'node:net';
import { type Clock, sleep } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import { DESTINATION_ACCEPTED, type Failure } from '../../../protocol/codes.ts';
import type { DestinationSecrets } from '../../../protocol/destinations.ts';
import { findLeastKbps } from '../../../resources/destination/least-bitrate.ts';
import { FIELDS } from '../../../resources/destination/read.ts';
import type { Executable } from '../../confinement/confine.ts';
import { type Address, AddressError, directTo, formatPlace, readAddress, readPlace } from './address.ts';
import type { Broadcaster } from './broadcaster.ts';
import { ConnectionAirtime } from './connection-airtime.ts';
import { ConnectionHealth, type HealthTimeouts } from './connection-health.ts';
import { backoffMs, classifySystem, failure } from './failure.ts';
import { LastingFailure } from './lasting-failure.ts';
import { logIn } from './login.ts';
import { OutputQueue } from './output-queue.ts';
import { Recovery } from './recovery.ts';
import { openRelay, type Relay } from './relay.ts';
import { type DnsLookup, resolveHost } from './resolve.ts';
import { SendingRate } from './sending-rate.ts';
import { FfmpegTransport } from './transport.ts';
import { unreceivedBytes } from './unreceived-bytes.ts';

/** The fields of one destination, as its owner wrote them; a missing field is empty. */
export interface OutputOptions {
  name: string;
  ffmpeg: Executable;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  /** True where destinations at private addresses are allowed. */
  allowPrivate: boolean;
  lookup?: DnsLookup | undefined;
  /** Returns the profile on air. */
  profile: () => string;
  /** Returns the name of another output that goes to this place, and was there first. */
  findTwin?: (place: string) => string | undefined;
  broadcaster: Broadcaster;
  clock: Clock;
  log: Logger;
  /** Called when the destination begins to take media. */
  onConnected?: () => void;
  /** Called when the destination has taken media between two moments of the monotonic clock. */
  onAirtime?: (sinceMs: number, untilMs: number) => void;
  /** Called when that many milliseconds of reported airtime did not reach the destination. */
  onAirtimeLost?: (ms: number) => void;
  /** Called when an attempt has failed, or the destination takes media or no longer does. */
  onChange?: () => void;
  timeouts?: Partial<OutputTimeouts>;
}

export interface OutputTimeouts extends HealthTimeouts {
  /** Time for ffmpeg to close its connection. */
  finishMs: number;
  /** Age at which a connection that carries MPEG-TS is replaced. */
  renewMs: number;
}

/**
 * ffmpeg makes MPEG-TS from FLV, and its demuxer loses all timestamps once 32 bits of milliseconds (49.7 days) have passed in
 * a process. A new process takes over long before: a break of about a second, announced in the log.
 */
const RENEW_MS = 30 * 86_400_000;
const TIMEOUTS: OutputTimeouts = { connectMs: 10_000, stallMs: 5000, finishMs: 3000, renewMs: RENEW_MS };
const SILENCE_MS = 1000;
/** Airtime on its way that may still arrive when ffmpeg ends in good order. */
const ON_ITS_WAY_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/** A destination that takes nothing from the relay for this long takes no bytes that ffmpeg reports. */
const BLOCKED_MS = 2000;

export interface OutputStats {
  name: string;
  connected: boolean;
  /** Time since which it has been connected without a break (RFC 3339); null while it is not. */
  connectedSince: string | null;
  bytesSent: number;
  /** Of the last minute; null until some seconds of a connection are measured. */
  bitrateKbps: number | null;
  /** Seconds of media that were sent in a second, of the last minute; null likewise. */
  pace: number | null;
  /** The least bitrate of the pictures: the destination's own, or what its platform takes for healthy; null where there is none. */
  leastBitrateKbps: number | null;
  reconnects: number;
  lastError: Failure | null;
  /** GOPs dropped because the destination was too slow. */
  dropped: number;
  /** Connections that ended. */
  reconnectsByCode: Record<string, number>;
  /** Connections that ended, and attempts that failed. */
  failuresByCode: Record<string, number>;
}

export class DestinationOutput {
  readonly #options: OutputOptions;
  readonly #timeouts: OutputTimeouts;
  #secrets: DestinationSecrets | undefined;
  #stop = new AbortController();
  /** Aborted when secrets change: ends the wait before the next attempt and the running transport. */
  #change = new AbortController();
  #running: Promise<void> | undefined;
  /** The destination takes media now. */
  #taking = false;
  /** It has taken media for long enough to have recovered. */
  #connectedSince: Date | undefined;
  #recovery = new Recovery();
  #bytesBefore = 0;
  #bytesNow = 0;
  #droppedBefore = 0;
  #queue: OutputQueue | undefined;
  #rate: SendingRate | undefined;
  /** The host that the stream is sent to, or was last. */
  #host = '';
  #leastKbps = 0;
  readonly #failure = new LastingFailure();
  /** Failed attempts. Each of several addresses has its turn by this number. */
  #missed = 0;
  readonly #reconnects: Record<string, number> = {};
  readonly #failures: Record<string, number> = {};

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
  }

  /** Starts sending, or connects again with the new values; undefined while there are none. */
  configure(secrets: DestinationSecrets | undefined): void {
    const same = FIELDS.every((field) => secrets?.[field] === this.#secrets?.[field]);
    this.#secrets = secrets;
    // It needs no new connection.
    if (this.#queue) this.#setLeastKbps(this.#queue);
    if (this.#running && same) return;
    this.#recovery = new Recovery();
    this.#failure.expectNew();
    this.#change.abort();
    this.#change = new AbortController();
    this.#running ??= this.#run();
  }

  /** Resolves when ffmpeg is gone. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#change.abort();
    await this.#running;
  }

  /** Where it goes, with the key: a secret. Undefined while it cannot go anywhere. */
  get place(): string | undefined {
    return this.#secrets && readPlace(this.#secrets);
  }

  /** Whether the destination takes media at this moment. */
  get takesMedia(): boolean {
    return this.#taking;
  }

  stats(): OutputStats {
    return {
      name: this.#options.name,
      connected: this.#connectedSince !== undefined,
      connectedSince: this.#connectedSince?.toISOString() ?? null,
      bytesSent: this.#bytesBefore + this.#bytesNow,
      ...(this.#rate?.read() ?? { bitrateKbps: null, pace: null }),
      leastBitrateKbps: this.#leastKbps || null,
      reconnects: Object.values(this.#reconnects).reduce((sum, n) => sum + n, 0),
      lastError: this.#failure.shown,
      dropped: this.#droppedBefore + (this.#queue?.dropped ?? 0),
      reconnectsByCode: this.#reconnects,
      failuresByCode: this.#failures,
    };
  }

  async #run(): Promise<void> {
    for (let attempt = 0; !this.#stop.signal.aborted; ) {
      const change = this.#change.signal;
      const { reason, connectedMs } = await this.#attempt(change, attempt).catch(couldNotStart);
      if (!reason) {
        attempt = 0;
        continue;
      }
      // After a connection that had recovered, the failure counts as the first one.
      attempt = connectedMs > 0 && this.#recovery.end(connectedMs) ? 1 : attempt + 1;
      this.#note(reason, connectedMs);
      const wait = AbortSignal.any([this.#stop.signal, change]);
      await sleep(backoffMs(reason.code, attempt, Math.random()), wait).catch(() => undefined);
    }
  }

  #note(reason: Failure, connectedMs: number): void {
    const { clock, log, name } = this.#options;
    // Repeats of a failure are not logged: there may be one a second.
    if (this.#failure.add(reason, clock.monotonicMs()))
      log.warn({ destination: name, code: reason.code, connectedMs: Math.round(connectedMs) }, reason.message);
    this.#failures[reason.code] = (this.#failures[reason.code] ?? 0) + 1;
    if (connectedMs > 0) this.#reconnects[reason.code] = (this.#reconnects[reason.code] ?? 0) + 1;
    this.#options.onChange?.();
  }

  /** Runs one attempt to its end; no reason when this streamer ended it. */
  async #attempt(change: AbortSignal, attempt: number): Promise<{ reason: Failure | undefined; connectedMs: number }> {
    const no = (reason: Failure | undefined) => ({ reason, connectedMs: 0 });
    let address: Address;
    try {
      if (!this.#secrets) return no(failure('not_configured'));
      address = readAddress(this.#secrets);
    } catch (error) {
      return no(failure('not_configured', error instanceof AddressError ? error.message : ''));
    }
    const { allowPrivate, lookup, caFile, findTwin } = this.#options;
    const twin = findTwin?.(formatPlace(address));
    if (twin !== undefined) return no(failure('key_twice', `It is "${twin}".`));
    const { addresses, failure: unresolved } = await resolveHost(address.host, { allowPrivate, lookup });
    if (unresolved) return no(unresolved);
    const ip = addresses[this.#missed % addresses.length] ?? addresses[0];
    // Opening a connection is cheaper than starting ffmpeg once a second.
    const last = this.#failure.latestCode;
    if (
      attempt > 1 &&
      address.format === 'flv' &&
      (last === 'connection_refused' || last === 'unreachable' || last === 'dns_failed')
    ) {
      const refusal = await probe(ip, address.port);
      if (refusal) return this.#miss(refusal);
    }
    const signal = AbortSignal.any([change, this.#stop.signal]);
    const { address: known, failure: refused } = await logIn(address, { ip, caFile, signal });
    if (signal.aborted) return no(undefined);
    if (refused) return this.#miss(refused);
    const { host, port } = address;
    const relay = address.protocol === 'rtmps' ? await openRelay({ host, address: ip, port, caFile }) : undefined;
    const direct = directTo(known, relay ? { relayPort: relay.port } : { ip });
    const ended = await this.#send(direct, relay, change).finally(() => relay?.close());
    if (ended.reason && ended.connectedMs === 0) this.#missed += 1;
    return ended;
  }

  #miss(reason: Failure) {
    this.#missed += 1;
    return { reason, connectedMs: 0 };
  }

  async #send(
    address: Address,
    relay: Relay | undefined,
    change: AbortSignal,
  ): Promise<{ reason: Failure | undefined; connectedMs: number }> {
    const { broadcaster, clock, ffmpeg, profile, log, name } = this.#options;
    const health = new ConnectionHealth(this.#timeouts, clock.monotonicMs());
    const airtime = new ConnectionAirtime({ sameBytes: address.format === 'flv' });
    let rest: (() => void) | undefined;
    const onProgress = (bytes: number) => {
      if (relay && relay.blockedMs() > BLOCKED_MS) return;
      this.#bytesNow = bytes;
      const now = clock.monotonicMs();
      health.report(bytes, now);
      const onAir = airtime.addTaken(bytes, now);
      // Airtime counts from the first report of taken media, so small batches until then count more of it.
      if (airtime.hasBegun) rest?.();
      else if (bytes > 0) rest ??= broadcaster.hurry();
      if (onAir) this.#options.onAirtime?.(onAir.sinceMs, onAir.untilMs);
      this.#show(health);
    };
    const transport = new FfmpegTransport(ffmpeg, address, { onProgress }, this.#timeouts.finishMs);
    const onHanded = (fromBytes: number) => airtime.addSent(fromBytes, clock.monotonicMs());
    const queue = new OutputQueue({ profile: profile(), sink: transport.stdin, onHanded });
    this.#host = address.host;
    this.#setLeastKbps(queue);
    const rate = new SendingRate();
    this.#queue = queue;
    this.#rate = rate;
    const unlisten = broadcaster.listen((segment) => queue.offer(segment));
    // A connection that ends or stalls may leave sent bytes in the kernel, which the destination never receives.
    const revokeUnreceived = async (leastMs = 0) => {
      const bytes = (await unreceivedBytes(transport.pid ?? 0)) + ((await relay?.unreceivedBytes()) ?? 0);
      this.#options.onAirtimeLost?.(airtime.revoke(bytes, leastMs));
    };
    const leave = () => void revokeUnreceived(ON_ITS_WAY_MS).then(() => transport.finish());
    const startedMs = clock.monotonicMs();
    let renewed = false;
    const unwatch = broadcaster.onBatch(() => {
      const { bytes, writtenMs } = queue;
      if (this.#taking && writtenMs !== undefined) rate.add({ atMs: clock.monotonicMs(), bytes, mediaMs: writtenMs });
      void this.#watch(transport, health, revokeUnreceived);
      const old = address.format === 'mpegts' && clock.monotonicMs() - startedMs > this.#timeouts.renewMs;
      if (!old || renewed) return;
      renewed = true;
      log.info(
        { destination: name, event: 'connection_renewed' },
        'the connection reached its maximum age and is replaced',
      );
      leave();
    });
    const signal = AbortSignal.any([change, this.#stop.signal]);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const ended = await transport.ended;
    const reason = relay?.failure() ?? ended;
    signal.removeEventListener('abort', leave);
    unwatch();
    rest?.();
    unlisten();
    queue.close();
    this.#queue = undefined;
    this.#rate = undefined;
    this.#taking = false;
    this.#connectedSince = undefined;
    this.#droppedBefore += queue.dropped;
    this.#bytesBefore += this.#bytesNow;
    this.#bytesNow = 0;
    const connectedMs = health.connectedMs(clock.monotonicMs());
    if (!signal.aborted && !renewed) return { reason, connectedMs };
    // This streamer ended the attempt, but a transport that had to be killed is still reported.
    if (reason.code === 'hung') this.#note(reason, connectedMs);
    return { reason: undefined, connectedMs };
  }

  #setLeastKbps(queue: OutputQueue): void {
    this.#leastKbps = findLeastKbps(this.#host, this.#options.profile(), this.#secrets?.leastBitrateKbps);
    queue.setLeastKbps(this.#leastKbps);
  }

  async #watch(
    transport: FfmpegTransport,
    health: ConnectionHealth,
    revokeUnreceived: () => Promise<void>,
  ): Promise<void> {
    const { broadcaster, clock } = this.#options;
    const now = clock.monotonicMs();
    if (broadcaster.silentForMs > SILENCE_MS) health.pause(now);
    const fault = health.findFault(now);
    this.#show(health);
    if (!fault) return;
    await revokeUnreceived();
    transport.kill(failure(fault));
  }

  #show(health: ConnectionHealth): void {
    const { clock, log, name, onConnected, onChange } = this.#options;
    const now = clock.monotonicMs();
    this.#taking = health.isConnected(now) && this.#queue !== undefined;
    const connected = health.isConnected(now) && health.connectedMs(now) >= this.#recovery.holdMs;
    if (connected === (this.#connectedSince !== undefined) || (connected && !this.#queue)) return;
    this.#connectedSince = connected ? clock.now() : undefined;
    if (connected) {
      this.#failure.clear();
      log.info({ destination: name, event: DESTINATION_ACCEPTED }, 'the destination accepts the stream');
      onConnected?.();
    }
    onChange?.();
  }
}

/** A transport that cannot start (no process, descriptor or space) fails its destination, not the stream. */
const couldNotStart = (error: unknown) => ({
  reason: failure('exited', error instanceof Error ? error.message : String(error)),
  connectedMs: 0,
});

/** Opens a connection and closes it; undefined when a server listens. */
function probe(ip: string, port: number): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: ip, port });
    const done = (result: Failure | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => done(failure('unreachable', 'no response')));
    socket.once('connect', () => done(undefined));
    socket.once('error', (error) => done(classifySystem('code' in error ? String(error.code) : undefined)));
  });
}

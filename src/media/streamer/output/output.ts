/**
 * A destination: one ffmpeg at a time, started again when it ends, told to go when it stalls. What happens here touches no
 * other destination.
 *
 * `connected` means that the destination takes media: ffmpeg reports output bytes only after the destination has accepted
 * the publish, and they have grown from one report to the next within the last seconds.
 */
import { connect } from 'node:net';
import { type Clock, sleep } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import { type DestinationField, FIELDS } from '../../../resources/destination/read.ts';
import type { Program } from '../../confinement/confine.ts';
import { type Address, AddressError, addressOf, directTo } from './address.ts';
import type { Broadcaster } from './broadcaster.ts';
import { Taken } from './connection-airtime.ts';
import { Health, type Timeouts as HealthTimeouts } from './connection-health.ts';
import { backoffMs, classifySystem, type Failure, failure } from './failure.ts';
import { logIn } from './login.ts';
import { OutputQueue } from './output-queue.ts';
import { openRelay, type Relay } from './relay.ts';
import { type Lookup, resolveHost } from './resolve.ts';
import { Transport } from './transport.ts';
import { unreceivedBytes } from './unreceived-bytes.ts';

/** Of one destination, as its owner wrote them; what is not there is empty. */
export type Secrets = Record<DestinationField, string>;

export interface TargetOptions {
  name: string;
  ffmpeg: Program;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  /** Private addresses may be sent to as well. */
  allowPrivate: boolean;
  lookup?: Lookup | undefined;
  /** That is on air, or will be in a moment. */
  profile: () => string;
  broadcaster: Broadcaster;
  clock: Clock;
  log: Logger;
  /** Called when it becomes connected. */
  onConnected?: () => void;
  /** Called when it has taken media between these two moments of the monotonic clock. */
  onTaken?: (sinceMs: number, untilMs: number) => void;
  /** Called when so much of that, in milliseconds, turns out to have come to nobody. */
  onLost?: (ms: number) => void;
  timeouts?: Partial<Timeouts>;
}

export interface Timeouts extends HealthTimeouts {
  /** For ffmpeg to say goodbye. */
  finishMs: number;
  /** After this long a connection that carries MPEG-TS is made anew. */
  renewMs: number;
}

/**
 * MPEG-TS is made by ffmpeg from FLV, and its demuxer loses every timestamp of a process that has seen 32 bits of
 * milliseconds go by, 49.7 days. Long before that another one takes over: a break of about a second, announced in the log.
 */
const RENEW_MS = 30 * 86_400_000;
const TIMEOUTS: Timeouts = { connectMs: 10_000, stallMs: 5000, finishMs: 3000, renewMs: RENEW_MS };
const WATCH_MS = 500;
const SILENCE_MS = 1000;
/** Who is asked to end may still have sent so much that will arrive. */
const ON_ITS_WAY_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/** Who takes nothing from the relay for this long takes nothing of what ffmpeg reports. */
const BLOCKED_MS = 2000;
/** Connected for this long, the next failure counts as a first one. */
const SETTLED_MS = 10_000;

export interface TargetStats {
  name: string;
  connected: boolean;
  bytesSent: number;
  reconnects: number;
  lastError: Failure | null;
  /** GOPs left out because the destination was too slow. */
  dropped: number;
  /** Connections that ended. */
  reconnectsByCode: Record<string, number>;
  /** The same, and attempts that came to nothing. */
  failuresByCode: Record<string, number>;
}

export class Target {
  readonly #options: TargetOptions;
  readonly #timeouts: Timeouts;
  #secrets: Secrets | undefined;
  #stop = new AbortController();
  /** Aborted when secrets change: ends the wait before the next attempt and the running transport. */
  #change = new AbortController();
  #running: Promise<void> | undefined;
  #connected = false;
  #bytesBefore = 0;
  #bytesNow = 0;
  #droppedBefore = 0;
  #queue: OutputQueue | undefined;
  #lastError: Failure | null = null;
  /** Attempts that came to nothing: of several addresses each has its turn. */
  #missed = 0;
  readonly #reconnects: Record<string, number> = {};
  readonly #failures: Record<string, number> = {};

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
  }

  /** Starts sending, or sends to where the new values say; undefined while there are none. */
  configure(secrets: Secrets | undefined): void {
    const same = FIELDS.every((field) => secrets?.[field] === this.#secrets?.[field]);
    this.#secrets = secrets;
    if (this.#running && same) return;
    this.#change.abort();
    this.#change = new AbortController();
    this.#running ??= this.#run();
  }

  /** Resolves when its process is gone. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#change.abort();
    await this.#running;
  }

  stats(): TargetStats {
    return {
      name: this.#options.name,
      connected: this.#connected,
      bytesSent: this.#bytesBefore + this.#bytesNow,
      reconnects: Object.values(this.#reconnects).reduce((sum, n) => sum + n, 0),
      lastError: this.#lastError,
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
      attempt = connectedMs >= SETTLED_MS ? 1 : attempt + 1;
      this.#note(reason, connectedMs);
      const wait = AbortSignal.any([this.#stop.signal, change]);
      await sleep(backoffMs(reason.code, attempt, Math.random()), wait).catch(() => undefined);
    }
  }

  #note(reason: Failure, connectedMs: number): void {
    const { log, name } = this.#options;
    // The same answer again and again is one line in the log, not one a second.
    if (this.#lastError?.code !== reason.code || connectedMs > 0) {
      log.warn({ destination: name, code: reason.code, connectedMs: Math.round(connectedMs) }, reason.message);
    }
    this.#lastError = reason;
    this.#failures[reason.code] = (this.#failures[reason.code] ?? 0) + 1;
    if (connectedMs > 0) this.#reconnects[reason.code] = (this.#reconnects[reason.code] ?? 0) + 1;
  }

  /** One attempt, until it ends; no reason when it was ended from here. */
  async #attempt(change: AbortSignal, attempt: number): Promise<{ reason: Failure | undefined; connectedMs: number }> {
    const no = (reason: Failure | undefined) => ({ reason, connectedMs: 0 });
    let address: Address;
    try {
      if (!this.#secrets) return no(failure('not_configured'));
      address = addressOf(this.#secrets);
    } catch (error) {
      return no(failure('not_configured', error instanceof AddressError ? error.message : ''));
    }
    const { allowPrivate, lookup, caFile } = this.#options;
    const { addresses, failure: unresolved } = await resolveHost(address.host, { allowPrivate, lookup });
    if (unresolved) return no(unresolved);
    const ip = addresses[this.#missed % addresses.length] ?? addresses[0];
    // Whether anyone listens is found out more cheaply than by starting ffmpeg once a second.
    const last = this.#lastError?.code;
    if (
      attempt > 1 &&
      address.format === 'flv' &&
      (last === 'connection_refused' || last === 'unreachable' || last === 'dns_failed')
    ) {
      const refusal = await probe(ip, address.port);
      if (refusal) return this.#miss(refusal);
    }
    const signal = AbortSignal.any([change, this.#stop.signal]);
    const { address: known, failure: stranger } = await logIn(address, { ip, caFile, signal });
    if (signal.aborted) return no(undefined);
    if (stranger) return this.#miss(stranger);
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
    const health = new Health(this.#timeouts, clock.monotonicMs());
    const taken = new Taken({ sameBytes: address.format === 'flv' });
    let rest: (() => void) | undefined;
    const onProgress = (bytes: number) => {
      if (relay && relay.blockedMs() > BLOCKED_MS) return;
      this.#bytesNow = bytes;
      const now = clock.monotonicMs();
      health.reported(bytes, now);
      const onAir = taken.reported(bytes, now);
      // Connected: the sooner it is known that media was taken, the less of it is not counted.
      if (taken.begun) rest?.();
      else if (bytes > 0) rest ??= broadcaster.hurry();
      if (onAir) this.#options.onTaken?.(onAir.sinceMs, onAir.untilMs);
      this.#show(health);
    };
    const transport = new Transport(ffmpeg, address, { onProgress }, this.#timeouts.finishMs);
    const onHanded = (fromBytes: number) => taken.handed(fromBytes, clock.monotonicMs());
    const queue = new OutputQueue({ profile: profile(), sink: transport.stdin, onHanded });
    this.#queue = queue;
    const unlisten = broadcaster.listen((segment) => queue.offer(segment));
    // Who was asked to end, or has taken nothing for long, may have left what he was sent to the kernel.
    const check = async (leastMs = 0) => {
      const bytes = (await unreceivedBytes(transport.pid ?? 0)) + ((await relay?.unreceivedBytes()) ?? 0);
      this.#options.onLost?.(taken.lost(bytes, leastMs));
    };
    const leave = () => void check(ON_ITS_WAY_MS).then(() => transport.finish());
    const startedMs = clock.monotonicMs();
    let renewed = false;
    const watch = setInterval(() => {
      void this.#watch(transport, health, check);
      const old = address.format === 'mpegts' && clock.monotonicMs() - startedMs > this.#timeouts.renewMs;
      if (!old || renewed) return;
      renewed = true;
      log.info({ destination: name }, 'the connection has grown old and is made anew');
      leave();
    }, WATCH_MS);
    const signal = AbortSignal.any([change, this.#stop.signal]);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const ended = await transport.ended;
    const reason = relay?.failure() ?? ended;
    signal.removeEventListener('abort', leave);
    clearInterval(watch);
    rest?.();
    unlisten();
    queue.close();
    this.#queue = undefined;
    this.#connected = false;
    this.#droppedBefore += queue.dropped;
    this.#bytesBefore += this.#bytesNow;
    this.#bytesNow = 0;
    const connectedMs = health.connectedMs(clock.monotonicMs());
    if (!signal.aborted && !renewed) return { reason, connectedMs };
    // It was told to go; that it had to be killed is told all the same.
    if (reason.code === 'hung') this.#note(reason, connectedMs);
    return { reason: undefined, connectedMs };
  }

  async #watch(transport: Transport, health: Health, check: () => Promise<void>): Promise<void> {
    const { broadcaster, clock } = this.#options;
    const now = clock.monotonicMs();
    if (broadcaster.stats().silentForMs > SILENCE_MS) health.silent(now);
    const verdict = health.verdict(now);
    this.#show(health);
    if (!verdict) return;
    await check();
    transport.kill(failure(verdict));
  }

  #show(health: Health): void {
    const { clock, log, name, onConnected } = this.#options;
    const connected = health.connected(clock.monotonicMs());
    if (connected === this.#connected || (connected && !this.#queue)) return;
    this.#connected = connected;
    if (!connected) return;
    this.#lastError = null;
    log.info({ destination: name }, 'the destination takes the stream');
    onConnected?.();
  }
}

/** No process, descriptor or space for another transport is this destination's failure, and must not be the stream's. */
const couldNotStart = (error: unknown) => ({
  reason: failure('exited', error instanceof Error ? error.message : String(error)),
  connectedMs: 0,
});

/** Opens a connection and closes it; undefined when someone listens. */
function probe(ip: string, port: number): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: ip, port });
    const done = (result: Failure | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => done(failure('unreachable', 'no answer')));
    socket.once('connect', () => done(undefined));
    socket.once('error', (error) => done(classifySystem('code' in error ? String(error.code) : undefined)));
  });
}

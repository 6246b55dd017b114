/** Publishes for a moment: black pictures and silence, in real time. */
import type { Clock } from '../../lib/clock.ts';
import type { Failure } from '../../protocol/codes.ts';
import type { Executable } from '../confinement/confine.ts';
import { type Address, directTo } from '../streamer/output/address.ts';
import { ConnectionHealth } from '../streamer/output/connection-health.ts';
import { failure } from '../streamer/output/failure.ts';
import { logIn } from '../streamer/output/login.ts';
import { openRelay } from '../streamer/output/relay.ts';
import { FfmpegTransport } from '../streamer/output/transport.ts';
import { Film } from './film.ts';

export interface PublishOptions {
  /** The ffmpeg that sends. */
  sender: Executable;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  /** Limit until the destination accepts the publish. */
  acceptMs: number;
  clock: Clock;
  signal?: AbortSignal;
}

/** Some servers check a key only when media comes, and then close the connection. */
const PUBLISH_MS = 2000;
const STALL_MS = 5000;
const WATCH_MS = 250;
const MEDIA_MS = 50;

/** Resolves with undefined when the destination at `ip` took media for a while. */
export async function publish(address: Address, ip: string, options: PublishOptions): Promise<Failure | undefined> {
  const { caFile, signal } = options;
  const { address: known, failure: stranger } = await logIn(address, { ip, caFile, signal });
  if (stranger) return stranger;
  if (address.protocol !== 'rtmps') return send(directTo(known, { ip }), options);
  const { host, port } = address;
  const relay = await openRelay({ host, address: ip, port, caFile });
  const failed = await send(directTo(known, { relayPort: relay.port }), options).finally(() => relay.close());
  return relay.failure() ?? failed;
}

async function send(
  address: Address,
  { sender, acceptMs, clock, signal }: PublishOptions,
): Promise<Failure | undefined> {
  const health = new ConnectionHealth({ connectMs: acceptMs, stallMs: STALL_MS }, clock.monotonicMs());
  const taken = Promise.withResolvers<undefined>();
  const onProgress = (bytes: number) => {
    health.report(bytes, clock.monotonicMs());
    if (health.connectedMs(clock.monotonicMs()) >= PUBLISH_MS) taken.resolve(undefined);
  };
  const transport = new FfmpegTransport(sender, address, { onProgress });
  const [film, startedMs] = [new Film(), clock.monotonicMs()];
  transport.stdin.write(film.start());
  const play = setInterval(() => transport.stdin.write(film.take(clock.monotonicMs() - startedMs)), MEDIA_MS);
  const watch = setInterval(() => {
    const fault = health.findFault(clock.monotonicMs());
    if (fault) transport.kill(failure(fault));
  }, WATCH_MS);
  const leave = () => taken.resolve(undefined);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();
  try {
    return await Promise.race([transport.ended, taken.promise]);
  } finally {
    signal?.removeEventListener('abort', leave);
    clearInterval(watch);
    clearInterval(play);
    // An orderly end frees the key at once.
    await transport.finish();
  }
}

/** Publishes for a moment: black pictures and silence, in real time. */
import { spawn } from 'node:child_process';
import type { Clock } from '../../lib/clock.ts';
import { toolEnvironment } from '../../settings/environment.ts';
import { commandLine, type Executable } from '../confinement/confine.ts';
import { type Address, directTo } from '../streamer/output/address.ts';
import { ConnectionHealth } from '../streamer/output/connection-health.ts';
import { type Failure, failure } from '../streamer/output/failure.ts';
import { logIn } from '../streamer/output/login.ts';
import { openRelay } from '../streamer/output/relay.ts';
import { FfmpegTransport } from '../streamer/output/transport.ts';

export interface PublishOptions {
  /** The ffmpeg that makes the test's media. */
  ffmpeg: Executable;
  /** The ffmpeg that sends it; the same by default. */
  sender?: Executable;
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

/** Media that every ingest takes: H.264 and AAC, a keyframe each second, small and even. */
const PICTURE = [
  ...['-v', 'error', '-nostdin', '-re', '-f', 'lavfi', '-i', 'color=black:s=640x360:r=30'],
  ...['-re', '-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p', '-g', '30'],
  ...['-c:a', 'aac', '-b:a', '128k', '-flush_packets', '1'],
  ...['-f', 'flv', '-flvflags', 'no_duration_filesize', 'pipe:1'],
];

/**
 * Resolves with undefined when the destination at `ip` took media for a while. Rejects when there was no media to send.
 */
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
  { ffmpeg, sender = ffmpeg, acceptMs, clock, signal }: PublishOptions,
): Promise<Failure | undefined> {
  const health = new ConnectionHealth({ connectMs: acceptMs, stallMs: STALL_MS }, clock.monotonicMs());
  const taken = Promise.withResolvers<undefined>();
  const onProgress = (bytes: number) => {
    health.report(bytes, clock.monotonicMs());
    if (health.connectedMs(clock.monotonicMs()) >= PUBLISH_MS) taken.resolve(undefined);
  };
  const transport = new FfmpegTransport(sender, address, { onProgress });
  const [program, ...words] = commandLine(ffmpeg, PICTURE);
  const picture = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'], env: toolEnvironment() });
  picture.stdout.on('error', () => undefined).pipe(transport.stdin);
  const noPicture = new Promise<never>((_resolve, reject) => {
    picture.once('error', reject);
    picture.once('exit', (code, by) =>
      reject(new Error(`ffmpeg could not make the media of the test: ${by ?? `status ${code}`}`)),
    );
  });
  const watch = setInterval(() => {
    const fault = health.findFault(clock.monotonicMs());
    if (fault) transport.kill(failure(fault));
  }, WATCH_MS);
  const leave = () => taken.resolve(undefined);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();
  try {
    return await Promise.race([transport.ended, taken.promise, noPicture]);
  } finally {
    signal?.removeEventListener('abort', leave);
    clearInterval(watch);
    noPicture.catch(() => undefined);
    picture.stdout.unpipe();
    picture.kill('SIGKILL');
    // An orderly end frees the key at once.
    await transport.finish();
  }
}

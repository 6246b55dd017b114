/** Starts the two sides of the benchmark: a streamer as its pod starts it, and the ffmpeg that people run instead. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGE_ENV, NODE_FLAGS } from '../../src/core/operator/stream/command-line.ts';
import { buildPod } from '../../src/core/operator/stream/pod.ts';
import type { PlayedRule, ProgramItem } from '../../src/core/resources/stream/playing.ts';
import { ContainerProber } from '../../tools/node-agent/prober.ts';
import type { Container } from '../../tools/node-agent/types.ts';
import { findCompiled, SENDER as OWN_SENDER } from '../../tools/process/compiled.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { makeProgram, NOW, SETTINGS, stream, world } from '../kit/make/operator.ts';
import { buildProgram, writeAtomically, writeDestination } from '../kit/make/streamer.ts';

const BUNDLE = join(import.meta.dirname, '../../dist/app/main.js');

export interface Sender {
  pid: number;
  /** Ends it with all its descendants. */
  stop(): Promise<void>;
}

function started(child: ChildProcess): Sender {
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not start ${child.spawnfile}`);
  const exit = once(child, 'exit');
  return {
    pid,
    stop: async () => {
      try {
        // The process leads a group of its own, so that no descendant is left.
        process.kill(-pid, 'SIGKILL');
      } catch {
        // The process has ended by itself.
      }
      await exit;
    },
  };
}

const options = { detached: true, stdio: 'ignore' } as const;

export interface Media {
  /** The folder of this run. */
  root: string;
  storage: string;
  profile: string;
  /** The clip in the streamer's program, and as an MP4 file with the same packets. */
  items: ProgramItem[];
  files: string[];
  /** The least bit rate that its destinations ask for. */
  leastBitrateKbps?: number;
  /** The rules of its list. */
  rules?: PlayedRule[];
}

export interface Streamer extends Sender {
  /** Publishes another version of its list. */
  publish(items: ProgramItem[], version: number): Promise<void>;
}

/** The streamer's container, as the chart's operator makes it: its command, and the probes of a stream that pushes its reports. */
const readContainer = (): Container => {
  const settings = { ...SETTINGS, reportsUrl: 'http://127.0.0.1' };
  const { spec } = buildPod(stream(), makeProgram(stream(), world(), NOW.toISOString()), settings);
  const [container] = (spec as { containers: Container[] }).containers;
  if (!container) throw new Error('the pod of a stream has no container');
  return container;
};

/** The ffmpeg that sends: of the environment's choice, else the built one, as in `make run`, else the machine's own. */
export const SENDER = process.env.LOOPSTREAM_SENDER || (findCompiled(OWN_SENDER) ?? 'ffmpeg');

/**
 * Starts the role `streamer` from the bundle with the command line, the files and the variables of a pod, and sends it the probes of one as
 * a kubelet does. It sends to `url` once for each key.
 */
export async function startStreamer(media: Media, url: string, ...keys: readonly string[]): Promise<Streamer> {
  const dir = await mkdtemp(join(media.root, 'pod-'));
  const programFile = join(dir, 'program.json');
  const destinationsFile = join(dir, 'destinations.json');
  const destinations = keys.map((_, i) => `main${i}`);
  const publish = (items: ProgramItem[], version: number) =>
    writeAtomically(
      programFile,
      JSON.stringify(
        buildProgram(items, {
          ...{ version, destinations, profile: media.profile },
          ...(media.rules && { video: { mode: 'sequential', items, rules: media.rules } }),
        }),
      ),
    );
  await publish(media.items, 1);
  for (const [i, name] of destinations.entries())
    await writeDestination(destinationsFile, name, [url, keys[i] ?? '', undefined, media.leastBitrateKbps]);
  const port = await reserveFreePort();
  const container = readContainer();
  const env = {
    ...IMAGE_ENV,
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    TMPDIR: dir,
    LOOPSTREAM_PROGRAM_FILE: programFile,
    LOOPSTREAM_DESTINATIONS_FILE: destinationsFile,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_STORAGE_URL: `file://${media.storage}`,
    LOOPSTREAM_SENDER: SENDER,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: String(port),
    LOOPSTREAM_RESULT_FILE: join(dir, 'termination-log'),
    LOOPSTREAM_SESSIONS_FILE: join(dir, 'sessions.json'),
  };
  const sender = started(spawn(process.execPath, [...NODE_FLAGS, BUNDLE, 'streamer'], { ...options, env }));
  const asked = {
    container: { ...container, ports: [{ name: 'http', containerPort: port }] },
    podIP: '127.0.0.1',
    env: {},
    cwd: dir,
    rewrite: (text: string) => text,
  };
  const prober = new ContainerProber(asked, { verdict: () => undefined, unhealthy: () => undefined });
  const stop = () => {
    prober.stop();
    return sender.stop();
  };
  return { pid: sender.pid, stop, publish };
}

const LOOP = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1'];
const OUTPUT = (target: string) => ['-c', 'copy', '-f', 'flv', target];

/** Starts `ffmpeg -re -stream_loop -1 -i clip -c copy -f flv`. */
export const startFfmpeg = (file: string, url: string, key: string): Sender =>
  started(spawn('ffmpeg', [...LOOP, '-i', file, ...OUTPUT(`${url}/${key}`)], options));

/** Starts the same with ffmpeg's concat demuxer over a list of files. */
export async function startConcat(media: Media, url: string, key: string): Promise<Sender> {
  const list = join(media.root, 'list.txt');
  await writeAtomically(list, media.files.map((file) => `file '${file}'\n`).join(''));
  const input = [...LOOP, '-f', 'concat', '-safe', '0', '-i', list];
  return started(spawn('ffmpeg', [...input, ...OUTPUT(`${url}/${key}`)], options));
}

/**
 * Starts Liquidsoap with the same packets: its ffmpeg encoder copies them, so that it costs no more than the others (liquidsoap's
 * documentation, "FFmpeg support", encoded content).
 */
export async function startLiquidsoap(media: Media, url: string, key: string): Promise<Sender> {
  const list = join(media.root, 'liquidsoap.m3u');
  const script = join(media.root, 'loop.liq');
  await writeAtomically(list, media.files.map((file) => `${file}\n`).join(''));
  // Liquidsoap's own RTMP output connects twice (savonet/liquidsoap#2850), so an ffmpeg sends its output, as in ours.
  const send = `ffmpeg -v error -f mpegts -i - -c copy -bsf:a aac_adtstoasc -f flv ${url}/${key}`;
  const lines = [
    'settings.init.allow_root.set(true)',
    `s = playlist(mode="normal", ${JSON.stringify(list)})`,
    'encoder = %ffmpeg(format="mpegts", %audio.copy, %video.copy)',
    `output.external(fallible=true, reopen_on_metadata=false, encoder, ${JSON.stringify(send)}, s)`,
  ];
  await writeAtomically(script, lines.join('\n'));
  return started(spawn('liquidsoap', [script], options));
}

/** Restarts it a second after its end, as systemd's Restart=always or a shell loop does. */
export function startRestartLoop(file: string, url: string, key: string): Sender {
  const script = 'while true; do ffmpeg "$@"; sleep 1; done';
  return started(spawn('sh', ['-c', script, 'loop', ...LOOP, '-i', file, ...OUTPUT(`${url}/${key}`)], options));
}

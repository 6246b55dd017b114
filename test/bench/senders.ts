/** Starts the two sides of the benchmark: a streamer as its pod starts it, and the ffmpeg that people run instead. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramItem } from '../../src/resources/stream/program.ts';
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
  /** The clip in the streamer's program, and as an MP4 file with the same packets. */
  items: ProgramItem[];
  files: string[];
}

export interface Streamer extends Sender {
  /** Publishes another version of its list. */
  publish(items: ProgramItem[], version: number): Promise<void>;
}

/** Starts the role `streamer` from the bundle, with the files and the variables of a pod. */
export async function startStreamer(media: Media, url: string, key: string): Promise<Streamer> {
  const dir = await mkdtemp(join(media.root, 'pod-'));
  const programFile = join(dir, 'program.json');
  const destinationsFile = join(dir, 'destinations.json');
  const publish = (items: ProgramItem[], version: number) =>
    writeAtomically(programFile, JSON.stringify(buildProgram(items, { version })));
  await publish(media.items, 1);
  await writeDestination(destinationsFile, 'main', [url, key]);
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    TMPDIR: dir,
    LOOPSTREAM_PROGRAM_FILE: programFile,
    LOOPSTREAM_DESTINATIONS_FILE: destinationsFile,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_STORAGE_URL: `file://${media.storage}`,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: '0',
    // Matches operator/stream/pod.ts.
    NODE_OPTIONS: '--max-semi-space-size=1',
    MALLOC_ARENA_MAX: '1',
  };
  return { ...started(spawn(process.execPath, [BUNDLE, 'streamer'], { ...options, env })), publish };
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

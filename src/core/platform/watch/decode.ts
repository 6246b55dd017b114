/**
 * Makes small pictures of the keyframes of strangers' media: a short run of ffmpeg in the cage, without network, for each sample. One runs
 * at a time, so that many streams take no more memory than one.
 */
import { spawn } from 'node:child_process';
import type { Logger } from '../../lib/log.ts';
import { Slots } from '../../lib/slots.ts';
import { commandLine, confine, type Executable } from '../../pods/confinement/confine.ts';
import type { ConfineMode } from '../../protocol/confine-modes.ts';
import { toolEnvironment } from '../../settings/environment.ts';
import type { TimedPicture } from './judge-pictures.ts';
import { PICTURE_HEIGHT, PICTURE_PIXELS, PICTURE_WIDTH } from './pictures.ts';

/** A keyframe of 4320 lines takes some 170 MiB, one of 2160 lines a third. */
const LIMITS = { memoryBytes: 256 * 2 ** 20, cpuSeconds: 5 };
const RUN_MS = 10_000;
const MAX_PIXELS = 8192 * 4320;
const MAX_PICTURES = 64;
const STDERR_CHARS = 16_384;
/** A stream of keyframes alone gives no more than one picture in so many seconds. */
const SPACING_SECONDS = 0.9;

/** Containers, by ffmpeg's names. */
export type MediaContainer = 'mpegts' | 'mov' | 'flv';

export type Decoded =
  | { kind: 'pictures'; pictures: TimedPicture[] }
  /** Sound alone, or a codec that is not known. */
  | { kind: 'no_video' }
  | { kind: 'broken' }
  /** The program could not do its work; it says nothing of the media. */
  | { kind: 'failed' };

export interface PictureDecoder {
  decode: (container: MediaContainer, media: readonly Buffer[], signal: AbortSignal) => Promise<Decoded>;
}

export interface DecoderOptions {
  /** Name or path of ffmpeg. */
  ffmpeg: string;
  confine: ConfineMode;
}

/** Throws ConfigError where a required part of the cage is missing. */
export function openDecoder({ ffmpeg, confine: mode }: DecoderOptions, log: Logger): PictureDecoder {
  const program = confine(ffmpeg, mode, log, LIMITS);
  const slots = new Slots(1);
  return {
    decode: (container, media, signal) =>
      slots.run(async () => {
        const keyframes = await run(program, listArgs(container, true), media, signal);
        const decoded = readRun(keyframes);
        if (decoded.kind === 'no_video' && !(await hasSound(program, container, media, signal)))
          return { kind: 'broken' };
        // Encoders that refresh a part of the picture at a time make no keyframes.
        const hasNone = decoded.kind === 'pictures' && decoded.pictures.length === 0;
        return hasNone ? readRun(await run(program, listArgs(container, false), media, signal)) : decoded;
      }),
  };
}

const listInput = (container: MediaContainer): string[] => [
  ...['-protocol_whitelist', 'pipe', '-max_alloc', String(LIMITS.memoryBytes), '-max_pixels', String(MAX_PIXELS)],
  ...['-f', container, '-i', 'pipe:0'],
];

/** Media without any track are broken. */
async function hasSound(
  program: Executable,
  container: MediaContainer,
  media: readonly Buffer[],
  signal: AbortSignal,
): Promise<boolean> {
  const output = ['-map', '0:a:0', '-c', 'copy', '-frames:a', '1', '-f', 'null', '-'];
  const { code } = await run(program, ['-v', 'error', '-nostdin', ...listInput(container), ...output], media, signal);
  return code === 0;
}

function listArgs(container: MediaContainer, keyframesAlone: boolean): string[] {
  const filters = [
    `select='isnan(prev_selected_t)+gte(t-prev_selected_t,${SPACING_SECONDS})'`,
    `scale=${PICTURE_WIDTH}:${PICTURE_HEIGHT}:flags=area`,
    'format=gray',
  ].join(',');
  const output = ['-map', '0:v:0', '-vf', filters, '-fps_mode', 'passthrough', '-frames:v', String(MAX_PICTURES)];
  return [
    ...['-v', 'error', '-nostdin', '-threads', '1', '-filter_threads', '1', '-copyts'],
    ...(keyframesAlone ? ['-skip_frame', 'nokey'] : []),
    ...listInput(container),
    ...[...output, '-f', 'rawvideo', 'pipe:1'],
    // The times of the pictures, in milliseconds.
    ...[...output, '-enc_time_base', '1:1000', '-f', 'framehash', '-hash', 'adler32', 'pipe:2'],
  ];
}

/** Buffers of pictures are used again, instead of fresh pages each time: a seventh less processor time (mallopt(3)). */
const MEMORY_IS_KEPT = { MALLOC_MMAP_THRESHOLD_: '67108864', MALLOC_TRIM_THRESHOLD_: '67108864' };

interface Run {
  /** Null where it was killed, or could not be started. */
  code: number | null;
  luma: Buffer;
  words: string;
}

function run(program: Executable, args: string[], media: readonly Buffer[], signal: AbortSignal): Promise<Run> {
  signal.throwIfAborted();
  const [command, ...words] = commandLine(program, args);
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  const child = spawn(command, words, {
    env: { ...toolEnvironment(), ...MEMORY_IS_KEPT },
    timeout: RUN_MS,
    killSignal: 'SIGKILL',
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const luma: Buffer[] = [];
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => luma.push(bytes));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-STDERR_CHARS);
  });
  // It may have all pictures before it has read everything.
  child.stdin.on('error', () => undefined);
  for (const bytes of media) child.stdin.write(bytes);
  child.stdin.end();
  child.once('error', () => resolve({ code: null, luma: Buffer.alloc(0), words: '' }));
  child.once('close', (code) => {
    signal.removeEventListener('abort', kill);
    if (signal.aborted) reject(signal.reason);
    else resolve({ code, luma: Buffer.concat(luma), words: said });
  });
  return promise;
}

/** Exit status of native/confine.c. */
const LAUNCHER_FAILED = 126;

function readRun({ code, luma, words }: Run): Decoded {
  const times = [...words.matchAll(/^0,\s*-?\d+,\s*(-?\d+),/gm)].map(([, pts]) => Number(pts));
  const pictures = times.flatMap((ptsMs, index) => {
    const bytes = luma.subarray(index * PICTURE_PIXELS, (index + 1) * PICTURE_PIXELS);
    return bytes.length === PICTURE_PIXELS ? [{ ptsMs, luma: Uint8Array.from(bytes) }] : [];
  });
  if (pictures.length > 0 || code === 0) return { kind: 'pictures', pictures };
  if (/matches no streams|not found for input stream/.test(words)) return { kind: 'no_video' };
  return { kind: code === null || code === LAUNCHER_FAILED ? 'failed' : 'broken' };
}

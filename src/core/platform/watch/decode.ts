/**
 * Makes small pictures of the keyframes of strangers' media: a short run of ffmpeg in the cage, without network, for each sample. One runs
 * at a time, so that many streams take no more memory than one.
 */
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
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
  /** The run was ended at its limits of time. Viewers may have a faster machine. */
  | { kind: 'too_costly' }
  /** The program could not do its work; it says nothing of the media. */
  | { kind: 'failed' };

/** A file of media, in pieces. */
export interface MediaInput {
  container: MediaContainer;
  media: readonly Buffer[];
}

/** The time that the last run for an address took. Of those that wait, the cheapest one is next: costly media wait for all others. */
export interface DecodingCost {
  lastMs: number;
}
export const unknownCost = (): DecodingCost => ({ lastMs: 1_000 });

/**
 * Decodes one input, or two in one run: to start the program costs as much as the pictures. Their results come in the same order. The first
 * one may be a stranger's.
 */
export interface PictureDecoder {
  decode: (inputs: readonly MediaInput[], signal: AbortSignal, cost?: DecodingCost) => Promise<Decoded[]>;
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
    decode: (inputs, signal, cost = unknownCost()) =>
      slots.run(async () => {
        const beganMs = performance.now();
        try {
          return await decodeAll(program, inputs, signal);
        } finally {
          cost.lastMs = performance.now() - beganMs;
        }
      }, cost.lastMs),
  };
}

async function decodeAll(program: Executable, inputs: readonly MediaInput[], signal: AbortSignal): Promise<Decoded[]> {
  const together = await run(program, listArgs(inputs, true), inputs, signal);
  const decoded = inputs.map((_, index) => readRun(together, index));
  if (decoded.every((one) => one.kind === 'pictures' && one.pictures.length > 0)) return decoded;
  // One that cannot be opened ends the run for the other one too.
  return Promise.all(
    inputs.map(async (input, index) => {
      const [first] = decoded;
      return index === 0 && together.wasKilled && first ? first : decodeAlone(program, input, signal);
    }),
  );
}

async function decodeAlone(program: Executable, input: MediaInput, signal: AbortSignal): Promise<Decoded> {
  const decoded = readRun(await run(program, listArgs([input], true), [input], signal), 0);
  if (decoded.kind === 'no_video') return (await hasSound(program, input, signal)) ? decoded : { kind: 'broken' };
  // Encoders that refresh a part of the picture at a time make no keyframes.
  const hasNone = decoded.kind === 'pictures' && decoded.pictures.length === 0;
  return hasNone ? readRun(await run(program, listArgs([input], false), [input], signal), 0) : decoded;
}

/** Descriptors of the inputs, and of their pictures. */
const INPUT_FDS = [0, 3];
const PICTURE_FDS = [1, 4];

const LIMITED = [
  '-protocol_whitelist',
  'pipe',
  '-max_alloc',
  String(LIMITS.memoryBytes),
  '-max_pixels',
  String(MAX_PIXELS),
];
const listInput = ({ container }: MediaInput, index: number): string[] => [
  ...[...LIMITED, '-f', container, '-i', `pipe:${INPUT_FDS[index]}`],
];

/** Media without any track are broken. */
async function hasSound(program: Executable, input: MediaInput, signal: AbortSignal): Promise<boolean> {
  const output = ['-map', '0:a:0', '-c', 'copy', '-frames:a', '1', '-f', 'null', '-'];
  const { code } = await run(program, ['-v', 'error', '-nostdin', ...listInput(input, 0), ...output], [input], signal);
  return code === 0;
}

function listArgs(inputs: readonly MediaInput[], keyframesAlone: boolean): string[] {
  const filters = [
    `select='isnan(prev_selected_t)+gte(t-prev_selected_t,${SPACING_SECONDS})'`,
    `scale=${PICTURE_WIDTH}:${PICTURE_HEIGHT}:flags=area`,
    'format=gray',
  ].join(',');
  const selected = ['-vf', filters, '-fps_mode', 'passthrough', '-frames:v', String(MAX_PICTURES)];
  const map = (_: MediaInput, index: number) => ['-map', `${index}:v:0`];
  return [
    ...['-v', 'error', '-nostdin', '-threads', '1', '-filter_threads', '1', '-copyts'],
    ...inputs.flatMap((input, index) => [
      ...(keyframesAlone ? ['-skip_frame', 'nokey', '-threads', '1'] : ['-threads', '1']),
      ...listInput(input, index),
    ]),
    ...inputs.flatMap((input, index) => [
      ...[...map(input, index), ...selected, '-f', 'rawvideo', `pipe:${PICTURE_FDS[index]}`],
    ]),
    // The times of the pictures, in milliseconds.
    ...[
      ...inputs.flatMap(map),
      ...selected,
      '-enc_time_base',
      '1:1000',
      '-f',
      'framehash',
      '-hash',
      'adler32',
      'pipe:2',
    ],
  ];
}

/** Buffers of pictures are used again, instead of fresh pages each time: a seventh less processor time (mallopt(3)). */
const MEMORY_IS_KEPT = { MALLOC_MMAP_THRESHOLD_: '67108864', MALLOC_TRIM_THRESHOLD_: '67108864' };

interface DecoderRun {
  /** Null where it was killed, or could not be started. */
  code: number | null;
  wasKilled: boolean;
  /** The pictures of each input. */
  luma: Buffer[];
  words: string;
}

function run(
  program: Executable,
  args: string[],
  inputs: readonly MediaInput[],
  signal: AbortSignal,
): Promise<DecoderRun> {
  signal.throwIfAborted();
  const stdio = inputs.length > 1 ? PIPES : PIPES.slice(0, 3);
  const [command, ...words] = commandLine(program, args, { fds: stdio.length });
  const { promise, resolve, reject } = Promise.withResolvers<DecoderRun>();
  const env = { ...toolEnvironment(), ...MEMORY_IS_KEPT };
  const child = spawn(command, words, { stdio, env, timeout: RUN_MS, killSignal: 'SIGKILL' });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const luma: Buffer[][] = inputs.map(() => []);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-STDERR_CHARS);
  });
  for (const [index, { media }] of inputs.entries()) {
    const output = child.stdio[PICTURE_FDS[index] ?? 1] as Readable;
    const input = child.stdio[INPUT_FDS[index] ?? 0] as Writable;
    output.on('data', (bytes: Buffer) => luma[index]?.push(bytes));
    // It may have all pictures before it has read everything.
    input.on('error', () => undefined);
    for (const bytes of media) input.write(bytes);
    input.end();
  }
  const end = (code: number | null, killedBy: string | null = null) => {
    signal.removeEventListener('abort', kill);
    if (signal.aborted) reject(signal.reason);
    else
      resolve({ code, wasKilled: killedBy !== null, luma: luma.map((pieces) => Buffer.concat(pieces)), words: said });
  };
  child.once('error', () => end(null)).once('close', end);
  return promise;
}

const PIPES: 'pipe'[] = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'];

/** Exit status of native/confine.c. */
const LAUNCHER_FAILED = 126;

/** Reads the result of an input: of its number, decoding time, time and the rest, framehash writes a line for each picture. */
function readRun({ code, wasKilled, luma, words }: DecoderRun, input: number): Decoded {
  const times = [...words.matchAll(/^(\d+),\s*-?\d+,\s*(-?\d+),/gm)].flatMap(([, index, pts]) =>
    Number(index) === input ? [Number(pts)] : [],
  );
  const pictures = times.flatMap((ptsMs, index) => {
    const bytes = luma[input]?.subarray(index * PICTURE_PIXELS, (index + 1) * PICTURE_PIXELS);
    return bytes?.length === PICTURE_PIXELS ? [{ ptsMs, luma: Uint8Array.from(bytes) }] : [];
  });
  if (pictures.length > 0 || code === 0) return { kind: 'pictures', pictures };
  if (/matches no streams|not found for input stream/.test(words)) return { kind: 'no_video' };
  if (wasKilled) return { kind: 'too_costly' };
  return { kind: code === null || code === LAUNCHER_FAILED ? 'failed' : 'broken' };
}

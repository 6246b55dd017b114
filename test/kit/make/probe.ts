/** Detects the clips of `makeClip` in a recording, and their order, by tone and by colour. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Colour } from './media.ts';

const run = promisify(execFile);
const RATE = 8000;
/** A quarter of a second. */
const WINDOW = RATE / 4;
/** Shorter runs are windows that contain the border of two clips. */
const SHORTEST = 2;

const decode = async (file: string, args: string[]): Promise<Buffer> =>
  (await run('ffmpeg', ['-v', 'error', '-i', file, ...args, '-'], { encoding: 'buffer', maxBuffer: 256 * 2 ** 20 }))
    .stdout;

/** Returns each value once for each run of it. */
function turns<T>(values: T[]): T[] {
  const runs: { value: T; length: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last && last.value === value) last.length += 1;
    else runs.push({ value, length: 1 });
  }
  const lasting = runs.filter(({ length }) => length >= SHORTEST).map(({ value }) => value);
  return lasting.filter((value, i) => value !== lasting[i - 1]);
}

/** Returns the share of these samples' power at a frequency, 0 to 1 (Goertzel's algorithm). */
function share(samples: Int16Array, hertz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hertz) / RATE);
  let [before, last, power] = [0, 0, 0];
  for (const sample of samples) {
    [before, last] = [last, sample + factor * last - before];
    power += sample * sample;
  }
  return power === 0 ? 0 : (2 * (last * last + before * before - factor * last * before)) / (samples.length * power);
}

/** Returns the sequence of these tones; 0 is anything else, also silence. */
export async function readTones(file: string, tones: readonly number[]): Promise<number[]> {
  const bytes = await decode(file, ['-map', '0:a:0', '-ac', '1', '-ar', String(RATE), '-f', 's16le']);
  const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
  const windows = Array.from({ length: Math.floor(samples.length / WINDOW) }, (_, i) =>
    samples.subarray(i * WINDOW, (i + 1) * WINDOW),
  );
  return turns(windows.map((window) => tones.find((hertz) => share(window, hertz) > 0.5) ?? 0));
}

/** Returns the sequence of colours. */
export async function readColours(file: string): Promise<Colour[]> {
  const bytes = await decode(file, ['-map', '0:v:0', '-vf', 'fps=4,scale=1:1', '-pix_fmt', 'rgb24', '-f', 'rawvideo']);
  const pixels = Array.from({ length: Math.floor(bytes.length / 3) }, (_, i) => [...bytes.subarray(3 * i, 3 * i + 3)]);
  const names = ['red', 'green', 'blue'] as const;
  return turns(pixels.map((pixel) => names[pixel.indexOf(Math.max(...pixel))] ?? 'red'));
}

/** Which of the clips of `makeClip` a receiver got, and in which order: by the tone that is heard, by the colour that is seen. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Colour } from './media.ts';

const run = promisify(execFile);
const RATE = 8000;
/** A quarter of a second. */
const WINDOW = RATE / 4;
/** What lasts less is where one clip ends in a window and the next begins. */
const SHORTEST = 2;

const decode = async (file: string, args: string[]): Promise<Buffer> =>
  (await run('ffmpeg', ['-v', 'error', '-i', file, ...args, '-'], { encoding: 'buffer', maxBuffer: 256 * 2 ** 20 }))
    .stdout;

/** Each value once for as long as it lasts. */
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

/** How much of the power of these samples is at a frequency, 0 to 1 (Goertzel's algorithm). */
function share(samples: Int16Array, hertz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hertz) / RATE);
  let [before, last, power] = [0, 0, 0];
  for (const sample of samples) {
    [before, last] = [last, sample + factor * last - before];
    power += sample * sample;
  }
  return power === 0 ? 0 : (2 * (last * last + before * before - factor * last * before)) / (samples.length * power);
}

/** Which of these tones are heard one after the other; 0 is anything else, silence too. */
export async function heard(file: string, tones: readonly number[]): Promise<number[]> {
  const bytes = await decode(file, ['-map', '0:a:0', '-ac', '1', '-ar', String(RATE), '-f', 's16le']);
  const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
  const windows = Array.from({ length: Math.floor(samples.length / WINDOW) }, (_, i) =>
    samples.subarray(i * WINDOW, (i + 1) * WINDOW),
  );
  return turns(windows.map((window) => tones.find((hertz) => share(window, hertz) > 0.5) ?? 0));
}

/** Which colours are seen one after the other. */
export async function seen(file: string): Promise<Colour[]> {
  const bytes = await decode(file, ['-map', '0:v:0', '-vf', 'fps=4,scale=1:1', '-pix_fmt', 'rgb24', '-f', 'rawvideo']);
  const pixels = Array.from({ length: Math.floor(bytes.length / 3) }, (_, i) => [...bytes.subarray(3 * i, 3 * i + 3)]);
  const names = ['red', 'green', 'blue'] as const;
  return turns(pixels.map((pixel) => names[pixel.indexOf(Math.max(...pixel))] ?? 'red'));
}

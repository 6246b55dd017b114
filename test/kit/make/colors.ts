/** Reads colours out of videos, which tell the pictures that they show. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A place in the picture, of even numbers. */
export type Spot = readonly [x: number, y: number];
export type Color = readonly [red: number, green: number, blue: number];

export const RED: Color = [255, 0, 0];
export const GREY: Color = [128, 128, 128];

/** Returns the colours at these places, in their order, of each frame. `reading` goes before the input, such as `-skip_frame nokey`. */
export async function readColors(file: string, spots: readonly Spot[], reading: string[] = []): Promise<Color[][]> {
  const parts = spots.map(([x, y], i) => `[all${i}]crop=2:2:${x}:${y}[spot${i}]`);
  const names = (name: string) => spots.map((_, i) => `[${name}${i}]`).join('');
  const graph = [
    `[0:v]split=${spots.length}${names('all')}`,
    ...parts,
    `${names('spot')}${spots.length > 1 ? `hstack=${spots.length},` : ''}scale=in_color_matrix=bt709,format=rgb24`,
  ].join(';');
  const args = ['-v', 'error', ...reading, '-i', file, '-filter_complex', graph];
  const { stdout } = await run('ffmpeg', [...args, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-'], {
    encoding: 'buffer',
    maxBuffer: 100_000_000,
  });
  const frameBytes = spots.length * 12;
  return Array.from({ length: stdout.length / frameBytes }, (_, frame) =>
    spots.map((_spot, i): Color => {
      const at = frame * frameBytes + 6 * i;
      return [stdout[at] ?? 0, stdout[at + 1] ?? 0, stdout[at + 2] ?? 0];
    }),
  );
}

/** Whether the decoded colour is this one, as far as encoders keep it. */
export const isNear = (decoded: Color | undefined, color: Color): boolean =>
  decoded?.every((value, i) => Math.abs(value - (color[i] ?? 0)) < 12) === true;

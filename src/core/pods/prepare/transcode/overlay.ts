/** Writes the part of ffmpeg's arguments that puts drawn layers over the pictures of a rendition. Pure: no I/O, no clock. */
import type { Show } from '../../../resources/upload/overlays.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';

/** A drawn layer: a PNG with transparency, and its place in the frame. */
export interface Overlay {
  path: string;
  x: number;
  y: number;
  show?: Show | undefined;
}

/** Returns the inputs of the layers, each a picture that stays, for pictures from this time on. */
export const overlayInputs = (overlays: readonly Overlay[], fromSeconds: number): string[] =>
  overlays.flatMap(({ path }) => [
    ...[...UNTRUSTED_INPUT, '-f', 'png_pipe', '-itsoffset', (fromSeconds - 1).toFixed(6), '-i', inputPath(path)],
  ]);

interface Base {
  /** The pictures as a graph names them, and their own filters. */
  input: string;
  filters: string;
  /** Number of the first input of a layer. */
  firstInput: number;
  framerate: number;
  /** Length of the item. */
  seconds: number;
}

/** Returns the graph, whose pictures are called `[shown]`. All that it has of a layer are numbers. */
export function overlayGraph(overlays: readonly Overlay[], base: Base): string {
  const { input, filters, firstInput } = base;
  const last = overlays.length - 1;
  return [
    `[${input}]${filters}[base0]`,
    ...overlays.flatMap(({ x, y, show }, i) => [
      `[${firstInput + i}:0]scale=out_color_matrix=bt709:out_range=tv,format=yuva420p[layer${i}]`,
      `[base${i}][layer${i}]overlay=x=${x}:y=${y}:eof_action=repeat${enable(show, base)}[${i === last ? 'shown' : `base${i + 1}`}]`,
    ]),
  ].join(';');
}

/** Counts in frames: the times of pictures lie a little behind their places. */
function enable(show: Show | undefined, { framerate, seconds }: Base): string {
  const condition = show && describeFrames(show, framerate, seconds);
  return condition === undefined ? '' : `:enable='${condition}'`;
}

function describeFrames(show: Show, framerate: number, seconds: number): string | undefined {
  const { firstSeconds, lastSeconds, everySeconds, forSeconds } = show;
  const frame = `floor(t*${framerate}+0.1)`;
  if (firstSeconds !== undefined) return `lt(${frame},${firstSeconds * framerate})`;
  if (lastSeconds !== undefined) return `gte(${frame},${Math.round((seconds - lastSeconds) * framerate)})`;
  if (everySeconds === undefined || forSeconds === undefined) return undefined;
  return `lt(mod(${frame},${everySeconds * framerate}),${forSeconds * framerate})`;
}

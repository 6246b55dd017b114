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

/**
 * Returns the inputs of the layers. Each repeats its picture without end: ffmpeg makes the graph anew when the size or format of the
 * source changes, and an input that has ended would have nothing for the new one.
 */
export const overlayInputs = (overlays: readonly Overlay[]): string[] =>
  overlays.flatMap(({ path }) => [...UNTRUSTED_INPUT, '-f', 'png_pipe', '-loop', '1', '-i', inputPath(path)]);

/** The first picture that a graph gets of a layer is there from the beginning, and the next one is never due: no third one is decoded. */
const STAY = "setpts='if(N,1e6,-1)/TB'";

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
      `[${firstInput + i}:0]${STAY},scale=out_color_matrix=bt709:out_range=tv,format=yuva420p[layer${i}]`,
      `[base${i}][layer${i}]overlay=x='${placeAcross(x, show, base)}':y=${y}:shortest=1[${i === last ? 'shown' : `base${i + 1}`}]`,
    ]),
  ].join(';');
}

/** A layer that is not shown lies outside. The filter's own switch would also follow the times of the layer's pictures. */
function placeAcross(x: number, show: Show | undefined, { framerate, seconds }: Base): string {
  const condition = show && describeFrames(show, framerate, seconds);
  return condition === undefined ? String(x) : `if(${condition},${x},W)`;
}

/** Counts in frames: the times of pictures lie a little behind their places. */
function describeFrames(show: Show, framerate: number, seconds: number): string | undefined {
  const { firstSeconds, lastSeconds, everySeconds, forSeconds } = show;
  const frame = `floor(t*${framerate}+0.1)`;
  if (firstSeconds !== undefined) return `lt(${frame},${firstSeconds * framerate})`;
  if (lastSeconds !== undefined) return `gte(${frame},${Math.round((seconds - lastSeconds) * framerate)})`;
  if (everySeconds === undefined || forSeconds === undefined) return undefined;
  return `lt(mod(${frame},${everySeconds * framerate}),${forSeconds * framerate})`;
}

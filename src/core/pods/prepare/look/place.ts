/** Computes how large a layer of a look is, and where it is put. Pure: no I/O, no clock. */
import type { ImageLayer, ResolvedLayer, TextLayer } from '../../../resources/upload/overlays.ts';

export interface Size {
  width: number;
  height: number;
}

/** A rectangle in a picture, in pixels. */
export interface LayerBox extends Size {
  x: number;
  y: number;
}

/** A text is no wider than this part of the picture, has no more lines, and is no higher than the picture. */
const MAX_TEXT_WIDTH = 0.9;
const MAX_TEXT_HEIGHT = 0.9;
const MAX_LINES = 6;

const percent = (whole: number, part: number): number => Math.max(1, Math.round((whole * part) / 100));

/** Returns the side of a picture's layer that its frame gives it at most. */
export const imageBounds = ({ sizePercent }: ImageLayer, frame: Size): Size => ({
  width: percent(frame.width, sizePercent),
  height: frame.height,
});

/** `-1` for the left or upper edge, `0` for the middle, `1` for the right or lower edge. */
function findEdges(anchor: ResolvedLayer['anchor']): { across: number; down: number } {
  const find = (first: string, last: string) => (anchor.includes(first) ? -1 : anchor.includes(last) ? 1 : 0);
  return { across: find('Left', 'Right'), down: find('Top', 'Bottom') };
}

const ALIGNMENTS: Record<string, string> = { '-1': 'left', '0': 'center', '1': 'right' };

const writeColor = (color: string): string => color.slice(1).padEnd(8, 'F');

/** Returns the arguments of draw-text (native/draw-text.c). */
export function textArgs(layer: TextLayer, frame: Size): string[] {
  const line = percent(frame.height, layer.sizePercent);
  const lines = Math.min(MAX_LINES, Math.floor((MAX_TEXT_HEIGHT * frame.height) / line));
  const color = (name: string, value: string | undefined) => (value === undefined ? [] : [name, writeColor(value)]);
  return [
    ...['--line', String(line), '--lines', String(Math.max(1, lines))],
    ...['--width', String(Math.max(1, Math.floor(MAX_TEXT_WIDTH * frame.width))), '--height', String(frame.height)],
    ...['--font', layer.font, ...(layer.bold ? ['--bold'] : [])],
    ...['--align', ALIGNMENTS[findEdges(layer.anchor).across] ?? 'left', '--opacity', String(layer.opacityPercent)],
    ...color('--color', layer.color),
    ...color('--outline', layer.outlineColor),
    ...color('--box', layer.boxColor),
  ];
}

/** Replaces what is neither a character to see nor the end of a line: no text means to have a bell or a carriage return. */
export const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
    .replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ')
    .trim();

/** Parses what draw-text says of its picture, where the box of the text is; undefined where it says nothing of that kind. */
export function parseBox(said: string): LayerBox | undefined {
  const [, x, y, width, height] = /^frame (-?\d{1,5}) (-?\d{1,5}) (\d{1,5}) (\d{1,5})$/m.exec(said) ?? [];
  return height === undefined
    ? undefined
    : { x: Number(x), y: Number(y), width: Number(width), height: Number(height) };
}

/** Even numbers, since half of the lines and columns have colours. */
const toEven = (value: number): number => 2 * Math.round(value / 2);

/** Returns where a picture begins, so that the box in it is at its anchor. The box stays in the frame where it fits. */
export function placeLayer(
  { anchor, marginPercent }: Pick<ResolvedLayer, 'anchor' | 'marginPercent'>,
  box: LayerBox,
  frame: Size,
): { x: number; y: number } {
  const margin = (frame.height * marginPercent) / 100;
  const { across, down } = findEdges(anchor);
  const place = (edge: number, free: number) => {
    const at = edge < 0 ? margin : edge > 0 ? free - margin : free / 2;
    return Math.max(Math.min(at, free), 0);
  };
  return {
    x: toEven(place(across, frame.width - box.width) - box.x),
    y: toEven(place(down, frame.height - box.height) - box.y),
  };
}

const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

/** Returns the size in the header of a PNG; undefined where the bytes are none. */
export function readPngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || !bytes.subarray(0, PNG_HEAD.length).equals(PNG_HEAD)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

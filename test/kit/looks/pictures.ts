/** Packs pictures of pages without loss, and compares them as an eye does. Pure: no I/O, no clock. */
import { crc32, deflateSync } from 'node:zlib';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

export interface Picture {
  width: number;
  height: number;
  /** Four bytes a pixel. */
  data: Uint8Array;
}

export const readPng = (png: Buffer): Picture => PNG.sync.read(png);

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

/** Returns the place of each colour, or undefined where there are more than a palette holds. */
function findColours(pixels: Uint32Array): Map<number, number> | undefined {
  const colours = new Map<number, number>();
  for (const pixel of pixels) {
    if (colours.has(pixel)) continue;
    if (colours.size === 256) return undefined;
    colours.set(pixel, colours.size);
  }
  return colours;
}

/**
 * Returns a PNG of an opaque picture. A page has few colours, so most have a palette; a browser writes none, and packs for speed. Lines
 * without a filter are smallest for what is flat. `source`: text that `hasSource` finds.
 */
export function writePng({ width, height, data }: Picture, source?: string): Buffer {
  const pixels = new Uint32Array(data.buffer, data.byteOffset, width * height);
  const colours = findColours(pixels);
  const depth = colours ? 1 : 3;
  const lines = Buffer.alloc(height * (1 + width * depth));
  for (let y = 0, to = 0; y < height; y += 1) {
    lines[to++] = 0;
    for (let x = 0; x < width; x += 1) {
      const from = y * width + x;
      if (colours) lines[to++] = colours.get(pixels[from] as number) as number;
      else for (let part = 0; part < 3; part += 1) lines[to++] = data[from * 4 + part] as number;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colours ? 3 : 2], 8);
  const palette = Buffer.concat(
    [...(colours?.keys() ?? [])].map((pixel) => Buffer.from(Uint32Array.of(pixel).buffer, 0, 3)),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    ...(colours ? [chunk('PLTE', palette)] : []),
    ...(source === undefined ? [] : [chunk('tEXt', Buffer.from(`Source\0${source}`))]),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Puts a picture on a ground of another size; what is outside of it is magenta. */
function extend({ width, height, data }: Picture, to: { width: number; height: number }): Picture {
  const larger = Buffer.alloc(to.width * to.height * 4, Buffer.from([255, 0, 255, 255]));
  for (let y = 0; y < Math.min(height, to.height); y += 1)
    larger.set(data.subarray(y * width * 4, (y * width + Math.min(width, to.width)) * 4), y * to.width * 4);
  return { ...to, data: larger };
}

export const hasSource = (png: Buffer, source: string): boolean => png.includes(`Source\0${source}`);

export interface Difference {
  /** Part of the pixels that differ, from 0 to 1. */
  part: number;
  /** The kept picture in pale, with what differs in red. Undefined where nothing does. */
  picture: Picture | undefined;
}

/** A picture that is longer than the other differs in all that the other lacks. */
export function comparePictures(kept: Picture, actual: Picture): Difference {
  const isSame = kept.width === actual.width && Buffer.compare(kept.data, actual.data) === 0;
  if (isSame) return { part: 0, picture: undefined };
  const size = { width: Math.max(kept.width, actual.width), height: Math.max(kept.height, actual.height) };
  const [a, b] = [extend(kept, size), extend(actual, size)];
  const data = new Uint8Array(a.data.length);
  const pixels = pixelmatch(a.data, b.data, data, size.width, size.height, { threshold: 0.1 });
  return { part: pixels / (size.width * size.height), picture: { ...size, data } };
}

/** Returns pictures side by side. */
export function joinPictures(pictures: readonly Picture[]): Picture {
  const width = pictures.reduce((sum, one) => sum + one.width, 0);
  const height = Math.max(...pictures.map((one) => one.height));
  const data = Buffer.alloc(width * height * 4, Buffer.from([128, 128, 128, 255]));
  let left = 0;
  for (const one of pictures) {
    for (let y = 0; y < one.height; y += 1)
      data.set(one.data.subarray(y * one.width * 4, (y + 1) * one.width * 4), (y * width + left) * 4);
    left += one.width;
  }
  return { width, height, data };
}

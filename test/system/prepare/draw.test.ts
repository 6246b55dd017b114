/** Tests the pictures of a look: texts in any script, pictures in any form, outlines, boxes and opacity, by their pixels. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DrawnLayer } from '../../../src/core/pods/prepare/look/draw.ts';
import type { TextLayer } from '../../../src/core/resources/upload/overlays.ts';
import { draw, drawOne, FRAME, makeTextLayer, readPixels } from '../../kit/make/looks.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const drawText = (text: string, change: Partial<TextLayer> = {}): Promise<DrawnLayer> =>
  drawOne(makeTextLayer(text, change), tempDir());

/** Counts the pixels that `matches`. */
async function count(layer: DrawnLayer, matches: (rgba: number[]) => boolean): Promise<number> {
  const { at } = await readPixels(layer);
  let found = 0;
  for (let y = 0; y < layer.height; y++) for (let x = 0; x < layer.width; x++) if (matches(at(x, y))) found++;
  return found;
}

const isLike = (color: number[]) => (rgba: number[]) => rgba.every((value, n) => Math.abs(value - (color[n] ?? 0)) < 4);
const RED = [255, 0, 0, 255];
const WHITE = [255, 255, 255, 255];

describe('a text', () => {
  test('has its colour on nothing, and with an outline a rim of that colour around each letter', async () => {
    const plain = await drawText('HIT', { sizePercent: 20, color: '#FFFFFF' });
    const { at } = await readPixels(plain);
    expect(at(0, 0)[3]).toBe(0);
    const letters = await count(plain, isLike(WHITE));
    expect(letters).toBeGreaterThan(500);
    expect(await count(plain, (rgba) => rgba[3] !== 0 && !isLike([255, 255, 255, rgba[3] ?? 0])(rgba))).toBe(0);
    const outlined = await drawText('HIT', { sizePercent: 20, outlineColor: '#FF0000' });
    expect(await count(outlined, isLike(WHITE))).toBe(letters);
    expect(await count(outlined, isLike(RED))).toBeGreaterThan(letters / 2);
  });

  test('stands on a box, which is as transparent as its colour says, and on which nothing else is', async () => {
    const boxed = await drawText('l', { sizePercent: 10, boxColor: '#0000FF80' });
    const { at } = await readPixels(boxed);
    for (const [x, y] of [
      [0, 0],
      [boxed.width - 1, boxed.height - 1],
    ] as const)
      expect(at(x, y)).toEqual([0, 0, 255, 128]);
    expect(await count(boxed, isLike(WHITE))).toBeGreaterThan(20);
    expect(await count(boxed, (rgba) => (rgba[3] ?? 0) < 127)).toBe(0);
  });

  test('is as transparent as its layer, where letters are over their box too', async () => {
    const half = await drawText('l', {
      sizePercent: 10,
      boxColor: '#0000FF',
      outlineColor: '#FF0000',
      opacityPercent: 50,
    });
    expect(await count(half, ([, , , alpha = 0]) => Math.abs(alpha - 128) > 1)).toBe(0);
  });

  test('is as high as a line in percent of the frame, and as wide as nine tenths of it at most', async () => {
    const box = { boxColor: '#000000' };
    const one = await drawText('Ag', { ...box, sizePercent: 10 });
    const two = await drawText('Ag\nAg', { ...box, sizePercent: 10 });
    expect(Math.abs(two.height - one.height - FRAME.height / 10)).toBeLessThan(3);
    const long = await drawText('W'.repeat(500), { sizePercent: 5 });
    expect(long.width).toBeLessThanOrEqual(0.9 * FRAME.width + 2);
    expect(long.width).toBeGreaterThan(0.85 * FRAME.width);
    expect(long.height).toBeLessThan(6.5 * 0.05 * FRAME.height);
    const huge = await drawText('word '.repeat(100), { sizePercent: 100 });
    expect(huge.height).toBeLessThanOrEqual(FRAME.height);
  });

  test('is at its anchor with its margin, whatever the letters reach out of their line', async () => {
    const at = async (text: string) => {
      const { x, y } = await drawText(text, { anchor: 'TopLeft', marginPercent: 10, boxColor: '#000000' });
      return [x, y];
    };
    expect(await at('aaa')).toEqual([72, 72]);
    expect(await at('Åg')).toEqual([72, 72]);
    const high = await drawText(`Z${'\u0301'.repeat(30)}`, { anchor: 'BottomRight', boxColor: '#000000' });
    expect(high.height).toBeGreaterThan(100);
    expect(high.y + high.height).toBeLessThanOrEqual(FRAME.height);
    expect(Math.abs(FRAME.width - high.x - high.width - 0.04 * FRAME.height)).toBeLessThan(3);
  });

  test('has another form in each font, bold ones too, and emoji have colours in all of them', async () => {
    const widths = new Map<string, number>();
    for (const font of ['Sans', 'Serif', 'Mono'] as const)
      for (const bold of [false, true]) {
        const layer = await drawText('miil', { font, bold, sizePercent: 20 });
        widths.set(`${font} ${bold}`, await count(layer, isLike(WHITE)));
      }
    expect(new Set(widths.values()).size).toBe(6);
    const emoji = await drawText('😀', { font: 'Mono', sizePercent: 20 });
    expect(
      await count(emoji, ([red = 0, green = 0, blue = 0]) => red > 200 && green > 150 && blue < 100),
    ).toBeGreaterThan(500);
    // A script without a bold font of its own is drawn bold as well.
    const [thin, thick] = [
      await drawText('漢字', { sizePercent: 20 }),
      await drawText('漢字', { sizePercent: 20, bold: true }),
    ];
    expect(await count(thick, isLike(WHITE))).toBeGreaterThan(1.1 * (await count(thin, isLike(WHITE))));
  });

  test('that shows nothing makes no picture, and the others keep their order', async () => {
    const dir = tempDir();
    const layers = ['  ', 'one', '\u202e \n\t', '{{', '\u200b'].map((text) => makeTextLayer(text));
    const drawn = await draw(layers, dir);
    expect(drawn.map(({ path }) => path)).toEqual([join(dir, 'layer-1.png'), join(dir, 'layer-3.png')]);
    expect((await readdir(dir)).sort()).toEqual(['layer-1.png', 'layer-3.png']);
  });
});

/** Tests the pictures that a look shows: their size, their transparency and which way is up, and what is refused as none. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runDecoder } from '../../../src/core/pods/prepare/tools/decoder.ts';
import { openKeeper } from '../../../src/core/pods/prepare/tools/keeper.ts';
import { decoderConfig } from '../../../src/core/protocol/environment.ts';
import type { ImageLayer } from '../../../src/core/resources/upload/overlays.ts';
import { DRAW_TEXT, ensureCompiled } from '../../../tools/process/compiled.ts';
import { draw, drawOne, FRAME, makeImageLayer, makeTextLayer, readPixels } from '../../kit/make/looks.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { ffmpeg, quiet } from '../../kit/make/prepare.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();
const joinSides = (left: string, right: string, size: string) =>
  `color=${left}:s=${size}:d=0.04,format=rgba[a];color=${right}:s=${size}:d=0.04,format=rgba[b];[a][b]hstack`;
/** Red at the left, blue at the right. */
const HALVES = joinSides('red', 'blue', '100x100');
const make = (name: string, source: string, ...output: string[]): Promise<string> =>
  makeMedia(join(dir, name), '-f', 'lavfi', '-i', source, '-frames:v', '1', ...output);
const drawImage = (path: string, change: Partial<ImageLayer> = {}) => drawOne(makeImageLayer(path, change), tempDir());
const near = (rgba: number[], color: number[]) =>
  expect(Math.max(...color.map((value, n) => Math.abs(value - (rgba[n] ?? -99)))), `${rgba}`).toBeLessThan(12);
const [RED, BLUE] = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
] as const;

describe('a picture', () => {
  test.each([
    ['logo.png', []],
    ['logo-8.png', ['-pix_fmt', 'pal8']],
    ['logo-16.png', ['-pix_fmt', 'rgba64be']],
    ['logo.jpg', ['-pix_fmt', 'yuvj444p', '-q:v', '1']],
    ['logo.webp', ['-c:v', 'libwebp', '-lossless', '1']],
    ['logo.gif', []],
  ])('is as wide as its part of the frame, keeps its shape and its colours: %s', async (name, output) => {
    const source =
      name === 'logo-8.png' || name === 'logo.gif' ? `${HALVES},split[c][d];[d]palettegen[p];[c][p]paletteuse` : HALVES;
    const drawn = await drawImage(await make(name, source, ...output), { anchor: 'TopLeft', marginPercent: 0 });
    expect(drawn).toMatchObject({ x: 0, y: 0, width: 0.15 * FRAME.width, height: 0.075 * FRAME.width });
    const { at } = await readPixels(drawn);
    near(at(20, 48), [...RED]);
    near(at(172, 48), [...BLUE]);
  });

  test('that is high is no higher than the frame', async () => {
    const drawn = await drawImage(await make('high.png', 'color=red:s=100x400'), {
      sizePercent: 100,
      anchor: 'Center',
    });
    expect(drawn).toMatchObject({ x: 550, y: 0, width: 180, height: 720 });
  });

  test('keeps its transparency, with no rim of the colours that nobody saw', async () => {
    // Transparent green beside opaque red.
    const source = joinSides('0x00FF00@0.0', 'red', '200x400');
    const drawn = await drawImage(await make('clear.png', source), { sizePercent: 7 });
    const { at } = await readPixels(drawn);
    near(
      at(2, 40),
      [0, 0, 0, 0].map((_, n) => (n === 3 ? 0 : (at(2, 40)[n] ?? 0))),
    );
    near(at(drawn.width - 3, 40), [...RED]);
    for (let x = 0; x < drawn.width; x++) {
      const [, green = 0, , alpha = 0] = at(x, 40);
      if (alpha > 32) expect(green, `at ${x}`).toBeLessThan(12);
    }
  });

  test('is as transparent as its layer, and what was half transparent is half of that', async () => {
    const half = await drawImage(await make('half.png', 'color=red@0.5:s=100x100,format=rgba'), { opacityPercent: 50 });
    near((await readPixels(half)).at(50, 50), [255, 0, 0, 64]);
    const whole = await drawImage(await make('whole.jpg', 'color=red:s=100x100'), { opacityPercent: 25 });
    expect((await readPixels(whole)).at(50, 50)[3]).toBe(64);
  });

  test('is upright where a camera was held otherwise', async () => {
    const jpeg = await readFile(await make('wide.jpg', HALVES, '-pix_fmt', 'yuvj444p', '-q:v', '1'));
    const exif = Buffer.from('ffe1002245786966000049492a00080000000100120103000100000006000000000000000000', 'hex');
    exif.writeUInt16BE(exif.length - 2, 2);
    const path = join(dir, 'turned.jpg');
    await writeFile(path, Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]));
    const drawn = await drawImage(path);
    expect(drawn).toMatchObject({ width: 192, height: 384 });
    const { at } = await readPixels(drawn);
    near(at(96, 20), [...RED]);
    near(at(96, 364), [...BLUE]);
  });

  test('of many is the first of an animation', async () => {
    const path = join(dir, 'film.gif');
    await ffmpeg('-f', 'lavfi', '-i', "color=red:s=64x64:r=10:d=2,hue=h='t*90'", path);
    near((await readPixels(await drawImage(path))).at(30, 30), [...RED]);
  });
});

describe('a look is refused, with the name of its layer,', () => {
  test.each<[string, () => Promise<Buffer | string>, string, RegExp]>([
    [
      'where its picture has 60,000 pixels a side',
      () => claim(60_000),
      'media_too_many_pixels',
      /overlay 2\. .*60000 × 60000/,
    ],
    [
      'where its picture is an SVG',
      async () => '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'media_format_unsupported',
      /overlay 2\. .*SVG/,
    ],
    [
      'where its PNG breaks off',
      async () => (await readFile(await make('a.png', HALVES))).subarray(0, 60),
      'media_unreadable',
      /overlay 2/,
    ],
    [
      'where its picture is a film',
      () => makeMedia(join(dir, 'a.mp4'), '-f', 'lavfi', '-i', 'testsrc2=d=1').then((path) => readFile(path)),
      'media_format_unsupported',
      /overlay 2\. .*film as a video/,
    ],
    ['where its picture is empty', async () => '', 'media_empty', /overlay 2/],
  ])('%s', async (_what, content, code, message) => {
    const path = join(tempDir(), 'picture');
    await writeFile(path, await content());
    const error = await draw([makeTextLayer('title'), makeImageLayer(path)], tempDir()).catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({ name: 'PrepareError', code, message: expect.stringMatching(message) });
  });
});

/** Returns a PNG that claims another size. */
async function claim(side: number): Promise<Buffer> {
  const png = await readFile(await make('claim.png', HALVES));
  png.writeUInt32BE(side, 16);
  png.writeUInt32BE(side, 20);
  return png;
}

test('texts and pictures are drawn alike in the container beside the Job', async () => {
  const path = await make('beside.png', HALVES);
  const layers = [makeTextLayer('Hello שלום', { outlineColor: '#000000' }), makeImageLayer(path)];
  const here = await draw(layers, tempDir());
  const socket = join(tempDir(), 'decoder.sock');
  const keeper = await openKeeper(socket);
  const lifecycle = new Lifecycle();
  onTestFinished(async () => {
    await lifecycle.stop('the test is over');
    await keeper.close();
  });
  const env = { LOOPSTREAM_DECODER_SOCKET: socket, LOOPSTREAM_DRAW_TEXT: await ensureCompiled(DRAW_TEXT) };
  void runDecoder(decoderConfig(env), lifecycle, quiet);
  const tools = { ffmpeg: keeper.tool('ffmpeg'), ffprobe: keeper.tool('ffprobe'), drawText: keeper.tool('drawText') };
  const beside = await draw(layers, tempDir(), { tools });
  expect(beside.map(({ path: _path, ...place }) => place)).toEqual(here.map(({ path: _path, ...place }) => place));
  for (const [n, layer] of beside.entries())
    expect(await readFile(layer.path)).toEqual(await readFile(here[n]?.path ?? ''));
});

/** Draws the layers of looks with the real programs, in the cage, and looks at their pixels. */

import { readFile } from 'node:fs/promises';
import { type DrawnLayer, drawLook, type LookTools } from '../../../src/core/pods/prepare/look/draw.ts';
import type { Size } from '../../../src/core/pods/prepare/look/place.ts';
import { confinedTools } from '../../../src/core/pods/prepare/tools/confined-tools.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import type { ImageLayer, ResolvedLayer, TextLayer } from '../../../src/core/resources/upload/overlays.ts';
import { DRAW_TEXT, ensureCompiled } from '../../../tools/process/compiled.ts';
import { run } from '../run.ts';
import { quiet } from './prepare.ts';

export const FRAME: Size = { width: 1280, height: 720 };

/** Returns the tools as the decoder of a Job has them. */
export const lookTools = async (confine: 'auto' | 'required' = 'auto') =>
  confinedTools({ ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: await ensureCompiled(DRAW_TEXT), confine }, quiet);

export const makeTextLayer = (text: string, change: Partial<TextLayer> = {}): TextLayer => ({
  text,
  anchor: 'BottomRight',
  marginPercent: 4,
  opacityPercent: 100,
  sizePercent: 5,
  font: 'Sans',
  bold: false,
  color: '#FFFFFF',
  ...change,
});

/** The key of the picture is its path. */
export const makeImageLayer = (path: string, change: Partial<ImageLayer> = {}): ImageLayer => ({
  imageKey: path,
  imageSha256: '0'.repeat(64),
  anchor: 'BottomRight',
  marginPercent: 4,
  opacityPercent: 100,
  sizePercent: 15,
  ...change,
});

export async function draw(
  layers: readonly ResolvedLayer[],
  dir: string,
  { frame = FRAME, tools }: { frame?: Size; tools?: LookTools } = {},
): Promise<DrawnLayer[]> {
  return drawLook(layers, frame, {
    tools: tools ?? (await lookTools()),
    signal: new AbortController().signal,
    limits: DEFAULT_LIMITS,
    dir,
    withImage: ({ imageKey }, use) => use(imageKey),
  });
}

/** Draws one text or picture, which shows something. */
export async function drawOne(layer: ResolvedLayer, dir: string, options?: Parameters<typeof draw>[2]) {
  const [drawn] = await draw([layer], dir, options);
  if (!drawn) throw new Error('Nothing is drawn.');
  return drawn;
}

/** Decodes a picture with another program than the one that drew it. `at` returns red, green, blue and alpha. */
export async function readPixels({ path, width, height }: DrawnLayer) {
  const raw = `${path}.rgba`;
  await run('ffmpeg', ['-v', 'error', '-y', '-i', path, '-pix_fmt', 'rgba', '-f', 'rawvideo', raw]);
  const pixels = await readFile(raw);
  if (pixels.length !== 4 * width * height) throw new Error(`${path} does not have ${width} × ${height} pixels`);
  const at = (x: number, y: number) => [...pixels.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];
  return { pixels, at };
}

/** Tests that an import takes the first picture of an image as it is, and refuses what is none by name. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importMedia } from '../../kit/make/imports.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();
const draw = (name: string, source = 'testsrc2=s=320x180,format=rgb24', ...output: string[]): Promise<string> =>
  makeMedia(join(dir, name), '-f', 'lavfi', '-i', source, '-frames:v', '1', ...output);
const write = async (name: string, content: string | Buffer): Promise<string> => {
  await writeFile(join(dir, name), content);
  return join(dir, name);
};
/** Writes another size into the header of a PNG. */
async function claim(width: number, height: number): Promise<string> {
  const png = await readFile(await draw(`${width}.png`));
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return await write(`claims-${width}.png`, png);
}

describe('an image', () => {
  test.each([
    ['a.png', 'png'],
    ['a.jpg', 'mjpeg'],
    ['a.webp', 'webp'],
    ['a.gif', 'gif'],
  ])('%s has a size, and neither a length nor tracks', async (name, codec) => {
    const { durationSeconds, video, audio, tracks } = await importMedia(await draw(name), { type: 'image' });
    expect({ durationSeconds, video, audio, tracks }).toEqual({
      durationSeconds: 0,
      video: { codec, width: 320, height: 180, framerate: 0 },
      audio: undefined,
      tracks: undefined,
    });
  });

  test('may be animated: its first picture counts', async () => {
    const path = join(dir, 'film.gif');
    await makeMedia(path, '-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=10:d=2');
    expect(await importMedia(path, { type: 'image' })).toMatchObject({ durationSeconds: 0, video: { width: 64 } });
  });

  test('may have more pixels than a video', async () => {
    const large = await draw('large.png', 'color=red:s=7000x7000,format=rgb24');
    expect(await importMedia(large, { type: 'image' })).toMatchObject({ video: { width: 7000, height: 7000 } });
    await expect(importMedia(large)).rejects.toMatchObject({ code: 'media_too_many_pixels' });
  });
});

const SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>';

describe('no image is', () => {
  test.each<[string, () => Promise<string>, string, RegExp]>([
    [
      'an SVG drawing',
      () => write('a.svg', SVG),
      'media_format_unsupported',
      /an SVG drawing\. Export it as JPEG or PNG/,
    ],
    ['a film', () => draw('film.mp4'), 'media_format_unsupported', /no PNG, JPEG, WebP or GIF.*a film as a video/],
    ['a BMP', () => draw('a.bmp'), 'media_format_unsupported', /no PNG, JPEG, WebP or GIF picture\. Export it as PNG/],
    ['text', () => write('a.txt', 'words'), 'media_format_unsupported', /no PNG, JPEG, WebP or GIF picture/],
    ['a picture of 60,000 pixels a side', () => claim(60_000, 60_000), 'media_too_many_pixels', /60000 × 60000/],
    ['a picture of 51 megapixels', () => claim(7200, 7200), 'media_too_many_pixels', /50,000,000/],
    ['a PNG without a picture', () => write('cut.png', PNG_HEAD), 'media_unreadable', /Its picture cannot be decoded/],
  ])('%s', async (_what, make, code, message) => {
    const error = await importMedia(await make(), { type: 'image' }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

/** The signature and a header of 9 × 9 pixels. */
const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d494844520000000900000009080200000000000000', 'hex');

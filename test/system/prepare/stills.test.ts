/** Tests still and animated pictures as uploads: a still becomes a clip of ten seconds, an animation keeps its length. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PREVIEW_PROFILE } from '../../../src/core/resources/upload/spec.ts';
import { importWhole } from '../../kit/make/imports.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { room } from '../../kit/make/prepare.ts';
import { pictureIn, played, rendition } from '../../kit/make/rendition.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();

/** Makes one or more pictures from lavfi sources. */
const makePicture = (name: string, source: string, ...output: string[]): Promise<string> =>
  makeMedia(join(dir, name), '-f', 'lavfi', '-i', source, ...output);
const still = (name: string, source = 'color=red:s=320x180', ...output: string[]) =>
  makePicture(name, source, '-frames:v', '1', ...output);

/** Imports and prepares a picture: as a preview, which has a quarter of the pixels, unless `profile` is another one. */
async function uploaded(path: string, profile: string = PREVIEW_PROFILE) {
  const place = await room();
  const { media, warnings } = await importWhole(path);
  const { file, index } = await rendition(place, path, 'video', profile);
  const codes = warnings.map(({ code }) => code);
  return { media, codes, index, file, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

describe('a still picture is a clip of ten seconds, with silence, that shows it from beginning to end', () => {
  test.each([
    ['red.png', [], '720p30'],
    ['red.jpg', ['-q:v', '2']],
    ['red.webp', []],
    ['red.bmp', []],
    ['red.tiff', []],
    ['red.gif', []],
    ['red.avif', ['-c:v', 'libaom-av1', '-still-picture', '1', '-cpu-used', '8']],
  ])('%s', async (name, output, profile?: string) => {
    await using clip = await uploaded(await still(name, undefined, ...output), profile);
    const { media, codes, index } = clip;
    const { y, u, v, silent } = await played(clip.file);
    expect(media).toMatchObject({ durationSeconds: 10, video: { width: 320, height: 180 } });
    expect(codes).toEqual(['still_picture']);
    expect(index.video?.frames).toBe(300);
    expect(silent).toHaveLength(1);
    expect(silent[0]).toBeLessThan(0.01);
    // Red in BT.709 (limited range): the first picture and the last are the same.
    for (const [values, red] of [
      [y, 63],
      [u, 102],
      [v, 240],
    ] as const) {
      expect(values).toHaveLength(300);
      for (const value of [values[0], values[150], values[299]]) expect(Math.abs((value ?? 0) - red)).toBeLessThan(4);
    }
  });

  test('in grey', async () => {
    const grey = await still('grey.jpg', 'color=gray:s=320x180', '-pix_fmt', 'gray');
    await using clip = await uploaded(grey);
    const { y, u } = await played(clip.file);
    expect(y[299]).toBeCloseTo(y[0] ?? 0, 0);
    expect(Math.abs((u[0] ?? 0) - 128)).toBeLessThan(2);
  });

  test('upright, where a camera was held otherwise', async () => {
    const jpeg = await readFile(await still('wide.jpg', 'color=white:s=320x180'));
    const exif = Buffer.from('ffe1002245786966000049492a00080000000100120103000100000006000000000000000000', 'hex');
    exif.writeUInt16BE(exif.length - 2, 2);
    const path = join(dir, 'turned.jpg');
    await writeFile(path, Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]));
    await using clip = await uploaded(path, '720p30');
    const box = await pictureIn(clip.file);
    // 9:16 in the frame of 1280 × 720.
    expect(box[0]).toBeGreaterThan(380);
    expect(box[0]).toBeLessThan(420);
    expect(box[1]).toBe(720);
  });

  test('on black where it is transparent, and says so', async () => {
    const clear = await still('clear.png', 'color=white@0.0:s=320x180,format=rgba');
    await using clip = await uploaded(clear);
    expect(clip.codes).toEqual(['still_picture', 'transparency_on_black']);
    expect((await played(clip.file)).y[0]).toBeLessThan(20);
    const opaque = await still('opaque.png', 'color=white:s=320x180,format=rgba');
    expect((await importWhole(opaque)).warnings.map(({ code }) => code)).toEqual(['still_picture']);
  });

  test.each([
    ['1x1', PREVIEW_PROFILE],
    ['321x181', PREVIEW_PROFILE],
    ['3x4000', '720p30'],
    ['4000x3', PREVIEW_PROFILE],
  ])('of %s pixels', async (size, profile) => {
    await using clip = await uploaded(await still(`${size}.png`, `color=white:s=${size},format=rgb24`), profile);
    expect(clip.index.video?.frames).toBe(300);
  });
});

describe('an animated picture lasts as long as it does', () => {
  test.each([
    ['film.gif', []],
    ['film.apng', ['-plays', '0']],
  ])('%s', async (name, output) => {
    const path = await makePicture(name, 'testsrc2=s=320x180:r=10:d=2', ...output);
    await using clip = await uploaded(path, '720p30');
    const { media, codes, index } = clip;
    expect(media.durationSeconds).toBeCloseTo(2, 1);
    expect(index.durationSeconds).toBeCloseTo(2, 1);
    expect(codes).toEqual([]);
  });
});

describe('a picture that cannot be shown as meant is refused by name, with the next step', () => {
  const refused = async (path: string) =>
    importWhole(path).then(
      () => undefined,
      ({ code, message }) => ({ code, message }),
    );

  test('animated WebP, which this ffmpeg does not read', async () => {
    const path = await makePicture('film.webp', 'testsrc2=s=64x64:r=5:d=1', '-c:v', 'libwebp_anim');
    const { code, message } = (await refused(path)) ?? {};
    expect(code).toBe('media_format_unsupported');
    expect(message).toMatch(/animated WebP.*GIF/);
  });

  test('HEIC, where this ffmpeg does not read it', async () => {
    const path = join(dir, 'photo.heic');
    await writeFile(
      path,
      Buffer.concat([Buffer.from('0000001866747970', 'hex'), Buffer.from('heic\0\0\0\0mif1heic'), Buffer.alloc(500)]),
    );
    expect(await refused(path)).toMatchObject({
      code: 'media_format_unsupported',
      message: expect.stringMatching(/HEIC.*JPEG/),
    });
  });

  test('too many pixels, also beyond a decoder’s own limit', async () => {
    const png = await readFile(await still('size.png'));
    png.writeUInt32BE(30_000, 16);
    png.writeUInt32BE(30_000, 20);
    const path = join(dir, 'claims.png');
    await writeFile(path, png);
    expect(await refused(path)).toMatchObject({
      code: 'media_too_many_pixels',
      message: expect.stringContaining('30000 × 30000'),
    });
  });

  test('CMYK', async () => {
    const path = join(dir, 'print.jpg');
    await writeFile(path, Buffer.from(CMYK, 'base64'));
    expect(await refused(path)).toMatchObject({
      code: 'media_colors_unsupported',
      message: expect.stringMatching(/CMYK.*sRGB/),
    });
  });

  test('encrypted tracks', async () => {
    const key = '00112233445566778899aabbccddeeff';
    const drm = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', key, '-encryption_kid', key];
    const path = await makePicture('drm.mp4', 'testsrc2=s=64x64:r=25:d=1', '-c:v', 'libx264', ...drm);
    expect(await refused(path)).toMatchObject({ code: 'media_encrypted' });
  });

  test('Dolby Vision that is nothing else', async () => {
    const path = await makePicture(
      'hevc.mp4',
      'testsrc2=s=64x64:r=25:d=0.2',
      '-c:v',
      'libx265',
      '-tag:v',
      'hvc1',
      '-x265-params',
      'log-level=0',
    );
    const profile = (number: number, compatibility: number) => withDolbyVision(path, number, compatibility);
    expect(await refused(await profile(5, 0))).toMatchObject({
      code: 'media_colors_unsupported',
      message: expect.stringMatching(/Dolby Vision profile 5.*HDR10/),
    });
    expect(await refused(await profile(8, 1))).toBeUndefined();
  });
});

/** Puts a Dolby Vision configuration record (ETSI TS 103 572) into the sample entry of an MP4 whose moov is its last box. */
async function withDolbyVision(path: string, profile: number, compatibility: number): Promise<string> {
  const file = await readFile(path);
  const record = Buffer.alloc(32);
  record.writeUInt32BE(32, 0);
  record.write('dvcC', 4);
  // Version 1.0, profile (7 bits), level (6), RPU, no enhancement layer, base layer (1 each), compatibility (4).
  record.writeUInt8(1, 8);
  record.writeUInt16BE((profile << 9) | (1 << 3) | 0b101, 10);
  record.writeUInt8(compatibility << 4, 12);
  const starts = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'hvc1'].map((name) => file.indexOf(name) - 4);
  const entry = starts.at(-1) ?? 0;
  const end = entry + file.readUInt32BE(entry);
  for (const start of starts) file.writeUInt32BE(file.readUInt32BE(start) + record.length, start);
  const changed = `${path}.${profile}.mp4`;
  await writeFile(changed, Buffer.concat([file.subarray(0, end), record, file.subarray(end)]));
  return changed;
}

/** A JPEG of 16 × 16 pixels in four colours, as programs for print write it. */
const CMYK =
  '/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwBQNzxGPDJQRkFGWlVQX3jIgnhubnj1r7mRyP///////////////////////////////////////////////////8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwC7UFQVdoooooooooooor//2Q==';

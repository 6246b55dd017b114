/** Tests that a file is refused with the name of the track that no decoder takes, where ffprobe ends without a result. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseUnopened } from '../../../../../src/media/prepare/inspect/unopened.ts';
import { importMedia } from '../../../../kit/make/imports.ts';
import { ffmpeg, room } from '../../../../kit/make/prepare.ts';

const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=1'];

/** Replaces bytes behind a mark that the file has. */
async function patch(file: string, mark: Buffer, by: Buffer): Promise<void> {
  const bytes = await readFile(file);
  const at = bytes.indexOf(mark);
  expect(at).toBeGreaterThan(0);
  by.copy(bytes, at + mark.length);
  await writeFile(file, bytes);
}

/** The AudioSpecificConfig of xHE-AAC: the escape to object type 42, at 48 kHz. It follows its tag and length in `esds`. */
const XHE = Buffer.from([0xf9, 0x46, 0x40, 0, 0]);
const CONFIG = Buffer.from([0x05, 0x80, 0x80, 0x80, 0x05]);

test.each([
  ['video', 'film.mp4', [...picture, ...tone, '-c:v', 'mpeg4', '-c:a', 'aac'], 'audio track 1'],
  ['audio', 'song.m4a', [...tone, '-c:a', 'aac'], 'audio track 0'],
] as const)('xHE-AAC is named, as %s', async (type, name, options, track) => {
  await using place = await room();
  const file = place.path(name);
  await ffmpeg(...options, file);
  await patch(file, CONFIG, XHE);
  await expect(importMedia(file, { type })).rejects.toMatchObject({
    code: 'media_format_unsupported',
    message: expect.stringMatching(new RegExp(`Its ${track} uses xHE-AAC \\(USAC\\), which cannot be decoded\\.`)),
  });
});

test('a track whose decoder refuses its setup is named by its codec', async () => {
  await using place = await room();
  const file = place.path('in.mkv');
  await ffmpeg(...picture, ...tone, '-c:v', 'mpeg4', '-c:a', 'libvorbis', file);
  await patch(file, Buffer.from('\x01vorbis'), Buffer.alloc(16, 0xff));
  await expect(importMedia(file)).rejects.toMatchObject({
    code: 'media_format_unsupported',
    message: expect.stringContaining('track 1 uses vorbis'),
  });
});

test('words of other messages name no track', () => {
  expect(parseUnopened('Invalid data found when processing input\n')).toBeUndefined();
  expect(parseUnopened('Could not open codec for input stream 3\n')).toEqual({ index: 3 });
});

/** Tests that a track at which ffprobe gives up costs its neighbours nothing, and is named. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { probe } from '../../../../../../src/core/pods/prepare/inspect/probe.ts';
import { parseUnopened } from '../../../../../../src/core/pods/prepare/inspect/unopened.ts';
import { confinedTools } from '../../../../../../src/core/pods/prepare/tools/confined-tools.ts';
import { importMedia, importWhole } from '../../../../../kit/make/imports.ts';
import { ffmpeg, ffprobe, quiet, room } from '../../../../../kit/make/prepare.ts';
import { rendition } from '../../../../../kit/make/rendition.ts';

type Place = Awaited<ReturnType<typeof room>>;

const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=1'];
const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=1`];

/** Replaces bytes behind a mark, at the first places of it. */
async function patch(file: string, mark: Buffer, by: Buffer, places = 1): Promise<void> {
  const bytes = await readFile(file);
  let at = 0;
  for (let place = 0; place < places; place++) {
    const found = bytes.indexOf(mark, at);
    expect(found).toBeGreaterThan(0);
    at = found + mark.length;
    by.copy(bytes, at);
  }
  await writeFile(file, bytes);
}

/** The AudioSpecificConfig of xHE-AAC: the escape to object type 42, at 48 kHz. It follows its tag and length in `esds`. */
const XHE = Buffer.from([0xf9, 0x46, 0x40, 0, 0]);
const CONFIG = Buffer.from([0x05, 0x80, 0x80, 0x80, 0x05]);
/** In AVI, it follows the bits of a sample and its own length. */
const CONFIG_OF_AVI = Buffer.from([0x10, 0, 0x05, 0]);

/** Makes a file of a picture and two sounds, the first of which ffprobe cannot open. */
async function makeFilm(place: Place, name: string, sound: string, mark: Buffer, by: Buffer): Promise<string> {
  const file = place.path(name);
  const codecs = ['-c:v', 'mpeg4', '-c:a:0', sound, '-c:a:1', 'aac'];
  await ffmpeg(...picture, ...tone(440), ...tone(880), '-map', '0', '-map', '1', '-map', '2', ...codecs, file);
  await patch(file, mark, by);
  await expect(ffprobe(file)).rejects.toThrow();
  return file;
}

describe('a track that ffprobe cannot open is named, and its neighbours play', () => {
  test.each([
    ['film.mp4', 'aac', CONFIG, XHE, 'xHE-AAC (USAC)'],
    ['film.mov', 'alac', Buffer.from('alac\0\0\0\0'), Buffer.alloc(28), 'alac'],
    ['film.avi', 'aac', CONFIG_OF_AVI, XHE, 'xHE-AAC (USAC)'],
    ['film.mkv', 'libvorbis', Buffer.from('\x01vorbis'), Buffer.alloc(16, 0xff), 'vorbis'],
  ])('%s with %s', async (name, sound, mark, by, called) => {
    await using place = await room();
    const { media, warnings } = await importWhole(await makeFilm(place, name, sound, mark, by));
    expect(media).toMatchObject({ video: { codec: 'mpeg4' }, audio: { codec: 'aac' } });
    expect(media.tracks?.[1]).toMatchObject({ kind: 'audio', codec: called, unplayable: true });
    expect(warnings).toMatchObject([
      { code: 'track_unplayable', message: expect.stringContaining(`It is audio track 1 (${called}`) },
    ]);
  });

  test('several of them, in fragments', async () => {
    await using place = await room();
    const file = place.path('film.mp4');
    const maps = [1, 1, 1, 1, 2].flatMap((input) => ['-map', String(input)]);
    const fragments = ['-movflags', 'empty_moov+frag_keyframe'];
    await ffmpeg(
      ...picture,
      ...tone(440),
      ...tone(880),
      '-map',
      '0',
      ...maps,
      '-c:v',
      'mpeg4',
      '-c:a',
      'aac',
      ...fragments,
      file,
    );
    await patch(file, CONFIG, XHE, 4);
    const { media, warnings } = await importWhole(file);
    expect(media).toMatchObject({ audio: { codec: 'aac' }, tracks: { length: 6 } });
    expect(media.tracks?.flatMap(({ index, unplayable }) => (unplayable ? [index] : []))).toEqual([1, 2, 3, 4]);
    expect(warnings.map(({ code }) => code)).toEqual(['track_unplayable']);
  });

  test('pictures, beside music', async () => {
    await using place = await room();
    const file = place.path('song.mp4');
    await ffmpeg(...picture, ...tone(440), '-c:v', 'libx265', '-x265-params', 'log-level=none', '-c:a', 'aac', file);
    await patch(file, Buffer.from('hvcC'), Buffer.alloc(60, 0xff));
    expect(await importWhole(file, { type: 'audio' })).toMatchObject({
      media: { audio: { codec: 'aac' } },
      warnings: [],
    });
    await expect(importMedia(file)).rejects.toMatchObject({
      code: 'media_format_unsupported',
      message: expect.stringContaining('Its video track uses the codec hevc, which cannot be decoded.'),
    });
  });

  test('on air', async () => {
    await using place = await room();
    const { audio, warnings } = await rendition(place, await makeFilm(place, 'film.mp4', 'aac', CONFIG, XHE));
    expect(audio).toMatchObject({ codec_name: 'aac' });
    expect(warnings).toEqual([]);
  });
});

test('a file is hidden from a confined ffprobe wherever it is', async () => {
  await using place = await room();
  const file = await makeFilm(place, "it's a \\ film, ,:file: (1).mp4", 'aac', CONFIG, XHE);
  const tools = confinedTools({ ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: 'draw-text', confine: 'auto' }, quiet);
  expect(await probe(file, tools, new AbortController().signal)).toMatchObject({ audio: { index: 2 } });
});

test('a file whose only track cannot be opened is refused with its codec', async () => {
  await using place = await room();
  const file = place.path('song.m4a');
  await ffmpeg(...tone(440), '-c:a', 'aac', file);
  await patch(file, CONFIG, XHE);
  await expect(importMedia(file, { type: 'audio' })).rejects.toMatchObject({
    code: 'media_format_unsupported',
    message: expect.stringContaining('Its audio track uses the codec xHE-AAC (USAC), which cannot be decoded.'),
  });
});

test('in a container whose tracks cannot be hidden, the track is named', async () => {
  await using place = await room();
  const file = place.path('film.flv');
  await ffmpeg(...picture, ...tone(440), '-c:v', 'flv1', '-c:a', 'aac', file);
  await patch(file, Buffer.from([0xaf, 0]), XHE);
  await expect(importMedia(file)).rejects.toMatchObject({
    code: 'media_format_unsupported',
    message: expect.stringMatching(/Its audio track \d uses xHE-AAC \(USAC\), which cannot be decoded\./),
  });
});

test('words of other messages name no track', () => {
  expect(parseUnopened('Invalid data found when processing input\n')).toBeUndefined();
  expect(parseUnopened('Could not open codec for input stream 3\n')).toEqual({ index: 3 });
});

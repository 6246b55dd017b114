/** Tests which tracks of a file play, by the tones that come out of its rendition, and what the import says about the others. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importWhole } from '../../kit/make/imports.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';

type Room = Awaited<ReturnType<typeof room>>;

const SMALL = ['-c:v', 'mpeg2video', '-b:v', '300k'];
const picture = (size = '160x90') => ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25:d=1`];
const tone = (hertz: number, seconds = 1) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${seconds}`];
const all = (count: number) => Array.from({ length: count }, (_, input) => ['-map', `${input}`]).flat();

/** Returns the level of each tone on the left and on the right, in dB. */
async function levels(file: string, hertz: number[]): Promise<number[][]> {
  return await Promise.all(
    hertz.map(async (frequency) => {
      const filters = `bandpass=f=${frequency}:width_type=h:w=10,bandpass=f=${frequency}:width_type=h:w=10,astats=metadata=0`;
      const { stderr } = await ffmpeg('-v', 'info', '-i', file, '-vn', '-af', filters, '-f', 'null', '-');
      return [...stderr.matchAll(/RMS level dB: (\S+)/g)].slice(0, 2).map(([, level]) => Number(level));
    }),
  );
}

const LOUD = -50;
const isHeard = (sides: number[] | undefined) => sides?.map((level) => level > LOUD);

/** Which of two tones comes out on [left, right]. */
async function heard(place: Room, file: string, hertz = [220, 880], type: 'video' | 'audio' = 'video') {
  const made = await rendition(place, file, type);
  return (await levels(made.file, hertz)).map(isHeard);
}
const BOTH = [true, true];
const NONE = [false, false];

/** Gives the sample entries of sound tracks the name of a codec that ffmpeg does not know; of the first `count` tracks. */
async function renameEntries(file: string, name: string, count = 1): Promise<void> {
  const bytes = await readFile(file);
  let at = -1;
  for (let track = 0; track < count; track++) {
    at = bytes.indexOf('mp4a', at + 1);
    bytes.write(name, at, 'latin1');
    // It would tell the true codec.
    bytes.write('free', bytes.indexOf('esds', at), 'latin1');
  }
  await writeFile(file, bytes);
}

describe('the sound that plays is', () => {
  test('that of the program whose picture plays', async () => {
    await using place = await room();
    const programs = ['-program', 'title=Radio:st=0', '-program', 'title=TV:st=1:st=2'];
    const file = place.path('in.ts');
    await ffmpeg(...tone(220), ...picture(), ...tone(880), ...all(3), ...SMALL, ...programs, file);
    expect(await heard(place, file)).toEqual([NONE, BOTH]);
  });

  test.each([
    ['audio description', ['-disposition:a:0', 'visual_impaired+descriptions']],
    ['a commentary', ['-disposition:a:0', 'comment']],
    ['a dub', ['-disposition:a:0', 'default+dub']],
    [
      'a commentary by its title alone',
      ['-metadata:s:a:0', 'title=Director’s commentary', '-disposition:a:0', 'default'],
    ],
  ])('the main one, not %s before it', async (_, flags) => {
    await using place = await room();
    const file = place.path('in.mkv');
    await ffmpeg(
      ...picture(),
      ...tone(220),
      ...tone(880),
      ...all(3),
      ...SMALL,
      ...flags,
      '-disposition:a:1',
      '0',
      file,
    );
    expect(await heard(place, file)).toEqual([NONE, BOTH]);
  });

  test.each([
    ['more channels', ['-ac:a:0', '1', '-ac:a:1', '2']],
    ['a better bit rate', ['-ac', '2', '-b:a:0', '64k', '-b:a:1', '192k']],
  ])('the one with %s, where no flag decides', async (_, options) => {
    await using place = await room();
    const file = place.path('in.ts');
    await ffmpeg(...picture(), ...tone(220), ...tone(880), ...all(3), ...SMALL, ...options, file);
    expect(await heard(place, file)).toEqual([NONE, BOTH]);
  });

  test.each(['mxf', 'mov'])('both of two mono tracks, on the left and on the right: %s', async (ending) => {
    await using place = await room();
    const file = place.path(`in.${ending}`);
    const pictures = ending === 'mxf' ? picture('720x576') : picture();
    await ffmpeg(...pictures, ...tone(220), ...tone(880), ...all(3), ...SMALL, '-c:a', 'pcm_s16le', '-ac', '1', file);
    expect(await heard(place, file)).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(await heard(place, file, [220, 880], 'audio')).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test.each([
    ['of two languages', ['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu'], tone(880)],
    ['of two lengths', [], tone(880, 0.5)],
  ])('the first of two mono tracks %s', async (_, flags, second) => {
    await using place = await room();
    const file = place.path('in.mov');
    const mono = ['-c:a', 'pcm_s16le', '-ac', '1'];
    await ffmpeg(...picture(), ...tone(220), ...second, ...all(3), ...SMALL, ...mono, ...flags, file);
    expect(await heard(place, file)).toEqual([BOTH, NONE]);
  });
});

describe('a track that cannot be decoded', () => {
  test('leaves its place to another one, and is named with its language', async () => {
    await using place = await room();
    const file = place.path('in.mp4');
    const flags = ['-metadata:s:a:0', 'language=fra'];
    await ffmpeg(...picture(), ...tone(220), ...tone(880), ...all(3), '-c:v', 'mpeg4', ...flags, file);
    await renameEntries(file, 'mha1');
    expect(await heard(place, file)).toEqual([NONE, BOTH]);
    const { warnings } = await importWhole(file);
    expect(warnings).toMatchObject([
      { code: 'track_unplayable', message: expect.stringMatching(/track 1 \(mha1, fra\)/) },
    ]);
  });

  test('is named where it was the only one', async () => {
    await using place = await room();
    const file = place.path('in.mp4');
    await ffmpeg(...picture(), ...tone(220), ...all(2), '-c:v', 'mpeg4', file);
    await renameEntries(file, 'apac');
    const { media, warnings } = await importWhole(file);
    expect(media.audio).toBeUndefined();
    expect(warnings).toMatchObject([{ code: 'track_unplayable', message: expect.stringContaining('apac') }]);
    await expect(importWhole(file, { type: 'audio' })).rejects.toMatchObject({
      code: 'media_format_unsupported',
      message: expect.stringContaining('apac'),
    });
  });

  test('is one of forty that are named in one sentence', async () => {
    await using place = await room();
    const file = place.path('in.mp4');
    const copies = Array.from({ length: 40 }, () => ['-map', '1']).flat();
    await ffmpeg(...picture(), ...tone(220, 0.3), '-map', '0', ...copies, '-c:v', 'mpeg4', file);
    await renameEntries(file, 'mha1', 40);
    const { warnings } = await importWhole(file);
    expect(warnings.map(({ code }) => code)).toEqual(['track_unplayable']);
    expect(warnings[0]?.message).toMatch(/ and 35 more\.$/);
  });
});

test.each([3, 6, 10, 60])('each of %i channels without places is heard', async (count) => {
  await using place = await room();
  const hertz = Array.from({ length: count }, (_, channel) => 200 + 130 * channel);
  const channels = hertz.map((frequency) => `0.2*sin(2*PI*${frequency}*t)`).join('|');
  await ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${channels}:s=48000:d=1`, '-c:a', 'pcm_s16le', place.path('in.wav'));
  const bytes = await readFile(place.path('in.wav'));
  // WAVE_FORMAT_EXTENSIBLE: a mask of zero names no places.
  const format = bytes.indexOf('fmt ');
  if (bytes.readUInt16LE(format + 8) === 0xfffe) bytes.writeUInt32LE(0, format + 28);
  await writeFile(place.path('in.wav'), bytes);
  const some = [hertz[0] ?? 0, hertz[3] ?? hertz[1] ?? 0, hertz.at(-1) ?? 0];
  const areHeard = async (file: string, type: 'video' | 'audio') =>
    (await heard(place, file, some, type)).map((sides) => sides?.includes(true));
  expect(await areHeard(place.path('in.wav'), 'audio')).toEqual([true, true, true]);
  // A MOV has words for up to eight places, and one of them is the subwoofer's.
  if (count > 8) {
    const film = place.path('film.mov');
    await ffmpeg(...picture(), '-i', place.path('in.wav'), ...all(2), '-c:v', 'mpeg4', '-c:a', 'copy', film);
    expect(await areHeard(film, 'video')).toEqual([true, true, true]);
  }
  await importWhole(place.path('in.wav'), { type: 'audio' });
});

/** Tests that the tracks play which the owner has chosen, and that a choice which cannot play says so. */
import { describe, expect, test } from 'vitest';
import { fitResult } from '../../../src/core/pods/prepare/inspect/tracks.ts';
import type { MediaInfo, TrackChoice } from '../../../src/core/resources/upload/spec.ts';
import { warn } from '../../../src/core/resources/upload/warnings.ts';
import { importWhole } from '../../kit/make/imports.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';

type Room = Awaited<ReturnType<typeof room>>;

const SMALL = ['-c:v', 'mpeg2video', '-b:v', '300k'];
const picture = (size = '160x90') => ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25:d=1`];
const tone = (hertz: number, seconds = 1) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${seconds}`];
const all = (count: number) => Array.from({ length: count }, (_, input) => ['-map', `${input}`]).flat();

/** A picture and two sound tracks: 220 Hz, and 880 Hz. */
async function makeTwo(place: Room, ...options: string[]): Promise<string> {
  const file = place.path('in.mkv');
  await ffmpeg(...picture(), ...tone(220), ...tone(880), ...all(3), ...SMALL, ...options, file);
  return file;
}

const LOUD = -50;

/** Which of two tones comes out on [left, right]. */
async function heard(place: Room, file: string, tracks: TrackChoice): Promise<boolean[][]> {
  const made = await rendition(place, file, 'video', '720p30', { tracks });
  const levels = [220, 880].map(async (frequency) => {
    const band = `bandpass=f=${frequency}:width_type=h:w=10`;
    const { stderr } = await ffmpeg(
      '-v',
      'info',
      '-i',
      made.file,
      '-vn',
      '-af',
      `${band},${band},astats`,
      '-f',
      'null',
      '-',
    );
    const sides = [...stderr.matchAll(/RMS level dB: (\S+)/g)].slice(0, 2);
    return sides.map(([, level]) => Number(level) > LOUD);
  });
  return await Promise.all(levels);
}

describe('the owner chooses', () => {
  test('another sound track than the one that plays by itself', async () => {
    await using place = await room();
    const file = await makeTwo(place, '-disposition:a:0', 'default', '-disposition:a:1', '0');
    expect(await heard(place, file, { audio: 2 })).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test('two tracks as left and right, whatever comes first', async () => {
    await using place = await room();
    const file = await makeTwo(place);
    expect(await heard(place, file, { audio: 2, audioRight: 1 })).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  test('a track that the list leaves out, of a file with many', async () => {
    await using place = await room();
    const file = place.path('in.mkv');
    const copies = Array.from({ length: 68 }, () => ['-map', '1']).flat();
    await ffmpeg(...picture(), ...tone(220), ...tone(880), '-map', '0', ...copies, '-map', '2', ...SMALL, file);
    const { media } = await importWhole(file);
    expect([media.tracks?.length, media.moreTracks]).toEqual([64, 6]);
    expect(await heard(place, file, { audio: 69 })).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test('another picture', async () => {
    await using place = await room();
    const file = place.path('in.mkv');
    const red = ['-f', 'lavfi', '-i', 'color=red:s=160x90:r=25:d=1'];
    await ffmpeg(...picture('320x180'), ...red, ...tone(220), ...all(3), ...SMALL, '-map_chapters', '-1', file);
    const made = await rendition(place, file, 'video', '720p30', { tracks: { video: 1 } });
    const stats = ['-vf', 'signalstats,metadata=print:key=lavfi.signalstats.VAVG:file=-', '-frames:v', '1'];
    const { stdout } = await ffmpeg('-i', made.file, ...stats, '-f', 'null', '-');
    expect(Number(/VAVG=(\S+)/.exec(stdout)?.[1])).toBeGreaterThan(200);
  });
});

test.each([
  [{ audio: 7 }, 'no audio track 7. Choose one of its audio tracks 1, 2.'],
  [{ audio: 0 }, 'no audio track 0.'],
  [{ video: 1 }, 'no video track 1. Its only video track that can be played is 0.'],
  [{ audio: 1, audioRight: 1 }, 'another audio track'],
])('a choice of %j is refused with those that there are', async (tracks, words) => {
  await using place = await room();
  const file = await makeTwo(place);
  await expect(rendition(place, file, 'video', '720p30', { tracks })).rejects.toMatchObject({
    code: 'media_track_not_found',
    message: expect.stringContaining(words),
  });
});

test('an import lists the declared tracks, and those that play by themselves', async () => {
  await using place = await room();
  const named = [
    '-metadata:s:a:0',
    'language=eng',
    '-metadata:s:a:1',
    'language=deu',
    '-metadata:s:a:1',
    'title=Deutsch',
  ];
  const flags = ['-disposition:a:0', '0', '-disposition:a:1', 'default'];
  const { media } = await importWhole(await makeTwo(place, ...named, ...flags));
  expect(media.tracks).toEqual([
    { index: 0, kind: 'video', codec: 'mpeg2video', automatic: true },
    { index: 1, kind: 'audio', codec: 'vorbis', language: 'eng', channels: 1 },
    { index: 2, kind: 'audio', codec: 'vorbis', language: 'deu', title: 'Deutsch', channels: 1, automatic: true },
  ]);
  expect(media).not.toHaveProperty('moreTracks');
});

describe('a result', () => {
  const MOST = 4000;
  const build = (count: number, warnings = 1) => ({
    media: {
      sha256: 'a'.repeat(64),
      sizeBytes: 10 ** 9,
      durationSeconds: 3600.123,
      name: 'film.mkv',
      video: { codec: 'h264', width: 1920, height: 1080, framerate: 29.97 },
      audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
      tracks: Array.from({ length: count }, (_, index) => ({
        index,
        kind: 'audio' as const,
        codec: 'aac',
        language: 'eng',
        title: 'ダイレクターズ・コメンタリー',
        channels: 2,
        ...(index === count - 1 && { automatic: true }),
      })),
    } satisfies MediaInfo as MediaInfo,
    warnings: Array.from({ length: warnings }, () => warn('track_unplayable', 'x'.repeat(300))),
  });
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  test('lists forty tracks, without their titles', () => {
    const { media } = fitResult(build(40), MOST);
    expect(bytes(fitResult(build(40), MOST))).toBeLessThanOrEqual(MOST);
    expect(media.tracks).toHaveLength(40);
    expect(media).not.toHaveProperty('moreTracks');
  });

  test('names those that play, and says how many more there are, where not all fit', () => {
    const fitted = fitResult(build(64, 7), MOST);
    expect(bytes(fitted)).toBeLessThanOrEqual(MOST);
    const { tracks = [], moreTracks = 0 } = fitted.media;
    expect(tracks.length + moreTracks).toBe(64);
    expect(tracks.at(-1)).toMatchObject({ index: 63, automatic: true });
  });

  test('shortens long tags first, which may be longer than a Job can report', () => {
    const word = '夜'.repeat(256);
    const tags = { title: word, artist: word, album: word, isrc: 'USRC17607839', label: word, license: word };
    const one = build(1);
    const fitted = fitResult({ ...one, media: { ...one.media, tags } }, MOST);
    expect(bytes(fitted)).toBeLessThanOrEqual(MOST);
    expect(fitted.media.tracks).toEqual(one.media.tracks);
    expect(fitted.media.tags).toMatchObject({ title: '夜'.repeat(80), isrc: 'USRC17607839' });
  });

  test('keeps titles that fit', () => {
    expect(fitResult(build(3), MOST)).toEqual(build(3));
  });
});

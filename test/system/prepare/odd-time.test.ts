/** Tests sources whose time, pictures or sound change in the middle, or whose tracks end apart: they play from beginning to end. */
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importWhole } from '../../kit/make/imports.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { ffmpeg, ffprobe, room } from '../../kit/make/prepare.ts';
import { played, rendition } from '../../kit/make/rendition.ts';

type Place = Awaited<ReturnType<typeof room>>;

interface Clip {
  size?: string;
  colour?: string;
  fps?: number;
  seconds?: number;
  soundSeconds?: number;
  hertz?: number;
  output?: string[];
}
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-pix_fmt', 'yuv420p'];

/** Makes a clip of one colour with a tone; a length of zero leaves either out. */
async function clip(place: Place, name: string, options: Clip = {}): Promise<string> {
  const { size = '320x180', colour = 'white', fps = 25, seconds = 2, soundSeconds = seconds, hertz = 440 } = options;
  const pictures = seconds > 0 ? ['-f', 'lavfi', '-i', `color=${colour}:s=${size}:r=${fps}:d=${seconds}`] : [];
  const sound = soundSeconds > 0 ? ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${soundSeconds}`] : [];
  return makeMedia(place.path(name), ...pictures, ...sound, ...(seconds > 0 ? H264 : []), ...(options.output ?? []));
}

/** Joins the bytes, as `cat` does. */
async function joined(place: Place, name: string, ...parts: string[]): Promise<string> {
  await writeFile(place.path(name), Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))));
  return place.path(name);
}

/** Appends as a recorder does to its FLV: without another header. */
async function appended(place: Place, name: string, one: string, two: string): Promise<string> {
  await writeFile(place.path(name), Buffer.concat([await readFile(one), (await readFile(two)).subarray(13)]));
  return place.path(name);
}

/** Imports and prepares a video, and returns its played content. */
async function prepareAndPlay(place: Place, file: string) {
  const { media, warnings } = await importWhole(file);
  const made = await rendition(place, file);
  const { y, silent } = await played(made.file);
  const codes = warnings.map(({ code }) => code);
  return { media, codes, warnings, seconds: made.index.durationSeconds, bright: y, silent, file: made.file };
}

async function preparedSound(place: Place, file: string) {
  const { media, warnings } = await importWhole(file, { type: 'audio' });
  const made = await rendition(place, file, 'audio');
  const { stderr } = await ffmpeg(
    '-v',
    'info',
    '-i',
    made.file,
    '-af',
    'silencedetect=n=-45dB:d=0.08',
    '-f',
    'null',
    '-',
  );
  const silent = [...stderr.matchAll(/silence_start: (\S+)/g)].map(([, at]) => Number(at));
  return { media, codes: warnings.map(({ code }) => code), seconds: made.index.durationSeconds, silent };
}

describe('a track that is not chosen may outlast those that are', () => {
  test.each(['subtitles', 'a second sound', 'chapters'])('%s', async (what) => {
    await using place = await room();
    const plain = await clip(place, 'plain.mkv', { seconds: 1 });
    await writeFile(
      place.path('late.srt'),
      '1\n00:00:00,100 --> 00:00:00,900\nHi\n\n2\n00:00:40,000 --> 00:00:50,000\nBye\n',
    );
    await writeFile(place.path('late.txt'), ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=50\ntitle=One\n');
    const others: Record<string, string[]> = {
      subtitles: ['-i', place.path('late.srt'), '-map', '0', '-map', '1'],
      'a second sound': ['-f', 'lavfi', '-i', 'sine=d=20', '-map', '0', '-map', '1', '-c:a:1', 'aac'],
      chapters: ['-i', place.path('late.txt'), '-map', '0', '-map_chapters', '1'],
    };
    const file = place.path('in.mkv');
    await ffmpeg('-i', plain, ...(others[what] ?? []), '-c:v', 'copy', '-c:a:0', 'copy', file);
    const { media, warnings } = await importWhole(file);
    expect(media.durationSeconds).toBeCloseTo(1, 1);
    expect(warnings).toEqual([]);
  });

  test('a file that is cut off is refused all the same', async () => {
    await using place = await room();
    const plain = await clip(place, 'plain.mkv', { seconds: 4 });
    await writeFile(
      place.path('late.srt'),
      '1\n00:00:00,100 --> 00:00:00,900\nHi\n\n2\n00:00:40,000 --> 00:00:50,000\nBye\n',
    );
    const file = place.path('in.mkv');
    await ffmpeg('-i', plain, '-i', place.path('late.srt'), '-map', '0', '-map', '1', '-c', 'copy', file);
    await truncate(file, Math.floor((await readFile(file)).length * 0.5));
    await expect(importWhole(file)).rejects.toMatchObject({ code: 'media_unreadable' });
  });
});

describe('the pictures change in the middle: both parts fill the frame', () => {
  test.each<[string, Clip]>([
    ['their size', { size: '640x360' }],
    ['their pixel aspect', { size: '240x180', output: ['-aspect', '16:9'] }],
    ['their frame rate', { fps: 50 }],
    [
      'the range of their colours',
      { output: ['-vf', 'scale=out_range=pc', '-pix_fmt', 'yuvj420p', '-color_range', 'pc'] },
    ],
  ])('%s', async (_what, change) => {
    await using place = await room();
    const one = await clip(place, 'one.ts', { output: ['-muxdelay', '0'] });
    const output = [...(change.output ?? []), '-muxdelay', '0', '-output_ts_offset', '2'];
    const two = await clip(place, 'two.ts', { ...change, output });
    const { seconds, bright, silent, codes } = await prepareAndPlay(place, await joined(place, 'in.ts', one, two));
    expect(Math.abs(seconds - 4)).toBeLessThan(0.1);
    expect(Math.min(...bright)).toBeGreaterThan(228);
    expect(silent).toEqual([]);
    expect(codes).toEqual([]);
  });
});

test('pictures that could be copied until they change are all of one size', async () => {
  await using place = await room();
  const fitting: Clip = { size: '1280x720', fps: 30, soundSeconds: 0, output: ['-muxdelay', '0'] };
  const one = await clip(place, 'one.ts', fitting);
  const output = ['-muxdelay', '0', '-output_ts_offset', '2'];
  const two = await clip(place, 'two.ts', { ...fitting, size: '640x360', output });
  const { index, file } = await rendition(place, await joined(place, 'in.ts', one, two));
  expect(index.durationSeconds).toBeCloseTo(4, 6);
  const { frames } = await ffprobe(file, '-select_streams', 'v', '-show_entries', 'frame=width');
  expect(new Set(frames.map(({ width }: { width: number }) => width))).toEqual(new Set([1280]));
});

describe('time restarts or jumps in the middle: the parts follow each other', () => {
  const cases: [string, string, string[]][] = [
    ['begins anew', 'ts', []],
    ['jumps ahead by a second', 'ts', ['-output_ts_offset', '3.2']],
    ['jumps ahead by an hour', 'ts', ['-output_ts_offset', '3600']],
    ['begins anew', 'flv', []],
    ['begins anew', 'mpg', ['-c:v', 'mpeg2video', '-c:a', 'mp2']],
  ];
  for (const sound of [2, 0])
    test.each(cases)(`it %s, in %s ${sound ? 'with' : 'without'} sound`, async (_what, ending, more) => {
      await using place = await room();
      const join = ending === 'flv' ? appended : joined;
      const codecs = more.includes('mp2') ? more : ['-c:a', 'aac'];
      const one = await clip(place, `one.${ending}`, { soundSeconds: sound, output: codecs });
      const second = { soundSeconds: sound, colour: 'gray', output: [...codecs, ...more] };
      const two = await clip(place, `two.${ending}`, second);
      const { seconds, bright, silent, codes } = await prepareAndPlay(
        place,
        await join(place, `in.${ending}`, one, two),
      );
      expect(Math.abs(seconds - 4)).toBeLessThan(0.15);
      // Each part lasts its own time.
      expect(Math.abs(bright.filter((y) => y > 200).length - 60)).toBeLessThanOrEqual(4);
      expect(silent.length).toBe(sound ? 0 : 1);
      expect(codes).toEqual(['time_restarts']);
    });

  test('it jumps back by half of the first part, and again, and sound and pictures stay together', async () => {
    await using place = await room();
    const parts = await Promise.all(
      [0, 1, 0.5].map((at) => clip(place, `at${at}.ts`, { output: ['-output_ts_offset', String(at)] })),
    );
    const { seconds, silent } = await prepareAndPlay(place, await joined(place, 'in.ts', ...parts));
    expect(Math.abs(seconds - 6)).toBeLessThan(0.2);
    expect(silent).toEqual([]);
  });
});

describe('the sound goes on where there are no pictures', () => {
  test('the last picture is held', async () => {
    await using place = await room();
    const made = await prepareAndPlay(place, await clip(place, 'in.mkv', { seconds: 1, soundSeconds: 4 }));
    expect(Math.abs(made.seconds - 4)).toBeLessThan(0.05);
    expect(made.media.durationSeconds).toBeCloseTo(4, 1);
    expect(Math.min(...made.bright)).toBeGreaterThan(228);
    expect(made.silent).toEqual([]);
    expect(made.warnings).toEqual([{ code: 'picture_held', message: expect.stringContaining('3.0 s at the end') }]);
  });

  test('of a single picture', async () => {
    await using place = await room();
    const made = await prepareAndPlay(place, await clip(place, 'in.mp4', { fps: 1, seconds: 1, soundSeconds: 5 }));
    expect(Math.abs(made.seconds - 5)).toBeLessThan(0.05);
    expect(Math.min(...made.bright)).toBeGreaterThan(228);
    expect(made.silent).toEqual([]);
  });

  test('the first picture is shown before its time', async () => {
    await using place = await room();
    const pictures = await clip(place, 'pictures.mkv', { soundSeconds: 0 });
    const sound = await clip(place, 'sound.mka', { seconds: 0, soundSeconds: 4 });
    await ffmpeg('-itsoffset', '2', '-i', pictures, '-i', sound, '-c', 'copy', place.path('in.mkv'));
    const made = await prepareAndPlay(place, place.path('in.mkv'));
    expect(Math.abs(made.seconds - 4)).toBeLessThan(0.05);
    expect(Math.min(...made.bright)).toBeGreaterThan(228);
    expect(made.silent).toEqual([]);
    expect(made.warnings).toEqual([
      { code: 'picture_held', message: expect.stringContaining('2.0 s at the beginning') },
    ]);
  });

  test('for years: refused', async () => {
    await using place = await room();
    const bsf = ['-bsf:a', 'setts=ts=if(gt(N\\,20)\\,TS+100000000\\,TS)'];
    const file = await clip(place, 'in.mkv', { seconds: 1, soundSeconds: 1, output: bsf });
    await expect(importWhole(file)).rejects.toMatchObject({ code: 'media_too_long' });
  });
});

describe('a track that is declared and empty is taken for absent', () => {
  test('of sound', async () => {
    await using place = await room();
    const made = await prepareAndPlay(place, await clip(place, 'in.mkv', { output: ['-bsf:a', 'noise=drop=1'] }));
    expect(made.seconds).toBeCloseTo(2, 1);
    expect(made.silent).toEqual([expect.closeTo(0, 1)]);
    expect(made.codes).toEqual(['track_empty']);
  });

  test('in a transport stream, where only packets say how many channels there are', async () => {
    await using place = await room();
    const file = await clip(place, 'in.ts', { output: ['-bsf:a', 'noise=drop=1'] });
    const { warnings } = await importWhole(file);
    expect(warnings).toEqual([{ code: 'track_empty', message: expect.stringContaining('The audio track is empty.') }]);
    await expect(importWhole(file, { type: 'audio' })).rejects.toMatchObject({
      code: 'media_unreadable',
      message: expect.stringMatching(/Its audio track \(\w+\) is empty, or damaged/),
    });
  });

  test('of pictures: the file is sound, and says so', async () => {
    await using place = await room();
    const file = await clip(place, 'in.mkv', { output: ['-bsf:v', 'noise=drop=1'] });
    await expect(importWhole(file)).rejects.toMatchObject({
      code: 'media_has_no_video',
      message: expect.stringContaining('only audio'),
    });
    const { media } = await importWhole(file, { type: 'audio' });
    expect(media.durationSeconds).toBeCloseTo(2, 1);
  });

  test('the next track of its kind is played in its place', async () => {
    await using place = await room();
    const sound = await clip(place, 'sound.mka', { seconds: 0, soundSeconds: 2 });
    const file = place.path('in.mkv');
    const inputs = ['-i', await clip(place, 'plain.mkv'), '-i', sound];
    await ffmpeg(...inputs, '-map', '0', '-map', '1', '-c', 'copy', '-bsf:a:0', 'noise=drop=1', file);
    const made = await prepareAndPlay(place, file);
    expect(made.silent).toEqual([]);
    expect(made.codes).toEqual(['track_empty']);
  });
});

describe('the sound changes in the middle: it plays from beginning to end', () => {
  const tone = (place: Place, name: string, hertz: number, output: string[]) =>
    makeMedia(place.path(name), '-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=3`, ...output);
  const MP3 = ['-c:a', 'libmp3lame', '-write_xing', '0', '-id3v2_version', '0'];
  const changes: [string, string, string[], string[]][] = [
    ['rate and channels of MP3', 'mp3', ['-ar', '44100', '-ac', '2', ...MP3], ['-ar', '22050', '-ac', '1', ...MP3]],
    ['the rate of AAC', 'aac', ['-ar', '44100'], ['-ar', '48000', '-ac', '2']],
    ['the channels of AC-3', 'ac3', ['-ac', '2'], ['-ac', '6']],
    [
      'the rate of a chained Vorbis',
      'ogg',
      ['-ac', '2', '-c:a', 'libvorbis'],
      ['-ar', '44100', '-ac', '1', '-c:a', 'libvorbis'],
    ],
    ['nothing but the link of a chained Opus', 'opus', ['-c:a', 'libopus'], ['-c:a', 'libopus', '-ac', '2']],
  ];
  test.each(changes)('%s', async (_what, ending, first, second) => {
    await using place = await room();
    const parts = [await tone(place, `1.${ending}`, 440, first), await tone(place, `2.${ending}`, 880, second)];
    const { media, seconds, silent } = await preparedSound(place, await joined(place, `in.${ending}`, ...parts));
    expect(Math.abs(media.durationSeconds - 6)).toBeLessThan(0.1);
    expect(Math.abs(seconds - media.durationSeconds)).toBeLessThan(0.03);
    expect(silent).toEqual([]);
  });

  test('the channels of AC-3 beside pictures in a transport stream', async () => {
    await using place = await room();
    const part = (name: string, channels: string, at: string) =>
      clip(place, name, { output: ['-c:a', 'ac3', '-ac', channels, '-muxdelay', '0', '-output_ts_offset', at] });
    const file = await joined(place, 'in.ts', await part('1.ts', '2', '0'), await part('2.ts', '6', '2'));
    const { seconds, silent } = await prepareAndPlay(place, file);
    expect(Math.abs(seconds - 4)).toBeLessThan(0.1);
    expect(silent).toEqual([]);
  });
});

test('silence in place of sound that is missing is said', async () => {
  await using place = await room();
  const made = await prepareAndPlay(place, await clip(place, 'in.mp4', { seconds: 3, soundSeconds: 1 }));
  expect(made.seconds).toBeCloseTo(3, 1);
  expect(made.warnings).toEqual([{ code: 'silence_added', message: expect.stringContaining('2.0 s') }]);
});

test.each(['mp4', 'flv'])(
  'the part of two files that a reader of %s cannot see is reported as left out',
  async (ending) => {
    await using place = await room();
    const one = await clip(place, `one.${ending}`, { soundSeconds: 0, output: ['-vf', 'noise=alls=60:allf=t'] });
    const { media, warnings } = await importWhole(await joined(place, `in.${ending}`, one, one));
    expect(media.durationSeconds).toBeCloseTo(2, 1);
    expect(warnings).toEqual([{ code: 'file_shortened', message: expect.stringMatching(/4\d %/) }]);
  },
);

/** Tests that a source is as long as the frames that come out of its decoder, whatever its container says. */
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importMedia, importWhole } from '../../../../../kit/make/imports.ts';
import { ffmpeg, ffprobe, media, room } from '../../../../../kit/make/prepare.ts';
import { rendition } from '../../../../../kit/make/rendition.ts';

type Place = Awaited<ReturnType<typeof room>>;

const FPS = 25;
const H264 = [
  '-c:v',
  'libx264',
  '-pix_fmt',
  'yuv420p',
  '-bf',
  '2',
  '-b_strategy',
  '0',
  '-g',
  '10',
  '-sc_threshold',
  '0',
];
const PICTURES = `testsrc2=s=160x90:r=${FPS}:d=2`;
const TONE = 'sine=440:r=48000:d=2';

const film = (place: Place, output = [...H264, '-c:a', 'aac']) =>
  media(place.path(`film${output.includes('mp2') ? '.vob' : '.mp4'}`), { video: PICTURES, audio: TONE, output });

/** Copies the packets of a film into `name`, with these options. */
async function copied(place: Place, name: string, ...options: string[]): Promise<string> {
  await ffmpeg('-i', await film(place), '-c', 'copy', ...options, place.path(name));
  return place.path(name);
}

/** Returns the seconds of the pictures that a decoder shows, each of them for the time of a frame. */
async function decodedSeconds(path: string): Promise<number> {
  const { frames } = await ffprobe(path, '-v', 'quiet', '-select_streams', 'v:0', '-show_entries', 'frame=pict_type');
  return frames.length / FPS;
}

/** Changes bytes of a file in place. */
async function patch(path: string, change: (bytes: Buffer) => void): Promise<string> {
  const bytes = await readFile(path);
  change(bytes);
  await writeFile(path, bytes);
  return path;
}

const cut = async (path: string, share: number): Promise<string> => {
  await truncate(path, Math.floor(share * (await readFile(path)).length));
  return path;
};

/** Multiplies the durations of an MP4's movie and tracks by ten. */
const stretchMp4 = (bytes: Buffer) => {
  for (const [box, offset] of [
    ['mvhd', 20],
    ['tkhd', 24],
    ['mdhd', 20],
  ] as const)
    for (let at = bytes.indexOf(box); at >= 0; at = bytes.indexOf(box, at + 4))
      bytes.writeUInt32BE(10 * bytes.readUInt32BE(at + offset), at + offset);
};

/** Multiplies the duration of a Matroska file by ten. Its tracks then say nothing of theirs. */
const stretchMatroska = (bytes: Buffer) => {
  const at = bytes.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3;
  bytes.writeDoubleBE(10 * bytes.readDoubleBE(at), at);
  for (let tag = bytes.indexOf('DURATION'); tag >= 0; tag = bytes.indexOf('DURATION')) bytes.write('OTHER_ID', tag);
};

const stretchFlv = (bytes: Buffer) => {
  const at = bytes.indexOf('duration') + 'duration'.length + 1;
  bytes.writeDoubleBE(10 * bytes.readDoubleBE(at), at);
};

describe('pictures that a decoder drops do not count', () => {
  test.each(['in.ts', 'in.mkv', 'in.mp4', 'in.flv'])('the ones before the first keyframe, in %s', async (name) => {
    await using place = await room();
    const file = await copied(place, name, '-an', '-bsf:v', 'noise=drop=lt(n\\,5)');
    expect(await decodedSeconds(file)).toBe(1.6);
    expect((await importMedia(file)).durationSeconds).toBeCloseTo(1.6, 2);
  });

  test('in a rendition either', async () => {
    await using place = await room();
    const file = await copied(place, 'in.ts', '-an', '-bsf:v', 'noise=drop=lt(n\\,5)');
    expect((await rendition(place, file)).videoTimes).toHaveLength(48);
  });

  test('the first one that is shown is held for the sound before it', async () => {
    await using place = await room();
    const { media, warnings } = await importWhole(await copied(place, 'in.mkv', '-bsf:v', 'noise=drop=lt(n\\,11)'));
    expect(media.durationSeconds).toBeCloseTo(2, 1);
    expect(warnings).toEqual([{ code: 'picture_held', message: expect.stringContaining('0.8 s at the beginning') }]);
  });

  test('those that a decoder shows without a keyframe do', async () => {
    await using place = await room();
    const output = ['-c:v', 'mpeg4', '-g', '10', '-bsf:v', 'noise=drop=lt(n\\,5)'];
    const file = await media(place.path('in.mkv'), { video: PICTURES, output });
    expect(await decodedSeconds(file)).toBe(1.8);
    expect((await importMedia(file)).durationSeconds).toBeCloseTo(1.8, 2);
  });
});

describe('the duration in a header does not count', () => {
  const cases: [string, string, string[], (bytes: Buffer) => void][] = [
    ['missing', 'in.mkv', ['-f', 'matroska', '-live', '1'], () => undefined],
    ['missing', 'in.mp4', ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'], () => undefined],
    ['ten times too long', 'in.mp4', [], stretchMp4],
    ['ten times too long', 'in.mkv', [], stretchMatroska],
    ['ten times too long', 'in.flv', [], stretchFlv],
  ];
  test.each(cases)('%s, in %s', async (_what, name, options, change) => {
    await using place = await room();
    const file = await patch(await copied(place, name, ...options), change);
    expect((await importMedia(file)).durationSeconds).toBeCloseTo(2, 1);
  });
});

describe('the last frame is shown for its own time', () => {
  test.each(['in.mp4', 'in.mkv'])('a packet of sound lasts as long as its codec lets it, in %s', async (name) => {
    await using place = await room();
    const rate = extname(name) === '.mp4' ? 48_000 : 1000;
    const { packets } = await ffprobe(await film(place), '-select_streams', 'a', '-show_entries', 'packet=pts');
    const last = `if(eq(N\\,${packets.length - 1})\\,${60 * rate}\\,DURATION)`;
    const { media, warnings } = await importWhole(await copied(place, name, '-bsf:a', `setts=duration=${last}`));
    expect(media.durationSeconds).toBeCloseTo(2, 1);
    expect(warnings).toEqual([]);
  });

  test('the last picture stays for as long as it says', async () => {
    await using place = await room();
    const pictures = await media(place.path('pictures.mp4'), { video: PICTURES, output: [...H264, '-bf', '0'] });
    const last = 'setts=duration=if(eq(N\\,49)\\,3/TB\\,DURATION)';
    await ffmpeg('-i', pictures, '-c', 'copy', '-bsf:v', last, place.path('in.mp4'));
    expect((await importMedia(place.path('in.mp4'))).durationSeconds).toBeCloseTo(49 / FPS + 3, 2);
  });

  test('a picture without a time of its own has its place', async () => {
    await using place = await room();
    const file = await film(place, ['-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'mp2']);
    expect(await decodedSeconds(file)).toBe(2);
    expect((await importMedia(file)).durationSeconds).toBeCloseTo(2, 2);
  });
});

describe('a file that ends early', () => {
  const cases: [string, string[]][] = [
    ['in.ts', []],
    ['in.flv', []],
    ['streamed.mkv', ['-live', '1']],
    ['fragmented.mp4', ['-movflags', 'frag_keyframe+empty_moov+default_base_moof']],
  ];
  test.each(cases)('plays as far as it goes where it describes no more: %s', async (name, options) => {
    await using place = await room();
    const file = await cut(await copied(place, name, ...options), 0.7);
    const decoded = await decodedSeconds(file);
    expect(decoded).toBeLessThan(1.7);
    expect(Math.abs((await importMedia(file)).durationSeconds - decoded)).toBeLessThanOrEqual(0.15);
  });

  test.each([
    ['in.mp4', ['-movflags', 'faststart']],
    ['in.mkv', []],
  ])('is refused where it describes more: %s', async (name, options) => {
    await using place = await room();
    const file = await cut(await copied(place, name, ...options), 0.5);
    await expect(importMedia(file)).rejects.toMatchObject({
      code: 'media_unreadable',
      message: expect.stringMatching(/ends after \d\.\d s of 2\.\d s/),
    });
  });

  test('is refused where its edit list shows nothing of it', async () => {
    await using place = await room();
    const hide = (bytes: Buffer) => {
      for (let at = bytes.indexOf('elst'); at >= 0; at = bytes.indexOf('elst', at + 4)) bytes.writeUInt32BE(0, at + 12);
    };
    await expect(importMedia(await patch(await copied(place, 'in.mp4'), hide))).rejects.toMatchObject({
      code: 'media_unreadable',
      message: expect.stringContaining('edit list'),
    });
  });
});

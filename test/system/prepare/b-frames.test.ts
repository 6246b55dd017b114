/** Proves that sources with B-frames are copied, or encoded where a copy would break a promise of the rendition. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ffmpeg, media, room } from '../../kit/make/prepare.ts';
import { rendition, TONE } from '../../kit/make/rendition.ts';

const SECONDS = 3;
const moving = `testsrc2=s=320x180:r=30:d=${SECONDS},scale=1280:720:flags=neighbor`;
const tone = `${TONE.replace(/d=\d+/, `d=${SECONDS}`)}`;
/** An export of x264 as editors make it: keyframes every two seconds and where the scene changes. */
const x264 = (...more: string[]) => [
  ...[
    '-c:v',
    'libx264',
    '-preset',
    'medium',
    '-pix_fmt',
    'yuv420p',
    '-g',
    '60',
    '-b:v',
    '1M',
    '-ac',
    '2',
    '-threads',
    '1',
  ],
  ...more,
];

/** One hash of all decoded pictures, in the order in which they are shown. */
async function decoded(file: string): Promise<string> {
  const { stdout } = await ffmpeg(
    '-i',
    file,
    '-map',
    '0:v',
    '-fps_mode',
    'passthrough',
    '-enc_time_base',
    '-1',
    '-f',
    'framemd5',
    '-',
  );
  const pictures = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  const hashes = pictures.map((line) => line.split(',').at(-1)).join();
  return `${pictures.length} pictures, ${createHash('sha256').update(hashes).digest('hex')}`;
}

async function make(name: string, output: string[], change?: (path: string) => Promise<string>, profile = '720p30') {
  const place = await room();
  const made = await media(place.path(name), { video: moving, audio: tone, output });
  const source = change ? await change(made) : made;
  const result = { ...(await rendition(place, source, 'video', profile)), source };
  return { ...result, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

describe('is copied, picture by picture,', () => {
  test.each([
    ['the default, in MP4', 'in.mp4', x264()],
    ['the default, in Matroska', 'in.mkv', x264()],
    ['the default, in FLV', 'in.flv', x264()],
    ['the default, in a transport stream', 'in.ts', x264()],
    ['film', 'in.mp4', x264('-tune', 'film')],
    [
      'three B-frames without a pyramid',
      'in.mp4',
      x264('-bf', '3', '-b_strategy', '0', '-x264-params', 'b-pyramid=none'),
    ],
    ['a pyramid of many B-frames', 'in.mp4', x264('-bf', '8', '-b_strategy', '0', '-x264-params', 'b-pyramid=normal')],
    ['a strict pyramid', 'in.mp4', x264('-bf', '3', '-x264-params', 'b-pyramid=strict')],
    [
      'a hardware-like stream without B-frames (POC type 2)',
      'in.mp4',
      x264('-bf', '0', '-x264-params', 'no-scenecut=1'),
    ],
    ['keyframes wherever the scene changes', 'in.mp4', x264('-x264-params', 'scenecut=100:min-keyint=3')],
    ['Baseline', 'in.mp4', x264('-profile:v', 'baseline')],
  ])('%s', async (_what, name, output) => {
    await using made = await make(name, output);
    expect(await decoded(made.file)).toEqual(await decoded(made.source));
    expect(made.videoTimes).toHaveLength(30 * SECONDS);
  });

  test.each([
    ['NTSC film', '720p24', 'in.mp4', ['-r', '24000/1001']],
    ['NTSC without B-frames', '720p30', 'in.mp4', ['-r', '30000/1001', '-bf', '0']],
    ['NTSC', '720p30', 'in.ts', ['-r', '30000/1001']],
    ['NTSC of high rate', '720p60', 'in.mkv', ['-r', '60000/1001', '-fps_mode', 'cfr']],
  ])('%s, as %s', async (_what, profile, name, output) => {
    await using made = await make(name, x264(...output), undefined, profile);
    expect(await decoded(made.file)).toEqual(await decoded(made.source));
    expect(made.index.video).toMatchObject({ frameRateDen: 1001 });
  });

  test('a film cut in decoding order, without its last B-frames', async () => {
    await using made = await make('in.mp4', x264('-bf', '3', '-b_strategy', '0'), async (whole) => {
      const cut = whole.replace('in.mp4', 'cut.mp4');
      await ffmpeg('-i', whole, '-t', '2.05', '-c', 'copy', cut);
      return cut;
    });
    expect(await decoded(made.file)).toEqual(await decoded(made.source));
  });

  test('a film whose first decoding time is negative', async () => {
    await using made = await make('in.mp4', x264(), async (whole) => {
      const shifted = whole.replace('in.mp4', 'negative.mp4');
      await ffmpeg('-i', whole, '-c', 'copy', '-movflags', 'negative_cts_offsets', shifted);
      return shifted;
    });
    expect(await decoded(made.file)).toEqual(await decoded(made.source));
  });

  test('pictures whose sound is of another codec', async () => {
    await using made = await make('in.mp4', x264('-c:a', 'libmp3lame'));
    expect(await decoded(made.file)).toEqual(await decoded(made.source));
  });
});

describe('is encoded, and shows the same moments:', () => {
  test.each(['in.mkv', 'in.mp4'])('a film of another frame rate (%s)', async (name) => {
    await using made = await make(name, x264('-g', '300', '-r', '25', '-frames:v', '75'));
    expect(Math.abs(made.videoTimes.length - 30 * SECONDS)).toBeLessThanOrEqual(1);
  });

  test('open GOPs', async () => {
    await using made = await make('in.mp4', x264('-x264-params', 'open-gop=1:keyint=30:scenecut=0'));
    expect(made.keyframes).toEqual([0, 60]);
    expect(made.videoTimes).toHaveLength(30 * SECONDS);
  });

  test('a film cut inside a GOP, whose edit list hides the beginning', async () => {
    await using made = await make('in.mp4', x264(), async (whole) => {
      const cut = whole.replace('in.mp4', 'cut.mp4');
      await ffmpeg('-ss', '1', '-i', whole, '-c', 'copy', cut);
      return cut;
    });
    expect(made.videoTimes).toHaveLength(30 * (SECONDS - 1));
    expect(made.keyframes).toEqual([0]);
  });

  test('a Matroska file in which a picture is missing', async () => {
    await using made = await make('in.mkv', x264('-bf', '2', '-b_strategy', '0'), async (whole) => {
      const holed = whole.replace('in.mkv', 'holed.mkv');
      await ffmpeg('-i', whole, '-c', 'copy', '-bsf:v', 'noise=drop=eq(n\\,45)', holed);
      return holed;
    });
    expect(made.videoTimes).toHaveLength(30 * SECONDS);
  });
});

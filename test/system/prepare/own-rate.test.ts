/** Proves that pictures whose clock is a little off are copied, each in its turn, and that nothing else is. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ffmpeg, media, room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';

const SECONDS = 6;
const moving = `testsrc2=s=320x180:r=30:d=${SECONDS},scale=1280:720:flags=neighbor`;
const tone = `sine=440:r=48000:d=${SECONDS}`;
const EXPORT = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '60', '-b:v', '1M', '-ac', '2', '-threads', '1'];

/** Hashes of all decoded pictures, in the order in which they are shown. */
async function hashPictures(file: string): Promise<string[]> {
  const passed = ['-fps_mode', 'passthrough', '-enc_time_base', '-1', '-f', 'framemd5', '-'];
  const { stdout } = await ffmpeg('-i', file, '-map', '0:v', ...passed);
  const pictures = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  return pictures.map((line) =>
    createHash('sha256')
      .update(line.split(',').at(-1) ?? '')
      .digest('hex'),
  );
}

/** Makes an export whose pictures have other times: `shown` and `decoded` are expressions of ffmpeg's setts, in ticks. */
async function make(
  name: string,
  [shown, decoded]: readonly [string, string],
  { output = [], ownRates = true }: { output?: string[]; ownRates?: boolean } = {},
) {
  const place = await room();
  const even = await media(place.path(`even-${name}`), { video: moving, audio: tone, output: [...EXPORT, ...output] });
  const source = place.path(name);
  await ffmpeg('-i', even, '-c', 'copy', '-bsf:v', `setts=pts='${shown}':dts='${decoded}'`, source);
  const result = { ...(await rendition(place, source, 'video', '720p30', { ownRates })), source };
  return { ...result, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

/** Ten milliseconds more at each second: an export that was joined from parts whose sound is longer. */
const JOINED = ['PTS+0.01/TB*floor(PTS*TB)', 'DTS+0.01/TB*floor(DTS*TB)'] as const;
const DRIFTING = ['PTS*30/29.85', 'DTS*30/29.85'] as const;
const JITTERING = ['PTS*30/29.85+0.003/TB*(1+sin(PTS*TB*50))', 'DTS*30/29.85'] as const;

describe('is copied, picture by picture, at the file’s own rate:', () => {
  test.each([
    ['parts joined with jumps, in MP4', 'in.mp4', JOINED, ['-bf', '0']],
    ['parts joined with jumps and B-frames, in Matroska', 'in.mkv', JOINED, ['-bf', '3', '-b_strategy', '0']],
    ['parts joined with jumps, in a transport stream', 'in.ts', JOINED, []],
    ['a phone’s rate and jitter, in MP4', 'in.mp4', JITTERING, ['-bf', '0']],
    ['a phone’s rate and jitter with B-frames, in Matroska', 'in.mkv', JITTERING, ['-bf', '3', '-b_strategy', '0']],
    ['29.85 frames a second, in FLV', 'in.flv', DRIFTING, ['-bf', '0']],
  ] as const)('%s', async (_what, name, times, output) => {
    await using made = await make(name, times, { output: [...output] });
    expect(await hashPictures(made.file)).toEqual(await hashPictures(made.source));
    const { frameRateNum = 0, frameRateDen = 1 } = made.index.video ?? {};
    expect(frameRateNum / frameRateDen).toBeGreaterThan(29.5);
    expect(frameRateNum / frameRateDen).toBeLessThan(29.99);
    expect(made.index.version).toBe(4);
  });

  test('but at the profile’s rate where that is near enough, which every streamer plays', async () => {
    const jitter = ['PTS+0.003/TB*(1+sin(PTS*TB*50))', 'DTS'] as const;
    await using made = await make('in.mkv', jitter, { output: ['-bf', '0'], ownRates: false });
    expect(await hashPictures(made.file)).toEqual(await hashPictures(made.source));
    expect(made.index).toMatchObject({ version: 3, video: { frameRateNum: 30, frameRateDen: 1 } });
  });
});

describe('is encoded at the profile’s rate:', () => {
  test('an own rate that a streamer of another release could not play', async () => {
    await using made = await make('in.mp4', DRIFTING, { output: ['-bf', '0'], ownRates: false });
    expect(made.index).toMatchObject({ version: 3, video: { frameRateNum: 30, frameRateDen: 1 } });
  });

  test.each([
    ['pictures that are missing', ['PTS+2/30/TB*gte(PTS*TB,3)', 'DTS+2/30/TB*gte(DTS*TB,3)']],
    ['a rate between two profiles', ['PTS*30/27.5', 'DTS*30/27.5']],
    ['a clock that strays by more than a frame', ['PTS+0.06/TB*sin(PTS*TB)', 'DTS+0.06/TB*sin(DTS*TB)']],
  ] as const)('%s', async (_what, times) => {
    await using made = await make('in.mkv', times, { output: ['-bf', '0'] });
    expect(made.index).toMatchObject({ version: 3, video: { frameRateNum: 30, frameRateDen: 1 } });
    expect(await hashPictures(made.file)).not.toEqual(await hashPictures(made.source));
  });
});
